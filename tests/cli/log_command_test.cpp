#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/configs.hpp"

using namespace kvplan;
using nlohmann::json;

namespace {

// Llama-3-70B on eight H200: 137.29 GiB free, 16.43 GiB of weights, fraction 0.897 gave 2,795,207 tokens in a public log.
std::string start_log() {
    return "[2025-10-16 03:22:00] server_args=ServerArgs(model_path='/models/Llama-3-70B', tp_size=8, mem_fraction_static=0.897, context_length=131072, kv_cache_dtype='auto', page_size=1, some_flag=3)\n"
           "[2025-10-16 03:22:11 TP0] Load weight begin. avail mem=137.29 GB\n"
           "[2025-10-16 03:23:11 TP0] Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=120.86 GB, mem usage=16.43 GB.\n"
           "[2025-10-16 03:23:12 TP0] KV Cache is allocated. #tokens: 2795207, K size: 53.31 GB, V size: 53.31 GB\n"
           "[2025-10-16 03:23:12 TP0] Memory pool end. avail mem=11.87 GB\n"
           "[2025-10-16 03:23:40 TP0] max_total_num_tokens=2795207, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=4096, context_len=131072, available_gpu_mem=10.90 GB\n"
           "[2025-10-16 03:23:41] The server is fired up and ready to roll!\n"
           "[2025-10-16 03:24:41 TP0] Decode batch. #running-req: 12, #token: 23000, token usage: 0.01, cuda graph: True, gen throughput (token/s): 811.37, #queue-req: 1\n";
}

std::string model() { return test::temporary_file("llama70/config.json", test::llama_3_70b_config()); }

std::string text_of(const std::string& path) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("kvplan log tells what a start took against its plan", "[log][cli]") {
    const std::string file = test::temporary_file("server.log", start_log());
    const test::Ran ran = test::run_kvplan({"log", file, "--model", model(), "--gpu", "h200", "--format", "json"});
    CAPTURE(ran.err);
    REQUIRE(ran.exit_code == 0);
    const json log = json::parse(ran.out);
    CHECK(log["engine"] == "sglang");
    REQUIRE(log["starts"].size() == 1);
    const json& start = log["starts"][0];
    CHECK(start["observed"]["capacity"]["max_total_num_tokens"] == 2795207);
    CHECK(start["observed"]["capacity"]["max_running_requests"] == 4096);
    CHECK(start["observed"]["gpu"]["free_before_load_bytes"] == 147414015017);   // 137.29 GiB
    CHECK(start["observed"]["kv_cache"]["bytes_per_token"].get<double>() == Approx(40960).epsilon(0.001));
    CHECK(start["planned"]["capacity"]["max_total_num_tokens"].get<double>() == Approx(2795207).epsilon(0.02));
    CHECK(start["scenario"]["tp_size"]["value"] == 8);
    CHECK(start["scenario"]["mem_fraction_static"]["from"] == "log");
    CHECK(start["settings"]["some_flag"] == "3");
    CHECK(start["outcome"]["started"] == true);
    CHECK(start["outcome"]["code"].is_null());
    CHECK(log["serving"]["running_requests"]["mean"] == 12);
    for (const json& gap : start["gaps"]) CHECK(gap["cause"] != "unexplained");
    // All three other formats come from the same report.
    for (const char* format : {"text", "markdown", "csv"}) CHECK(test::run_kvplan({"log", file, "--model", model(), "--gpu", "h200", "--format", format}).exit_code == 0);
}

TEST_CASE("a log without a known model is still read", "[log][cli]") {
    const std::string file = test::temporary_file("unknown.log", start_log());
    const test::Ran ran = test::run_kvplan({"log", file, "--model", "no/such-model-anywhere", "--format", "json"});
    CAPTURE(ran.err);
    REQUIRE(ran.exit_code == 0);
    const json start = json::parse(ran.out)["starts"][0];
    CHECK(start["planned"].is_null());
    CHECK_FALSE(start["not_planned"].get<std::string>().empty());
    CHECK(start["observed"]["capacity"]["max_total_num_tokens"] == 2795207);
}

TEST_CASE("a saved calibration plans the deployment to the log's tokens, and other fractions from there", "[log][cli][calibration]") {
    const std::string file = test::temporary_file("cal.log", start_log());
    const std::string calibration = test::temporary_directory() + "/calibration.json";
    const test::Ran saved = test::run_kvplan({"log", file, "--model", model(), "--gpu", "h200", "--save-calibration", calibration});
    CAPTURE(saved.err);
    REQUIRE(saved.exit_code == 0);
    CHECK(json::parse(text_of(calibration))["measured"]["max_total_num_tokens"] == 2795207);
    const auto tokens = [&](std::vector<std::string> more) {
        std::vector<std::string> arguments = {"plan", "--calibration", calibration, "--format", "json"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const test::Ran ran = test::run_kvplan(arguments);
        CAPTURE(ran.err);
        REQUIRE(ran.exit_code < 2);
        return json::parse(ran.out)["capacity"]["max_total_num_tokens"]["expected"].get<double>();
    };
    CHECK(tokens({}) == Approx(2795207).epsilon(0.0005));
    // 0.003 x 137.29 GiB less, over 40,960 B: 10,797 tokens.
    CHECK(2795207 - tokens({"--mem-fraction-static", "0.894"}) == Approx(10797).epsilon(0.01));
    // Any command takes it for the deployment.
    const test::Ran simulated = test::run_kvplan({"simulate", "--calibration", calibration, "--input-tokens", "1000", "--output-tokens", "100", "--requests", "50"});
    CAPTURE(simulated.err);
    CHECK(simulated.exit_code == 0);
    CHECK(simulated.out.find("on 2,795,2") != std::string::npos);
    const test::Ran other = test::run_kvplan({"plan", "--calibration", calibration, "--tp", "4"});
    CHECK(other.exit_code == 2);
    CHECK(other.err.find("calibration.other-deployment") != std::string::npos);
}

TEST_CASE("a failed start is diagnosed, with a command that was planned again, and the exit code is 1", "[log][cli]") {
    std::string text = start_log();
    text = text.substr(0, text.find("[2025-10-16 03:23:12 TP0] KV")) + "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. Current value: mem_fraction_static=0.10\n";
    text.replace(text.find("0.897"), 5, "0.100");
    const std::string file = test::temporary_file("failed.log", text);
    const test::Ran ran = test::run_kvplan({"log", file, "--model", model(), "--gpu", "h200", "--format", "json"});
    CAPTURE(ran.err);
    REQUIRE(ran.exit_code == 1);
    const json outcome = json::parse(ran.out)["starts"][0]["outcome"];
    CHECK(outcome["started"] == false);
    CHECK(outcome["code"] == "fraction_too_low");
    // 1 - 120.86 / 137.29 = 0.1197.
    CHECK(outcome["diagnosis"].get<std::string>().find("0.12") != std::string::npos);
    REQUIRE(outcome["remedy"].is_object());
    CHECK(outcome["remedy"]["command"].get<std::string>().find("--mem-fraction-static 0.") != std::string::npos);
}

TEST_CASE("expected values and alerts of the plan come in Prometheus' format", "[log][cli]") {
    const std::string file = test::temporary_file("emit.log", start_log());
    const test::Ran ran = test::run_kvplan({"log", file, "--model", model(), "--gpu", "h200", "--emit", "prometheus"});
    CAPTURE(ran.err);
    REQUIRE(ran.exit_code == 0);
    CHECK(ran.out.find("# TYPE kvplan_expected_max_total_num_tokens gauge\n") != std::string::npos);
    CHECK(ran.out.find("alert: KvPoolSmallerThanPlanned") != std::string::npos);
    // Every line is a comment or `name{labels} value`.
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line[0] == '#') continue;
        CAPTURE(line);
        CHECK(line.rfind("kvplan_expected_", 0) == 0);
        CHECK(std::isdigit(static_cast<unsigned char>(line.back())));
    }
}

TEST_CASE("what is no log is an input error", "[log][cli]") {
    CHECK(test::run_kvplan({"log", "/no/such/file.log"}).exit_code == 2);
    CHECK(test::run_kvplan({"log", test::temporary_file("empty.log", "")}).exit_code == 2);
    const test::Ran nothing = test::run_kvplan({"log", test::temporary_file("other.log", "hello\nworld\n")});
    CHECK(nothing.exit_code == 2);
    CHECK(nothing.err.find("log.nothing-known") != std::string::npos);
    CHECK(test::run_kvplan({"plan", "--calibration", "/no/such/file.json"}).exit_code == 2);
}

TEST_CASE("A vLLM start that cannot hold one request is corrected to the length that the log names", "[log][cli]") {
    const std::string file = test::temporary_file("vllm-length.log",
        "(EngineCore_DP0 pid=200) INFO 01-20 10:00:12 [core.py:93] Initializing a V1 LLM engine (v0.14.0) with config: model='Qwen/Qwen3-32B', dtype=torch.bfloat16, max_seq_len=131072, tensor_parallel_size=1, "
        "pipeline_parallel_size=1, data_parallel_size=1, quantization=None, enforce_eager=False, kv_cache_dtype=auto\n"
        "(EngineCore_DP0 pid=200) INFO 01-20 10:01:12 [gpu_model_runner.py:3800] Model loading took 61.0347 GiB memory and 41.881 seconds\n"
        "(EngineCore_DP0 pid=200) INFO 01-20 10:01:42 [gpu_worker.py:375] Available KV cache memory: 6.10 GiB\n"
        "(EngineCore_DP0 pid=200) ERROR 01-20 10:01:42 [core.py:866] ValueError: To serve at least one request with the models's max seq len (131072), 32.00 GiB KV cache is needed, which is larger than the "
        "available KV cache memory (6.10 GiB). Based on the available memory, the estimated maximum model length is 24976. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.\n");
    const test::Ran ran = test::run_kvplan({"log", file, "--gpu", "h100", "--format", "json"});
    INFO(ran.out << ran.err);
    CHECK(ran.exit_code == 1);
    const auto start = nlohmann::json::parse(ran.out)["starts"][0];
    CHECK(start["outcome"]["code"] == "context_does_not_fit");
    // 6.10 GiB / (64 layers x 8 heads x 2 x 128 x 2 B = 262,144 B) = 24,985 tokens, in blocks of 16: 24,976.
    CHECK(start["outcome"]["remedy"]["command"] == "vllm serve Qwen/Qwen3-32B --dtype bfloat16 --max-model-len 24976");
    REQUIRE(start["outcome"]["remedy"]["changed"].size() == 1);
    CHECK(start["outcome"]["remedy"]["changed"][0]["flag"] == "--max-model-len");
}

TEST_CASE("Serving lines are held against the decode ceiling of as many requests of that length", "[log][cli]") {
    // Llama 3.1 70B on 8 H200, 200 requests of 5,000 tokens: a step reads at least 200 x 5,000 x 40,960 B = 41 GB of KV and 17.6 GB of
    // weights from 4.8 TB/s, 12.2 ms, so 16,400 tokens/s at the very most.
    const std::string file = test::temporary_file("serving.log",
        "[2025-10-16 03:22:00] server_args=ServerArgs(model_path='meta-llama/Llama-3.1-70B-Instruct', tp_size=8, mem_fraction_static=0.897, context_length=131072)\n"
        "[2025-10-16 03:22:10 TP0] Load weight begin. avail mem=137.29 GB\n"
        "[2025-10-16 03:22:40 TP0] Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=120.86 GB, mem usage=16.43 GB.\n"
        "[2025-10-16 03:22:50] The server is fired up and ready to roll!\n"
        "[2025-10-16 03:23:50 TP0] Decode batch, #running-req: 200, #token: 1000000, token usage: 0.40, cuda graph: True, gen throughput (token/s): 5000.00, #queue-req: 0,\n");
    const test::Ran ran = test::run_kvplan({"log", file, "--gpu", "h200", "--format", "json"});
    const auto rate = nlohmann::json::parse(ran.out)["serving"]["output_tokens_per_second"];
    INFO(rate.dump());
    CHECK(rate["max"] == 5000);
    CHECK(rate["ceiling"].get<double>() <= 16400);
    CHECK(rate["ceiling"].get<double>() > 5000);
    CHECK(rate["share_of_ceiling"].get<double>() == Approx(5000 / rate["ceiling"].get<double>()));
}

TEST_CASE("One allocation of 80 GiB is the request table of a ten-million-token context, not the fraction", "[log][cli]") {
    // sglang#5755: 2,048 rows of 10,485,760 tokens x 4 B = 80.00 GiB.
    const std::string file = test::temporary_file("scout.log",
        "[2025-12-18 03:20:02] server_args=ServerArgs(model_path='meta-llama/Llama-4-Scout-17B-16E-Instruct', mem_fraction_static=0.8, tp_size=8, dp_size=1, context_length=None)\n"
        "[2025-12-18 03:20:14 TP0] Load weight begin. avail mem=138.50 GB\n"
        "[2025-12-18 03:20:40 TP0] Load weight end. type=Llama4ForConditionalGeneration, dtype=torch.bfloat16, avail mem=112.00 GB, mem usage=26.50 GB.\n"
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 80.04 GiB. GPU 2 has a total capacity of 139.80 GiB of which 27.20 GiB is free.\n");
    const auto outcome = nlohmann::json::parse(test::run_kvplan({"log", file, "--gpu", "h200", "--format", "json"}).out)["starts"][0]["outcome"];
    INFO(outcome.dump(1));
    CHECK(outcome["code"] == "request_table_does_not_fit");
    const auto& changed = outcome["remedy"]["changed"];
    REQUIRE(changed.size() == 1);
    CHECK(changed[0]["flag"] == "--max-running-requests");
}

TEST_CASE("The missing memory of one request is told with both figures", "[log][cli]") {
    // spark-vllm-docker#396: 196,608 tokens x 126,976 B = 23.25 GiB, and 22.5 GiB are there.
    const std::string file = test::temporary_file("minimax.log",
        "(EngineCore pid=2) INFO 05-02 10:01:42 [gpu_worker.py:375] Available KV cache memory: 22.50 GiB\n"
        "(EngineCore pid=2) ValueError: To serve at least one request with the models's max seq len (196608), 23.25 GiB KV cache is needed, which is larger than the available KV cache memory (22.50 GiB). "
        "Based on the available memory, the estimated maximum model length is 190256. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.\n");
    const auto outcome = nlohmann::json::parse(test::run_kvplan({"log", file, "--format", "json"}).out)["starts"][0]["outcome"];
    CHECK(outcome["code"] == "context_does_not_fit");
    CHECK(outcome["diagnosis"].get<std::string>().find("23.25 GiB") != std::string::npos);
    CHECK(outcome["diagnosis"].get<std::string>().find("22.50 GiB") != std::string::npos);
    CHECK(outcome["diagnosis"].get<std::string>().find("190,256") != std::string::npos);
}
