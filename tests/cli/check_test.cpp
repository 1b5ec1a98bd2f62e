#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/configs.hpp"

using namespace kvplan;
using nlohmann::json;
using Strings = std::vector<std::string>;

namespace {

std::string kimi() { return test::temporary_file("kimi/config.json", test::kimi_k2_config()); }

test::Ran check(Strings options, const Strings& command) {
    options.insert(options.begin(), "check");
    options.emplace_back("--");
    options.insert(options.end(), command.begin(), command.end());
    return test::run_kvplan(options);
}

json parsed(const test::Ran& ran) {
    CAPTURE(ran.err);
    REQUIRE(ran.exit_code != 2);
    return json::parse(ran.out);
}

Strings founding(const std::string& size) {
    return {"python3", "-m", "sglang.launch_server", "--model-path", kimi(), "--tp", "8", "--mem-fraction-static", "0.93",
            "--enable-hierarchical-cache", "--hicache-size", size, "--trust-remote-code"};
}

const Strings kFoundingHost = {"--format", "json", "--gpu", "rtx-pro-6000-blackwell", "--host-ram", "449GB", "--host-available", "408GB"};

}  // namespace

TEST_CASE("The founding command is unsafe, and its corrected form is safe", "[check][founding]") {
    const test::Ran ran = check(kFoundingHost, founding("300"));
    REQUIRE(ran.exit_code == 1);
    const json plan = parsed(ran);
    CHECK(plan["fits"] == true);
    CHECK(plan["safe"] == false);
    CHECK(plan["hicache"]["bytes_per_node"].get<double>() == Approx(2.4e12).epsilon(0.001));
    CHECK(plan["host"]["safe_max"]["hicache_size_gb"] == 39);
    CHECK(plan["parsed"]["engine"] == "sglang");
    CHECK(plan["parsed"]["flags"]["--hicache-size"] == "300");
    CHECK(plan["parsed"]["flags"]["--enable-hierarchical-cache"] == true);
    CHECK(plan["parsed"]["unknown"].empty());
    REQUIRE(plan["launch"]["changed"].size() == 1);
    CHECK(plan["launch"]["changed"][0]["flag"] == "--hicache-size");
    CHECK(plan["launch"]["changed"][0]["from"] == "300");
    CHECK(plan["launch"]["changed"][0]["to"] == "39");
    CHECK(plan["launch"]["command"].get<std::string>().find("--hicache-size 39 --trust-remote-code") != std::string::npos);
    // the corrected command checks out, and nothing more is changed
    const test::Ran again = check(kFoundingHost, founding("39"));
    CHECK(again.exit_code == 0);
    CHECK(parsed(again)["launch"]["changed"].empty());
}

TEST_CASE("A sound command gets exit 0 and no warning", "[check]") {
    const test::Ran ran = check(kFoundingHost, founding("30"));
    CHECK(ran.exit_code == 0);
    CHECK(ran.err.empty());
    for (const json& finding : parsed(ran)["findings"]) CHECK(finding["severity"] == "note");
}

TEST_CASE("The verdict of the founding command in text names the figures", "[check][founding]") {
    Strings options = kFoundingHost;
    options[1] = "text";
    const test::Ran ran = check(options, founding("300"));
    CHECK(ran.exit_code == 1);
    CHECK(ran.out.find("NOT SAFE FOR THE HOST") != std::string::npos);
    CHECK(ran.out.find("2.40 TB") != std::string::npos);
    CHECK(ran.out.find("--hicache-size 300 -> 39") != std::string::npos);
}

TEST_CASE("Without hardware a command cannot be judged", "[check]") {
    const test::Ran ran = check({}, founding("300"));
    CHECK(ran.exit_code == 2);
    CHECK(ran.out.empty());
    CHECK(ran.err.find("check.no-hardware") != std::string::npos);
}

TEST_CASE("Nothing is known of the host: exit 0 with a warning", "[check]") {
    const test::Ran ran = check({"--format", "json", "--gpu", "rtx-pro-6000-blackwell"}, founding("300"));
    CHECK(ran.exit_code == 0);
    const json plan = parsed(ran);
    CHECK(plan["safe"].is_null());
    bool warned = false;
    for (const json& finding : plan["findings"]) warned |= finding["code"] == "host_memory_unknown";
    CHECK(warned);
}

TEST_CASE("A start that an old version refuses is exit 1 although all fits", "[check]") {
    // before 2026-06-26 a host pool must hold more tokens than the device pool: 10 GB hold 142,304, the device about 240,000
    Strings dated = kFoundingHost;
    dated.insert(dated.end(), {"--engine", "sglang@2026-06-01"});
    const test::Ran ran = check(dated, founding("10"));
    CHECK(ran.exit_code == 1);
    const json plan = parsed(ran);
    CHECK(plan["fits"] == true);
    CHECK(plan["safe"] == true);
    // the smallest size that it takes
    REQUIRE(plan["launch"]["changed"].size() == 1);
    CHECK(plan["launch"]["changed"][0]["to"] == std::to_string(plan["host"]["min_useful"]["hicache_size_gb"].get<int>()));
}

TEST_CASE("Misspelt flags are kept, reported, and given their nearest name", "[check]") {
    Strings command = founding("30");
    command.insert(command.end(), {"--hicache-write-polcy", "write_back", "--odd-flag", "1"});
    const test::Ran ran = check(kFoundingHost, command);
    CHECK(ran.exit_code == 0);
    CHECK(ran.err.find("--hicache-write-policy") != std::string::npos);
    const json plan = parsed(ran);
    REQUIRE(plan["parsed"]["unknown"].size() == 2);
    CHECK(plan["parsed"]["unknown"][0]["nearest"][0] == "--hicache-write-policy");
    CHECK(plan["launch"]["command"].get<std::string>().find("--odd-flag 1") != std::string::npos);
}

TEST_CASE("Flags of another version say so", "[check]") {
    Strings command = founding("30");
    command.emplace_back("--disable-hicache-numa-detect");
    CHECK(check(kFoundingHost, command).err.find("launch.flag-version") != std::string::npos);
    Strings dated = kFoundingHost;
    dated.insert(dated.end(), {"--engine", "sglang@2026-02-01"});
    CHECK(check(dated, command).err.find("launch.flag-version") == std::string::npos);
}

TEST_CASE("The version of an image selects its rules, and an old version's own check does not help", "[check]") {
    Strings command = {"docker", "run", "--gpus", "all", "--ipc=host", "lmsysorg/sglang:v0.5.6-cu129"};
    const Strings inner = founding("300");
    command.insert(command.end(), inner.begin(), inner.end());
    const json plan = parsed(check(kFoundingHost, command));
    CHECK(plan["rule_set"].get<std::string>().find("0.5.6") != std::string::npos);
    bool blind = false;
    for (const json& finding : plan["findings"]) blind |= finding["code"] == "engine_check_blind";
    CHECK(blind);
    CHECK(plan["launch"]["command"].get<std::string>().find("docker run --gpus all --ipc=host lmsysorg/sglang:v0.5.6-cu129 python3") == 0);
}

TEST_CASE("A container's limit counts, in the container's unit", "[check][manifest]") {
    const auto pod = [](const std::string& memory) {
        return test::temporary_file("pod-" + memory + ".yaml",
                                    "kind: Pod\nspec:\n  nodeSelector: {nvidia.com/gpu.product: NVIDIA-H200}\n  containers:\n  - name: s\n"
                                    "    image: lmsysorg/sglang:latest\n    command: [python3, -m, sglang.launch_server]\n    args: [--model-path, " + kimi() +
                                    ", --tp, \"8\", --enable-hierarchical-cache, --hicache-size=16]\n    resources: {limits: {memory: " + memory + ", nvidia.com/gpu: 8}}\n");
    };
    // 8 x 16 + 80 + 10.74 = 218.7 GB: 256Gi = 274.9 GB is enough, 200G is not, and 200Gi = 214.7 GB is not either
    CHECK(test::run_kvplan({"check", "--format", "json", "--file", pod("256Gi")}).exit_code == 0);
    CHECK(test::run_kvplan({"check", "--format", "json", "--file", pod("200G")}).exit_code == 1);
    CHECK(test::run_kvplan({"check", "--format", "json", "--file", pod("200Gi")}).exit_code == 1);
    CHECK(test::run_kvplan({"check", "--format", "json", "--file", pod("220G")}).exit_code == 0);
}

TEST_CASE("Wrong input of check is exit 2 with a reason", "[check]") {
    CHECK(test::run_kvplan({"check", "--gpu", "h200"}).exit_code == 2);
    CHECK(check({"--gpu", "h200"}, {"ls", "-l"}).exit_code == 2);
    CHECK(check({"--gpu", "h200"}, {"ls", "-l"}).err.find("launch.none") != std::string::npos);
    CHECK(test::run_kvplan({"check", "--gpu", "h200", "--file", "/no/such/file.sh"}).exit_code == 2);
    CHECK(check({"--gpu", "h200"}, {"sglang", "serve", kimi(), "--tp", "eight"}).exit_code == 2);
}

TEST_CASE("Two servers in a script: the first is planned, the other named", "[check]") {
    const std::string script = test::temporary_file("two.sh", "sglang serve " + kimi() + " --tp 8 &\nsglang serve " + kimi() + " --tp 4\n");
    const test::Ran first = test::run_kvplan({"check", "--format", "json", "--gpu", "h200", "--file", script});
    CHECK(first.err.find("check.several") != std::string::npos);
    CHECK(parsed(first)["parsed"]["flags"]["--tp"] == "8");
    const test::Ran second = test::run_kvplan({"check", "--format", "json", "--gpu", "h200", "--launch", "2", "--file", script});
    CHECK(parsed(second)["parsed"]["flags"]["--tp"] == "4");
    CHECK(test::run_kvplan({"check", "--gpu", "h200", "--launch", "3", "--file", script}).exit_code == 2);
}

TEST_CASE("LMCache's variable is lowered in the corrected command", "[check]") {
    // 768 GB: 691.2 available; (691.2 - 10.74 - 4 x 10) / 4 = 160.1 GB a rank = 149 GiB, which the variable counts in
    const test::Ran ran = check({"--format", "json", "--gpu", "h200", "--host-ram", "768GB"},
                                {"LMCACHE_MAX_LOCAL_CPU_SIZE=200", "LMCACHE_LOCAL_CPU=True", "vllm", "serve", "Qwen/Qwen2.5-72B-Instruct", "-tp", "4",
                                 "--kv-transfer-config", R"({"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"})"});
    CHECK(ran.exit_code == 1);
    const json plan = parsed(ran);
    CHECK(plan["host"]["safe_max"]["lmcache_size_gb"] == 149);
    CHECK(plan["host"]["safe_max"]["hicache_size_gb"].is_null());
    CHECK(plan["host"]["safe_max"]["hicache_ratio"].is_null());
    CHECK(plan["launch"]["command"].get<std::string>().find("LMCACHE_MAX_LOCAL_CPU_SIZE=149 ") == 0);
    CHECK(plan["launch"]["changed"][0]["flag"] == "LMCACHE_MAX_LOCAL_CPU_SIZE");
}

TEST_CASE("A misspelt flag is a finding, and the corrected command has the right one", "[check]") {
    Strings command = founding("30");
    command[7] = "--mem-fracton-static";
    const json plan = parsed(check(kFoundingHost, command));
    bool told = false;
    for (const json& finding : plan["findings"]) told |= finding["code"] == "unknown_flag" && finding["severity"] == "warning";
    CHECK(told);
    CHECK(plan["launch"]["command"].get<std::string>().find("--mem-fraction-static 0.93") != std::string::npos);
}

TEST_CASE("More ranks than visible GPUs cannot start", "[check]") {
    const test::Ran ran = check({"--format", "json", "--gpu", "h100"}, {"CUDA_VISIBLE_DEVICES=0,1", "python3", "-m", "sglang.launch_server", "--model-path", "Qwen/Qwen3-32B", "--tp", "4"});
    CHECK(ran.exit_code == 1);
    CHECK(parsed(ran)["findings"][0]["code"] == "more_ranks_than_gpus");
}

TEST_CASE("Two servers in one script share the host", "[check]") {
    // Each asks 4 x 150 GB; one fits 1,000 GB with processes and reserve, both do not.
    const std::string line = "python3 -m sglang.launch_server --model-path Qwen/Qwen3-32B --tp 4 --enable-hierarchical-cache --hicache-size 150 --port ";
    const std::string one = test::temporary_file("one.sh", line + "30000\n");
    const std::string two = test::temporary_file("two.sh", "CUDA_VISIBLE_DEVICES=0,1,2,3 " + line + "30000 &\nCUDA_VISIBLE_DEVICES=4,5,6,7 " + line + "30001 &\n");
    const auto run = [](const std::string& file) { return test::run_kvplan({"check", "--gpu", "h100", "--host-available", "1000GB", "--format", "json", "--file", file}); };
    CHECK(run(one).exit_code == 0);
    const test::Ran both = run(two);
    CHECK(both.exit_code == 1);
    const json plan = json::parse(both.out);
    CHECK(plan["safe"] == false);
    // The other takes 600 GB of pools (and an extra page a rank) and 40 of processes.
    CHECK(plan["host"]["available_bytes"].get<double>() == Approx(1000e9 - 640e9).epsilon(0.001));
}

TEST_CASE("More ranks than a host has GPUs need --nnodes", "[check]") {
    const auto run = [](std::vector<std::string> more) {
        std::vector<std::string> words{"check", "--gpu", "h100", "--host-available", "1000GB", "--", "python3", "-m", "sglang.launch_server", "--model-path", "Qwen/Qwen3-32B", "--tp", "16"};
        words.insert(words.end(), more.begin(), more.end());
        return test::run_kvplan(words);
    };
    CHECK(run({}).exit_code == 2);
    CHECK(run({}).err.find("16 ranks on 8 GPUs") != std::string::npos);
    CHECK(run({"--nnodes", "2"}).exit_code == 0);
}
