#include <algorithm>
#include <string>

#include "planner/log/configuration.hpp"
#include "planner/log/log_reader.hpp"
#include "planner/log/python_values.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;
using namespace kvplan::logs;

TEST_CASE("Python's repr is taken apart with quotes and brackets nested", "[log][python]") {
    const PythonMembers read = read_python_members(R"(a='it\'s', b="say 'x', y", c=None, d=True, e=0.886, f=[1, (2, 3)], g={'k': 'v)'}, h=<Mode.A: 'a, b'>, i=-1) trailing)");
    CHECK(read.complete);
    REQUIRE(read.members.size() == 9);
    CHECK(read.members[0].value.text == "it's");
    CHECK(read.members[1].value.text == "say 'x', y");
    CHECK(read.members[2].value.kind == PythonValue::Kind::none);
    CHECK(read.members[3].value.text == "true");
    CHECK(read.members[4].value.kind == PythonValue::Kind::number);
    CHECK(read.members[5].value.text == "[1, (2, 3)]");
    CHECK(read.members[6].value.text == "{'k': 'v)'}");
    CHECK(read.members[7].value.text == "<Mode.A: 'a, b'>");
    CHECK(read.members[8].value.text == "-1");
}

TEST_CASE("a cut repr gives the members before the cut", "[log][python]") {
    for (const char* text : {"a=1, b='unfinished", "a=1, b=[1, 2", "a=1, b=12", "a=1, b", "a=1, "}) {
        INFO(text);
        const PythonMembers read = read_python_members(text);
        CHECK_FALSE(read.complete);
        REQUIRE(read.members.size() == 1);
        CHECK(read.members[0].key == "a");
    }
    CHECK(read_python_members("").members.empty());
    CHECK(read_python_members(")").complete);
}

TEST_CASE("SGLang's settings become a scenario, and what the server had changed is turned back", "[log][configuration]") {
    const LogRecord log = read_log(
        "[2026-03-01 00:00:00] server_args=ServerArgs(model_path='deepseek-ai/DeepSeek-V3', tp_size=8, dp_size=8, ep_size=1, enable_dp_attention=True, "
        "chunked_prefill_size=2048, schedule_conservativeness=0.3, mem_fraction_static=0.758, kv_cache_dtype='fp8_e4m3', page_size=64, "
        "hicache_ratio=2.0, hicache_size=0, enable_hierarchical_cache=False, speculative_algorithm='EAGLE', speculative_num_steps=3, "
        "moe_a2a_backend='none', some_new_flag='x', nnodes=2, context_length=None)\n");
    REQUIRE(log.starts.size() == 1);
    Scenario scenario;
    Diagnostics diagnostics;
    const auto others = apply(log.starts[0].configuration, scenario, diagnostics);
    CHECK(diagnostics.empty());
    CHECK(scenario.model_name == "deepseek-ai/DeepSeek-V3");
    CHECK(scenario.engine.tp == 8);
    CHECK(scenario.engine.chunked_prefill_size == 16384);            // 2048 x 8: the server divides by dp
    CHECK(scenario.engine.schedule_conservativeness == Approx(1.0)); // 0.3 / 0.3
    CHECK(scenario.engine.mem_fraction_static->value == 0.758);
    CHECK(scenario.engine.kv_cache_dtype == "fp8_e4m3");
    CHECK(scenario.engine.page_size == 64);
    CHECK_FALSE(scenario.engine.hicache.size_gb.has_value());
    CHECK_FALSE(scenario.engine.hicache.ratio.has_value());
    CHECK_FALSE(scenario.engine.hicache.enabled);
    CHECK(scenario.engine.speculative.algorithm == "EAGLE");
    CHECK(scenario.engine.moe_a2a_backend.empty());
    CHECK(scenario.hardware.nodes == 2);
    CHECK_FALSE(scenario.engine.context_length.has_value());
    CHECK(std::find(others.begin(), others.end(), "some_new_flag") != others.end());
    CHECK(scenario.origin.at("tp_size") == "log");
}

TEST_CASE("vLLM's arguments win over its config line, and its version is kept", "[log][configuration]") {
    const LogRecord log = read_log(
        "(APIServer pid=1) INFO 10-16 00:00:00 [api_server.py:1] vLLM API server version 0.19.0\n"
        "(APIServer pid=1) INFO 10-16 00:00:00 [utils.py:1] non-default args: {'model': 'Qwen/Qwen3-8B', 'max_model_len': 8192, 'gpu_memory_utilization': 0.95, 'max_num_seqs': 256, "
        "'speculative_config': {'method': 'eagle3', 'model': 'org/draft', 'num_speculative_tokens': 3}}\n"
        "(EngineCore_DP0 pid=2) INFO 10-16 00:00:00 [core.py:1] Initializing a V1 LLM engine (v0.19.0) with config: model='Qwen/Qwen3-8B', speculative_config=None, dtype=torch.bfloat16, "
        "max_seq_len=40960, tensor_parallel_size=2, quantization=None, kv_cache_dtype=fp8, compilation_config={'level': 3}\n");
    REQUIRE(log.starts.size() == 1);
    Scenario scenario;
    Diagnostics diagnostics;
    (void)apply(log.starts[0].configuration, scenario, diagnostics);
    CHECK(diagnostics.empty());
    CHECK(scenario.engine.kind == EngineKind::vllm);
    CHECK(scenario.engine.version_text == "0.19.0");
    CHECK(scenario.engine.context_length == 8192);
    CHECK(scenario.engine.gpu_memory_utilization->value == 0.95);
    CHECK(scenario.engine.max_running_requests == 256);
    CHECK(scenario.engine.tp == 2);
    CHECK(scenario.engine.dtype == "bfloat16");
    CHECK(scenario.engine.kv_cache_dtype == "fp8_e4m3");
    CHECK(scenario.draft_model_name == "org/draft");
    CHECK(scenario.engine.speculative.num_draft_tokens == 3);
}

TEST_CASE("several starts of one file are kept apart", "[log][starts]") {
    const std::string one = "[2026-03-01 00:00:00] server_args=ServerArgs(model_path='a/b', mem_fraction_static=0.9)\n[2026-03-01 00:00:05 TP0] Load weight begin. avail mem=78.00 GB\n";
    const LogRecord log = read_log(one + "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.\n" + one + "[2026-03-01 00:01:00] The server is fired up and ready to roll!\n" + one);
    REQUIRE(log.starts.size() == 3);
    CHECK(log.starts[0].faults.size() == 1);
    CHECK(log.starts[1].ready);
    CHECK_FALSE(log.starts[2].ready);
    // Without configuration lines a server that was up and loads again has been started again.
    const LogRecord bare = read_log("[2026-03-01 00:00:05 TP0] Load weight begin. avail mem=78.00 GB\nThe server is fired up and ready to roll!\n[2026-03-01 00:09:05 TP0] Load weight begin. avail mem=77.00 GB\n");
    REQUIRE(bare.starts.size() == 2);
    CHECK(bare.starts[1].ranks.begin()->second.free_before_gib == 77.0);
}

TEST_CASE("a DP worker that loads later belongs to the same start", "[log][starts]") {
    const auto worker = [](int dp) {
        const std::string tag = "[2026-03-01 00:00:05 DP" + std::to_string(dp) + " TP" + std::to_string(dp) + "] ";
        return tag + "Load weight begin. avail mem=78.00 GB\n" + tag + "Load weight end. type=X, dtype=torch.bfloat16, avail mem=60.00 GB, mem usage=18.00 GB.\n" + tag +
               "max_total_num_tokens=1000, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=20, context_len=4096, available_gpu_mem=3.00 GB\n";
    };
    const LogRecord log = read_log(worker(0) + worker(1) + "The server is fired up and ready to roll!\n" + worker(0));
    REQUIRE(log.starts.size() == 2);
    CHECK(log.starts[0].ranks.size() == 2);
    CHECK(log.starts[1].ranks.begin()->second.max_tokens == 1000.0);
}
