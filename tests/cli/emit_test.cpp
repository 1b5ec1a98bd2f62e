// `kvplan plan --emit`: what is written is read back by `kvplan check --file` as the same plan.
#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"

using kvplan::test::run_kvplan;
using kvplan::test::temporary_file;
using Json = nlohmann::json;

namespace {

using Words = std::vector<std::string>;

Words joined(Words a, const Words& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

struct Case {
    std::string name;
    Words launch;    // what the engine is told
    Words place;     // hardware and host, which no launch tells
};

const std::vector<Case>& cases() {
    static const Words big = {"--gpu", "h200", "--host-ram", "2TB"};
    static const std::vector<Case> all = {
        {"hicache", {"--model", "kimi-k2.5", "--tp", "8", "--mem-fraction-static", "0.9", "--enable-hierarchical-cache", "--hicache-size", "100"}, big},
        {"quotes", {"--model", "deepseek-v3", "--tp", "8", "--enable-hierarchical-cache", "--hicache-ratio", "1.5", "--hicache-storage-backend", "file", "--hicache-storage-backend-extra-config", "{\"a b\": \"it's $HOME $(x) `y`\"}"}, big},
        {"drafts", {"--model", "llama-3.1-70b", "--tp", "4", "--quantization", "fp8", "--speculative-algorithm", "STANDALONE", "--draft-model", "llama-3.2-1b", "--speculative-num-steps", "3", "--speculative-num-draft-tokens", "4"}, big},
        {"attention dp", {"--engine", "sglang@0.5.6", "--model", "deepseek-v3", "--tp", "8", "--dp", "8", "--enable-dp-attention", "--ep", "8", "--kv-cache-dtype", "fp8_e4m3"}, big},
        {"layers", {"--model", "qwen3-32b", "--pp", "2", "--tp", "2", "--pp-layer-partition", "30,34"}, big},
        {"vllm", {"--engine", "vllm@0.14.0", "--model", "qwen3-32b", "--tp", "2", "--gpu-memory-utilization", "0.92", "--kv-offloading-size", "100", "--max-model-len", "32768", "--disable-radix-cache"}, {"--gpu", "h100", "--host-ram", "1TB"}},
        {"vllm file", {"--engine", "vllm", "--model", "qwen3-32b", "--tp", "2", "--kv-offloading-size", "100", "--kv-cache-dtype", "fp8"}, {"--gpu", "h100", "--host-ram", "1TB"}},
        {"vllm lmcache", {"--engine", "vllm", "--model", "llama-3.1-70b", "--tp", "4", "--lmcache-max-local-cpu-size", "60"}, {"--gpu", "h200", "--host-ram", "1TB"}},
        {"vllm drafts", {"--engine", "vllm", "--model", "llama-3.1-70b", "--tp", "4", "--speculative-algorithm", "eagle3", "--draft-model", "llama-3.2-1b", "--num-speculative-tokens", "3", "--max-num-seqs", "64", "--block-size", "32"}, big},
    };
    return all;
}

Json json_of(const Words& words) {
    const auto ran = run_kvplan(joined({"--format", "json"}, words));
    INFO(ran.err);
    REQUIRE(ran.exit_code != 2);
    return Json::parse(ran.out);
}

void compare(const Json& planned, const Json& read, bool host_too) {
    for (const char* part : {"fits", "safe", "rule_set", "weights", "kv_cache", "gpu", "capacity", "hicache", "concurrency", "latency", "throughput"}) {
        INFO(part);
        CHECK(read.at(part) == planned.at(part));
    }
    if (host_too) CHECK(read.at("host") == planned.at("host"));
    CHECK(read.at("parsed").at("unknown").empty());
}

}  // namespace

TEST_CASE("A plan written as a script reads back as the same plan, whatever its flags", "[cli][emit]") {
    for (const Case& c : cases()) {
        INFO(c.name);
        const auto written = run_kvplan(joined(joined({"plan", "--emit", "shell"}, c.launch), c.place));
        REQUIRE(written.exit_code == 0);
        INFO(written.out);
        // The script does not say the version: that is the machine's.
        Words version;
        if (c.launch[0] == "--engine") version = {"--engine", c.launch[1]};
        const std::string file = temporary_file("emit.sh", written.out);
        compare(json_of(joined(joined({"plan"}, c.launch), c.place)), json_of(joined(joined({"check", "--file", file}, version), c.place)), true);
    }
}

TEST_CASE("A plan written as a Compose service or a Deployment reads back as the same plan, host limits included", "[cli][emit]") {
    for (const std::string form : {"compose", "kubernetes"})
        for (const Case& c : cases()) {
            INFO(form << " " << c.name);
            // Given limits are written; the same limits then hold when it is read.
            const Words limits = {"--cgroup-limit", "1900000000000B", "--shm-size", "200000000000B"};
            const Words place = joined(c.place, {"--startup-limit", "3000s"});
            const auto written = run_kvplan(joined(joined(joined({"plan", "--emit", form}, c.launch), place), limits));
            INFO(written.out << written.err);
            REQUIRE(written.exit_code == 0);
            const std::string file = temporary_file("emit.yaml", written.out);
            compare(json_of(joined(joined(joined({"plan"}, c.launch), place), limits)), json_of(joined({"check", "--file", file}, place)), true);
        }
}

TEST_CASE("Limits that a manifest chooses leave room for what the plan needs", "[cli][emit]") {
    for (const std::string form : {"compose", "kubernetes"})
        for (const Case& c : cases()) {
            INFO(form << " " << c.name);
            const auto written = run_kvplan(joined(joined({"plan", "--emit", form}, c.launch), c.place));
            INFO(written.out << written.err);
            REQUIRE(written.exit_code == 0);
            const std::string file = temporary_file("emit.yaml", written.out);
            const Json read = json_of(joined({"check", "--file", file}, c.place));
            compare(json_of(joined(joined({"plan"}, c.launch), c.place)), read, false);
            CHECK(read.at("safe") == true);
            for (const Json& finding : read.at("findings")) {
                INFO(finding.dump());
                CHECK(finding.at("code") != "shm_small");
                CHECK(finding.at("severity") != "error");
            }
        }
}

TEST_CASE("A manifest asks for the GPUs, the memory and the shared memory of the plan", "[cli][emit]") {
    const auto written = run_kvplan({"plan", "--model", "kimi-k2.5", "--gpu", "h200", "--tp", "8", "--enable-hierarchical-cache", "--hicache-size", "100", "--host-ram", "2TB", "--emit", "kubernetes"});
    REQUIRE(written.exit_code == 0);
    // Every dollar of an argument is doubled: Kubernetes would take $(x) for a variable of its own.
    CHECK(written.out.find("nvidia.com/gpu: \"8\"") != std::string::npos);
    // 32 GiB of shared memory; 8 x 100 GB pools + 8 x 10 GB processes at the high end + 10 GiB reserve = 890,737,418,240 B, and
    // 32 GiB of shared memory is charged to the container: 925,097,156,608 B = 861.56 GiB, in whole GiB 862.
    CHECK(written.out.find("sizeLimit: \"34359738368\"") != std::string::npos);
    CHECK(written.out.find("memory: \"" + std::to_string(862LL << 30) + "\"") != std::string::npos);
    CHECK(run_kvplan({"plan", "--model", "llama-3.1-70b", "--gpu", "mi300x", "--tp", "4", "--emit", "kubernetes"}).out.find("amd.com/gpu: \"4\"") != std::string::npos);
}

TEST_CASE("A Deployment is of one node; the script of several nodes asks for their rank and address", "[cli][emit]") {
    const Words two = {"plan", "--model", "deepseek-v3", "--gpu", "h100", "--tp", "16", "--nnodes", "2"};
    const auto refused = run_kvplan(joined(two, {"--emit", "kubernetes"}));
    CHECK(refused.exit_code == 2);
    CHECK(refused.err.find("spans 2") != std::string::npos);
    const auto script = run_kvplan(joined(two, {"--emit", "shell"}));
    CHECK(script.out.find("--nnodes 2") != std::string::npos);
    CHECK(script.out.find("--node-rank \"$NODE_RANK\"") != std::string::npos);
    CHECK(script.out.find("--dist-init-addr \"$FIRST_NODE:20000\"") != std::string::npos);
}

TEST_CASE("The launch command says the drafter, the nodes and the quantization while loading", "[cli][launch]") {
    const auto command = [](const Words& words) { return json_of(joined({"plan"}, words)).at("launch"); };
    CHECK(command({"--model", "llama-3.1-70b", "--gpu", "h200", "--tp", "4", "--quantization", "fp8"}).at("command") ==
          "python3 -m sglang.launch_server --model-path meta-llama/Llama-3.1-70B-Instruct --quantization fp8 --tp-size 4");
    CHECK(command({"--model", "llama-3.1-70b", "--gpu", "h200", "--tp", "4", "--speculative-algorithm", "STANDALONE", "--draft-model", "llama-3.2-1b"}).at("command") ==
          "python3 -m sglang.launch_server --model-path meta-llama/Llama-3.1-70B-Instruct --speculative-draft-model-path meta-llama/Llama-3.2-1B-Instruct --tp-size 4 --speculative-algorithm STANDALONE");
    CHECK(command({"--engine", "vllm", "--model", "llama-3.1-70b", "--gpu", "h200", "--tp", "4", "--speculative-algorithm", "eagle3", "--draft-model", "llama-3.2-1b", "--num-speculative-tokens", "3"}).at("command") ==
          "vllm serve meta-llama/Llama-3.1-70B-Instruct --speculative-config '{\"method\":\"eagle3\",\"model\":\"meta-llama/Llama-3.2-1B-Instruct\",\"num_speculative_tokens\":3}' --tensor-parallel-size 4");
    CHECK(command({"--model", "deepseek-v3", "--gpu", "h100", "--tp", "16", "--nnodes", "2"}).at("command") ==
          "python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --nnodes 2 --tp-size 16");
    // Another format than the published one is another checkpoint, no flag.
    const Json other = command({"--model", "llama-3.1-70b", "--gpu", "h200", "--tp", "4", "--quantization", "nvfp4"});
    CHECK(other.at("command").get<std::string>().find("--quantization") == std::string::npos);
    REQUIRE(other.at("notes").size() == 1);
    CHECK(other.at("notes")[0].get<std::string>().find("nvfp4") != std::string::npos);
}

TEST_CASE("Ways out are flags of the engine that is planned", "[cli][findings]") {
    const auto sglang = run_kvplan({"plan", "--model", "kimi-k2.5", "--gpu", "h100", "--tp", "8"});
    CHECK(sglang.out.find("--tp-size 16") != std::string::npos);
    const auto vllm = run_kvplan({"plan", "--engine", "vllm", "--model", "llama-3.1-70b", "--gpu", "h100", "--tp", "2"});
    CHECK(vllm.out.find("--tensor-parallel-size 4") != std::string::npos);
    for (const auto* ran : {&sglang, &vllm}) {
        CHECK(ran->exit_code == 1);
        CHECK(ran->out.find("tp_size=") == std::string::npos);
        CHECK(ran->out.find("kv_cache_dtype=") == std::string::npos);
    }
}
