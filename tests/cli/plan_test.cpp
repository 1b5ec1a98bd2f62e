#include <algorithm>
#include <sstream>

#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/configs.hpp"

using namespace kvplan;
using nlohmann::json;

namespace {

std::string model(const std::string& name, const std::string& config) { return test::temporary_file(name + "/config.json", config); }

json plan_of(std::vector<std::string> arguments, int expected_exit = 0) {
    arguments.insert(arguments.begin(), {"plan", "--format", "json"});
    const test::Ran ran = test::run_kvplan(arguments);
    CAPTURE(ran.err);
    REQUIRE(ran.exit_code == expected_exit);
    return json::parse(ran.out);
}

std::vector<std::string> founding(std::vector<std::string> more) {
    std::vector<std::string> arguments{"--model", model("kimi", test::kimi_k2_config()), "--gpu", "rtx-pro-6000-blackwell", "--tp", "8"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

/// The tensors alone, without what the allocator and the engine keep beside them.
double tensors_gib(const json& plan) {
    double bytes = 0;
    for (const json& component : plan["weights"]["components"]) {
        const std::string name = component["name"];
        if (name != "allocator_rounding" && name != "rope_table" && name != "allocator_and_loader") bytes += component["bytes_per_rank"].get<double>();
    }
    return bytes / (1 << 30);
}

}  // namespace

TEST_CASE("Weights and free memory as logged give the logged pool of Llama-3-70B on 8 H200", "[plan][sglang]") {
    // A log of 2025-10-16: free before load 137.29, weights 16.43, fraction 0.897. slack 137.29 x 0.103 = 14.141,
    // rest 106.719 GiB = 114,588,793,301 B; / 40,960 B = 2,797,577; the log says 2,795,207.
    const json plan = plan_of({"--model", model("llama", test::llama_3_70b_config()), "--gpu", "h200", "--tp", "8", "--gpu-free", "137.29GiB",
                               "--weights-per-gpu", "16.43GiB", "--mem-fraction-static", "0.897", "--engine", "sglang@2025-10-16"});
    CHECK(plan["kv_cache"]["bytes_per_token"] == 40'960);
    CHECK(std::abs(plan["capacity"]["max_total_num_tokens"]["expected"].get<double>() - 2'797'577) <= 2);
    CHECK(std::abs(plan["capacity"]["max_total_num_tokens"]["expected"].get<double>() / 2'795'207 - 1) < 0.001);
    CHECK(plan["gpu"]["free_before_load_bytes"]["basis"] == "measured");
}

TEST_CASE("Computed weights of a rank agree with the log of Llama-3-70B", "[plan][weights]") {
    // 16.43 GiB in the log: 17,640,734,720 B of tensors = 16.429 GiB
    const json plan = plan_of({"--model", model("llama", test::llama_3_70b_config()), "--gpu", "h200", "--tp", "8"});
    CHECK(tensors_gib(plan) == Approx(16.43).epsilon(0.0005));
    CHECK(plan["weights"]["bytes_per_rank"]["expected"].get<double>() / (1 << 30) == Approx(16.43).epsilon(0.001));
    CHECK(plan["weights"]["total_params"] == 70'553'706'496);
}

TEST_CASE("The founding deployment: its interval holds the measured 116,000 tokens", "[plan][founding]") {
    const json plan = plan_of(founding({"--mem-fraction-static", "0.85", "--host-ram", "449GB"}));
    // 61 x (512 + 64) x 2
    CHECK(plan["kv_cache"]["bytes_per_token"] == 70'272);
    const json& tokens = plan["capacity"]["max_total_num_tokens"];
    CHECK(tokens["low"] <= 116'000);
    CHECK(tokens["high"] >= 116'000);
    CHECK(tokens["high"].get<double>() / tokens["low"].get<double>() <= 1.6);
    CHECK(plan["gpu"]["mem_fraction"]["feasible_min"] < 0.85);
    CHECK(plan["gpu"]["mem_fraction"]["feasible_max"] > 0.85);
    CHECK(plan["safe"] == true);
    // Kimi-K2's language model at TP8: 76,308,414,464 B = 71.07 GiB
    CHECK(tensors_gib(plan) == Approx(71.07).epsilon(0.0005));
}

TEST_CASE("The founding launch is unsafe and the safe integer is 39", "[plan][founding][hicache]") {
    const std::vector<std::string> launch{"--mem-fraction-static", "0.93", "--enable-hierarchical-cache", "--hicache-size", "300", "--host-ram", "449GB"};
    std::vector<std::string> known = launch;
    known.insert(known.end(), {"--host-available", "408GB"});
    const json plan = plan_of(founding(known), 1);
    CHECK(plan["safe"] == false);
    CHECK(plan["fits"] == true);
    // 8 x 300 GB, to the page
    CHECK(plan["hicache"]["bytes_per_node"].get<double>() == Approx(2.4e12).epsilon(1e-5));
    // 408 - 10.74 - 8 x 10 = 317.26 GB; / 8 = 39.66
    CHECK(plan["host"]["safe_max"]["hicache_size_gb"] == 39);
    CHECK(plan["hicache"]["replication"] == 8);
    // Read as GiB the same figure is 438.09 GB: 438.09 - 10.74 - 80 = 347.35; / 8 = 43.4
    std::vector<std::string> binary = launch;
    binary.insert(binary.end(), {"--host-available", "408GiB"});
    CHECK(plan_of(founding(binary), 1)["host"]["safe_max"]["hicache_size_gb"] == 43);
}

TEST_CASE("Text says that the latent is stored once", "[plan][founding]") {
    std::vector<std::string> arguments = founding({"--mem-fraction-static", "0.85"});
    arguments.insert(arguments.begin(), "plan");
    const test::Ran ran = test::run_kvplan(arguments);
    CHECK(ran.exit_code == 0);
    CHECK(ran.out.find("61 layers x (512 + 64) x 2 B") != std::string::npos);
    CHECK(ran.out.find("140,544 B (137 KiB)") != std::string::npos);
}

TEST_CASE("A scenario file gives the plan of the same flags, and flags override it", "[plan][scenario-file]") {
    const std::string path = model("kimi", test::kimi_k2_config());
    const std::string file = test::temporary_file("scenario.json", R"({"model": ")" + path + R"(", "gpu": "rtx-pro-6000-blackwell", "tp_size": 8, "mem_fraction_static": 0.85})");
    const json by_file = plan_of({"--scenario", file});
    const json by_flags = plan_of(founding({"--mem-fraction-static", "0.85"}));
    CHECK(by_file["gpu"] == by_flags["gpu"]);
    CHECK(by_file["capacity"] == by_flags["capacity"]);
    CHECK(by_file["scenario"]["tp_size"]["from"] == "scenario file");
    const json overridden = plan_of({"--scenario", file, "--mem-fraction-static", "0.93"});
    CHECK(overridden["gpu"]["mem_fraction"]["value"] == 0.93);
    // The resolved scenario of a plan is a scenario again.
    const std::string again = test::temporary_file("again.json", by_flags["scenario"].dump());
    CHECK(plan_of({"--scenario", again})["capacity"] == by_flags["capacity"]);
}

TEST_CASE("All formats say the same", "[plan][export]") {
    const json plan = plan_of(founding({"--mem-fraction-static", "0.85"}));
    std::vector<std::string> arguments = founding({"--mem-fraction-static", "0.85", "--format", "csv"});
    arguments.insert(arguments.begin(), "plan");
    const std::string csv = test::run_kvplan(arguments).out;
    CHECK(csv.find(",kv_cache.bytes_per_token,") != std::string::npos);
    const std::string tokens = std::to_string(plan["capacity"]["max_total_num_tokens"]["expected"].get<std::int64_t>());
    CHECK(csv.find("," + tokens + ",") != std::string::npos);
    arguments.back() = "markdown";
    const std::string markdown = test::run_kvplan(arguments).out;
    std::string grouped = tokens;
    for (std::size_t i = grouped.size(); i > 3; i -= 3) grouped.insert(i - 3, ",");
    CHECK(markdown.find(grouped) != std::string::npos);
    arguments.back() = "text";
    CHECK(test::run_kvplan(arguments).out.find(grouped) != std::string::npos);
}

TEST_CASE("Wrong input ends with exit code 2, all faults told, and nothing on stdout", "[plan][errors]") {
    const std::string truncated = test::temporary_file("bad/truncated.json", test::llama_3_70b_config().substr(0, 120));
    const std::string wrong = test::temporary_file("bad/wrong.json", R"({"model_type": "llama", "num_hidden_layers": 0, "hidden_size": -4, "num_attention_heads": true, "vocab_size": 32000, "intermediate_size": 80.7})");
    const std::string missing = test::temporary_file("bad/missing.json", R"({"model_type": "llama", "vocab_size": 32000, "intermediate_size": 11008})");
    const std::string deep = test::temporary_file("bad/deep.json", std::string(1'000'000, '['));
    const std::string twice = test::temporary_file("bad/twice.json", R"({"hidden_size": 1, "hidden_size": 2})");
    for (const std::string& file : {truncated, wrong, missing, deep, twice, std::string("/nonexistent/config.json"), test::temporary_directory()}) {
        CAPTURE(file);
        const test::Ran ran = test::run_kvplan({"plan", "--model", file, "--gpu", "h200"});
        CHECK(ran.exit_code == 2);
        CHECK(ran.out.empty());
        CHECK(ran.err.find("error[") != std::string::npos);
    }
    const std::string all = test::run_kvplan({"plan", "--model", wrong, "--gpu", "h200"}).err;
    for (const char* pointer : {"/num_hidden_layers", "/hidden_size", "/num_attention_heads", "/intermediate_size"}) CHECK(all.find(pointer) != std::string::npos);
    const std::string required = test::run_kvplan({"plan", "--model", missing, "--gpu", "h200"}).err;
    for (const char* name : {"num_hidden_layers is missing", "hidden_size is missing", "num_attention_heads is missing"}) CHECK(required.find(name) != std::string::npos);
}

TEST_CASE("Infinity is accepted where it is harmless", "[plan][errors]") {
    std::string config = test::llama_3_70b_config();
    config.insert(1, R"("time_step_limit": [0.0, Infinity], )");
    CHECK(test::run_kvplan({"plan", "--model", model("infinity", config), "--gpu", "h200", "--tp", "8"}).exit_code == 0);
}

TEST_CASE("Ranks that do not divide the heads are refused", "[plan][errors]") {
    const test::Ran ran = test::run_kvplan({"plan", "--model", model("llama", test::llama_3_70b_config()), "--gpu", "h200", "--tp", "7"});
    CHECK(ran.exit_code == 2);
    CHECK(ran.err.find("7 ranks for 64 heads") != std::string::npos);
}

TEST_CASE("A model that does not fit is a plan with its shortfall and exit code 1", "[plan]") {
    // 131.4 GiB of weights on one 79 GiB GPU
    const json plan = plan_of({"--model", model("llama", test::llama_3_70b_config()), "--gpu", "h100", "--tp", "1"}, 1);
    CHECK(plan["fits"] == false);
    CHECK(plan["gpu"]["kv_pool_bytes"] == 0);
    CHECK(plan["gpu"]["shortfall_bytes"].get<double>() > 50.0 * (1 << 30));
    CHECK(plan["capacity"]["max_total_num_tokens"]["expected"] == 0);
}

TEST_CASE("A start that the engine cannot finish does not fit, although the pool would", "[plan]") {
    // 2,048 rows of 10,000,004 positions of 4 B, and one more row: 2,049 x 40,000,016 = 81.96 GB, beside about 27 GiB of slack
    const json plan = plan_of({"--model", "kimi-k2.5", "--gpu", "h200", "--tp", "8", "--context-length", "10000000"}, 1);
    CHECK(plan["fits"] == false);
    CHECK(plan["gpu"]["shortfall_bytes"] == 0);
    CHECK(plan["findings"][0]["code"] == "request_table_does_not_fit");
    // All of the free memory but 1 %: 0.94 GiB are less than the request table of 2 GiB alone.
    CHECK(plan_of({"--model", "kimi-k2.5", "--gpu", "rtx-pro-6000-blackwell", "--tp", "8", "--mem-fraction-static", "0.99"}, 1)["fits"] == false);
}

TEST_CASE("Unknown flags and commands are answered with the nearest name", "[cli][errors]") {
    CHECK(test::run_kvplan({"plan", "--modle", "x"}).err.find("did you mean --model?") != std::string::npos);
    CHECK(test::run_kvplan({"plna"}).err.find("did you mean plan?") != std::string::npos);
    CHECK(test::run_kvplan({"plan", "--modle", "x"}).exit_code == 2);
    const std::string version = test::run_kvplan({"--version"}).out;
    CHECK(version.rfind("kvplan 0.1.0\nrules: sglang 2026-", 0) == 0);
    CHECK(version.find("catalogue of models and GPUs: 202") != std::string::npos);
}

TEST_CASE("Global flags stand before or after the command", "[cli]") {
    const test::Ran before = test::run_kvplan({"--format", "json", "gpus", "list"});
    const test::Ran after = test::run_kvplan({"gpus", "list", "--format", "json"});
    CHECK(before.exit_code == 0);
    CHECK(before.out == after.out);
    CHECK(json::parse(before.out)["gpus"].size() == 42);
}

TEST_CASE("Values that cannot hold together are refused", "[plan][errors]") {
    const std::string llama = model("llama", test::llama_3_70b_config());
    const auto fails = [&](std::vector<std::string> more, const char* what) {
        std::vector<std::string> arguments{"plan", "--model", llama, "--gpu", "h200", "--tp", "8"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const test::Ran ran = test::run_kvplan(arguments);
        CAPTURE(ran.err);
        CHECK(ran.exit_code == 2);
        CHECK(ran.err.find(what) != std::string::npos);
    };
    fails({"--gpu-free", "200GiB"}, "more memory is free than the GPU has");
    fails({"--instances-per-node", "2"}, "16 ranks on 8 GPUs");
    fails({"--host-ram", "449GB", "--host-available", "500GB"}, "more RAM is available than the host has");
    fails({"--input-tokens", "100", "--output-tokens", "10", "--shared-prefix-tokens", "5000"}, "longer than the prompt");
    fails({"--input-tokens", "100", "--output-tokens", "500", "--max-new-tokens", "100"}, "longer than what clients ask for");
    fails({"--format", "xml"}, "text, json, csv or markdown; found xml");
}

TEST_CASE("A flag of the other engine is refused with what this one calls it", "[plan][errors]") {
    const auto refused = [](std::vector<std::string> arguments, const std::string& says) {
        arguments.insert(arguments.begin(), {"plan", "--model", "llama-3.1-70b", "--gpu", "h200", "--tp", "4"});
        const test::Ran ran = test::run_kvplan(arguments);
        CHECK(ran.exit_code == 2);
        CHECK(ran.out.empty());
        CHECK(ran.err.find(says) != std::string::npos);
    };
    refused({"--gpu-memory-utilization", "0.9"}, "--mem-fraction-static");
    refused({"--engine", "vllm", "--mem-fraction-static", "0.9"}, "--gpu-memory-utilization");
    refused({"--engine", "vllm", "--enable-hierarchical-cache", "--hicache-size", "10"}, "--kv-offloading-size");
    refused({"--kv-offloading-size", "100"}, "--hicache-size");
}

TEST_CASE("Drafts without a known drafter are said to be a guess", "[plan]") {
    const auto told = [](const std::vector<std::string>& flags) {
        const json plan = plan_of(flags);
        return std::any_of(plan["findings"].begin(), plan["findings"].end(), [](const json& f) { return f["code"] == "draft_model_unknown"; });
    };
    CHECK(told({"--model", "llama-3.1-70b", "--gpu", "h200", "--tp", "4", "--speculative-algorithm", "EAGLE3"}));
    CHECK_FALSE(told({"--model", "llama-3.1-70b", "--gpu", "h200", "--tp", "4", "--speculative-algorithm", "NGRAM"}));
    // The checkpoint of DeepSeek-V3 brings a layer for EAGLE (multi-token prediction).
    CHECK_FALSE(told({"--model", "deepseek-v3", "--gpu", "h200", "--tp", "8", "--speculative-algorithm", "EAGLE"}));
}

TEST_CASE("An open loop runs as many requests as come", "[plan][concurrency]") {
    const std::vector<std::string> base{"--model", "llama-3.1-70b", "--gpu", "h100", "--tp", "4", "--input-tokens", "1000", "--output-tokens", "500"};
    const auto at = [&](std::vector<std::string> more) {
        more.insert(more.begin(), base.begin(), base.end());
        return plan_of(more);
    };
    const json closed = at({}), slow = at({"--request-rate", "0.5"}), fast = at({"--request-rate", "100000"});
    CHECK(closed["concurrency"]["offered"].is_null());
    const double in_flight = slow["concurrency"]["offered"].get<double>();
    CHECK(slow["concurrency"]["limited_by"] == "offered");
    CHECK(slow["concurrency"]["admission"].get<double>() == Approx(in_flight));
    CHECK(in_flight < closed["concurrency"]["admission"].get<double>());
    CHECK(slow["throughput"]["output_tokens_per_second"].get<double>() == Approx(250.0));  // 0.5 a second x 500
    // Little: a request is there for its prompt and 500 tokens, so n is near rate x (TTFT + 499 x ITL), within the shared steps
    const double itl = slow["latency"]["itl_seconds"]["expected"].get<double>(), ttft = slow["latency"]["ttft_seconds"]["expected"].get<double>();
    CHECK(in_flight == Approx(0.5 * (ttft + 499.0 * itl)).epsilon(0.25));
    CHECK(itl < closed["latency"]["itl_seconds"]["expected"].get<double>());
    // More than can be served: the queue grows, and the engine's own rule is what runs.
    CHECK(fast["concurrency"]["offered"].is_null());
    CHECK(fast["concurrency"]["admission"] == closed["concurrency"]["admission"]);
    const auto says = [](const json& plan, const char* code) {
        return std::any_of(plan["findings"].begin(), plan["findings"].end(), [&](const json& f) { return f["code"] == code; });
    };
    CHECK(says(fast, "offered_rate_not_served"));
    CHECK_FALSE(says(slow, "offered_rate_not_served"));
}

TEST_CASE("Requests longer than the pool run not at all, and the hardware could go farther than admission", "[plan][concurrency]") {
    const json plan = plan_of({"--model", "kimi-k2.5", "--gpu", "rtx-pro-6000-blackwell", "--tp", "8", "--max-total-tokens", "116000", "--mem-fraction-static", "0.85", "--input-tokens", "500",
                               "--output-tokens", "3500"});
    for (const json& row : plan["concurrency"]["by_context"])
        if (row["context_tokens"] > 116000) CHECK(row["steady_state"] == 0);
    CHECK(plan["concurrency"]["by_context"][0]["full_length"] == 28);  // 116,000 / 4,096 = 28.3
    CHECK(plan["throughput"]["limited_by"] == "admission");
    CHECK(plan["throughput"]["output_tokens_per_second"] > 800);  // 400 to 800 were measured
    const json& hardware = plan["throughput"]["hardware"];
    CHECK(hardware["output_tokens_per_second"] > plan["throughput"]["output_tokens_per_second"]);
    CHECK(hardware["concurrency"] > plan["concurrency"]["admission"]);
}

TEST_CASE("One length alone gives no concurrency, and says what is missing", "[plan][concurrency]") {
    const json plan = plan_of({"--model", "llama-3.1-70b", "--gpu", "h100", "--tp", "4", "--input-tokens", "1000"});
    CHECK(plan["concurrency"]["admission"].is_null());
    const auto found = std::find_if(plan["findings"].begin(), plan["findings"].end(), [](const json& f) { return f["code"] == "request_shape_incomplete"; });
    REQUIRE(found != plan["findings"].end());
    CHECK((*found)["message"].get<std::string>().find("--output-tokens") != std::string::npos);
}

TEST_CASE("A third tier's RAM counts beside the host pools", "[plan][hicache]") {
    const std::vector<std::string> base{"--model", "qwen3-32b", "--gpu", "h100", "--tp", "2", "--enable-hierarchical-cache", "--hicache-size", "50", "--host-ram", "512GB"};
    const json without = plan_of(base);
    std::vector<std::string> more = base;
    more.insert(more.end(), {"--hicache-storage-backend", "mooncake", "--hicache-storage-backend-extra-config", R"({"global_segment_size": "100gb"})"});
    const json with = plan_of(more);
    // 100 x 1024^3 over both ranks, and 16 MB each
    CHECK(with["host"]["storage_bytes"] == 107'374'182'400 + 32'000'000);
    CHECK(with["host"]["required_bytes"].get<std::int64_t>() - without["host"]["required_bytes"].get<std::int64_t>() == 107'374'182'400 + 32'000'000);
    CHECK(with["host"]["safe_max"]["hicache_size_gb"].get<int>() < without["host"]["safe_max"]["hicache_size_gb"].get<int>() - 50);
    more.back() = "{global_segment_size}";
    more.insert(more.begin(), "plan");
    CHECK(test::run_kvplan(more).exit_code == 2);
}

TEST_CASE("A request longer than the server takes is said", "[plan]") {
    // The context is 8,192 tokens: the longest request has 8,191.
    const json plan = plan_of({"--model", model("llama", test::llama_3_70b_config()), "--gpu", "h200", "--tp", "8", "--input-tokens", "8000", "--output-tokens", "1000"});
    bool said = false;
    for (const json& finding : plan["findings"]) said = said || finding["code"] == "request_longer_than_server_takes";
    CHECK(said);
    CHECK(plan["capacity"]["longest_request_tokens"] == 8'191);
}

TEST_CASE("The quantization beside a config.json is read with it", "[plan]") {
    const std::string config = model("beside", test::llama_3_70b_config());
    const json plain = plan_of({"--model", config, "--gpu", "h200", "--tp", "8"});
    (void)test::temporary_file("beside/hf_quant_config.json", R"({"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": null, "exclude_modules": ["lm_head"]}})");
    const json quantized = plan_of({"--model", config, "--gpu", "h200", "--tp", "8"});
    // 80 layers of 855,638,016 parameters in one byte instead of two; embedding and head stay in 16 bits.
    const double saved = plain["weights"]["checkpoint_bytes"].get<double>() - quantized["weights"]["checkpoint_bytes"].get<double>();
    CHECK(saved == Approx(80.0 * 855'638'016).epsilon(0.001));
}

TEST_CASE("The founding deployment by its preset, vision tower included, holds the measured pool too", "[plan][founding]") {
    const json plan = plan_of({"--model", "kimi-k2.5", "--gpu", "rtx-pro-6000-blackwell", "--tp", "8", "--mem-fraction-static", "0.85", "--host-ram", "449GB"});
    const json& tokens = plan["capacity"]["max_total_num_tokens"];
    CHECK(tokens["low"] <= 116'000);
    CHECK(tokens["high"] >= 116'000);
    CHECK(tokens["high"].get<double>() / tokens["low"].get<double>() <= 1.6);
}

TEST_CASE("A plan as Markdown is a page: verdict, waterfall, host, findings, assumptions and the corrected command", "[plan][markdown]") {
    const test::Ran ran = test::run_kvplan({"plan", "--format", "markdown", "--model", "kimi-k2.5", "--gpu", "rtx-pro-6000-blackwell", "--tp", "8", "--mem-fraction-static", "0.93", "--host-ram", "449GB", "--host-available", "408GB",
                                            "--enable-hierarchical-cache", "--hicache-size", "300"});
    CHECK(ran.exit_code == 1);
    std::size_t last = 0;
    for (const char* part : {"# Kimi-K2.5", "**FITS THE GPUS, BUT IS NOT SAFE FOR THE HOST", "## Memory of one GPU", "**= slack**", "## Host memory of one node", "## Findings", "[hicache_exceeds_host_ram]", "## Assumptions",
                             "## Launch", "--hicache-size 300\n```", "## Corrected command", "```\npython3 -m sglang.launch_server"}) {
        const std::size_t at = ran.out.find(part, last);
        INFO(part);
        REQUIRE(at != std::string::npos);
        last = at;
    }
    // Every line of a table has as many cells as its header.
    std::istringstream lines(ran.out);
    std::string line;
    std::ptrdiff_t cells = 0;
    while (std::getline(lines, line)) {
        if (line.empty() || line[0] != '|') {
            cells = 0;
            continue;
        }
        const auto bars = std::count(line.begin(), line.end(), '|');
        if (cells != 0) CHECK(bars == cells);
        cells = bars;
    }
}

TEST_CASE("The scenario in a plan's JSON holds what the engine fills in, and reads back as it was", "[plan][scenario-file]") {
    const std::vector<std::string> flags{"--model", "qwen3-32b", "--gpu", "h100", "--tp", "4"};
    const json plan = plan_of(flags);
    const json& scenario = plan["scenario"];
    CHECK(scenario["context_length"]["value"] == 40'960);  // the model's
    CHECK(scenario["context_length"]["from"] == "engine default");
    CHECK(scenario["mem_fraction_static"]["value"] == plan["gpu"]["mem_fraction"]["value"]);
    const json again = plan_of({"--scenario", test::temporary_file("filled.json", scenario.dump())});
    CHECK(again["gpu"] == plan["gpu"]);
    CHECK(again["gpu"]["mem_fraction"]["source"] == "default");
}
