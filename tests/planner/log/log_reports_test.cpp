// Reports of users with figures, in the engines' words: what this command says of each. The list, also of those that no log
// shows, is in docs/log.md.
#include <string>

#include "planner/export/log_json.hpp"
#include "planner/log/log_reader.hpp"
#include "planner/log/outcome.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;
using namespace kvplan::logs;

namespace {

struct Told {
    StartRecord start;
    Observed seen;
    Outcome outcome;
};

Told told(const std::string& text) {
    const LogRecord log = read_log(text);
    REQUIRE_FALSE(log.starts.empty());
    Told result{log.starts.back(), observe(log.starts.back()), {}};
    result.outcome = judge(result.start, result.seen);
    return result;
}

double value(const Outcome& outcome, std::string_view name) {
    for (const FindingValue& v : outcome.values)
        if (v.name == name) return v.number;
    FAIL("no value " << name);
    return 0;
}

std::string loaded(const std::string& settings, const std::string& before, const std::string& after, const std::string& weights) {
    return "[2026-03-01 00:00:00] server_args=ServerArgs(model_path='a/b'" + settings + ")\n[2026-03-01 00:00:05 TP0] Load weight begin. avail mem=" + before +
           " GB\n[2026-03-01 00:01:05 TP0] Load weight end. elapsed=60.00 s, type=X, avail mem=" + after + " GB, mem usage=" + weights + " GB.\n";
}

}  // namespace

TEST_CASE("reserved huge pages: a host check far below what is installed (sglang#34972)", "[log][reports]") {
    const Told t = told(loaded("", "40.00", "30.00", "10.00") + "ValueError: Not enough host memory available. Requesting 7.05 GB but only have 2.04 GB free. Please reduce the size of the hierarchical cache.\n");
    CHECK(t.outcome.code == "host_check");
    CHECK(value(t.outcome, "asked") == Approx(7.05e9));
    CHECK(value(t.outcome, "free") == Approx(2.04e9));
}

TEST_CASE("unified memory: fractions of 0.30 and 0.12 are below what the weights take, 0.80 is above", "[log][reports]") {
    // 1 - 24.12 / 41.29 = 0.4158: the fraction has to be above it, and 0.80 was.
    for (const std::string fraction : {"0.30", "0.12"}) {
        const Told t = told(loaded(", mem_fraction_static=" + fraction, "41.29", "24.12", "17.17") + "RuntimeError: Not enough GPU memory for hybrid (mamba/linear-attention) state cache. total_rest_memory=-3.05 GB\n");
        CHECK(t.outcome.code == "state_pool_too_small");
        CHECK(value(t.outcome, "least_fraction") == Approx(0.416));
        CHECK(std::stod(fraction) < value(t.outcome, "least_fraction"));
    }
    const Told up = told(loaded(", mem_fraction_static=0.80", "41.29", "24.12", "17.17") +
                         "[2026-03-01 00:01:06 TP0] Memory pool end. avail mem=12.13 GB\n"
                         "[2026-03-01 00:01:20 TP0] Capture target decode CUDA graph end. elapsed=12.47 s, mem usage=1.26 GB, avail mem=10.35 GB.\n"
                         "[2026-03-01 00:01:20 TP0] max_total_num_tokens=268319, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=1, context_len=32768, available_gpu_mem=10.35 GB\n"
                         "[2026-03-01 00:01:21] The server is fired up and ready to roll!\n");
    CHECK(up.outcome.started == std::optional(true));
    CHECK(up.seen.max_total_num_tokens == 268319);
    CHECK(in_gib(*up.seen.graphs) == Approx(1.26));
}

TEST_CASE("a graph estimate that leaves less than nothing wants a higher fraction (vllm#38284)", "[log][reports][vllm]") {
    const Told t = told("(EngineCore_DP0 pid=9) INFO 04-01 00:00:09 [gpu_model_runner.py:1] Model loading took 60.00 GiB memory and 5.21 seconds\n"
                        "(EngineCore_DP0 pid=9) INFO 04-01 00:00:10 [gpu_worker.py:1] Estimated CUDA graph memory: 31.00 GiB total\n"
                        "(EngineCore_DP0 pid=9) INFO 04-01 00:00:10 [gpu_worker.py:1] Available KV cache memory: -25.24 GiB\n"
                        "(EngineCore_DP0 pid=9) ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.\n");
    CHECK(t.outcome.code == "fraction_too_low");
    CHECK(in_gib(*t.seen.available_kv) == Approx(-25.24));
}

TEST_CASE("a recipe three quarters of a GiB short (spark-vllm-docker#396)", "[log][reports][vllm]") {
    // 196,608 tokens x 126,976 B = 23.25 GiB.
    CHECK(196608.0 * 126976.0 / static_cast<double>(kGiB) == Approx(23.25));
    const Told t = told("ValueError: To serve at least one request with the model's max seq len (196608), (23.25 GiB KV cache is needed, which is larger than the available KV cache memory (22.50 GiB). Based on the available memory, "
                        "the estimated maximum model length is 190256. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.\n");
    CHECK(t.outcome.code == "context_does_not_fit");
    CHECK(value(t.outcome, "needed") - value(t.outcome, "available") == Approx(0.75 * kGiB));
    CHECK(value(t.outcome, "longest") == 190256);
}

TEST_CASE("host pools of a hybrid model add up to twice the setting (sglang#29034)", "[log][reports][hicache]") {
    const Told t = told(loaded(", tp_size=4, hicache_size=20", "78.00", "60.00", "18.00") +
                        "[2026-03-01 00:01:10 TP0] Allocating 20.00 GB host memory for hierarchical KV cache.\n"
                        "[2026-03-01 00:01:11 TP0] Allocating 20.02 GB host memory for hierarchical Mamba cache (layout=layer_first).\n");
    CHECK(t.seen.host_bytes_per_rank->count() == 40'020'000'000);
    CHECK(value(t.outcome, "host_total") == Approx(4 * 40.02e9));
}

TEST_CASE("a ratio of 1.5 that passes the check and is killed when its pages are touched (InferenceX#2983)", "[log][reports][hicache]") {
    std::string text = loaded(", tp_size=4, hicache_ratio=1.5", "270.00", "140.00", "130.00");
    for (int tp = 0; tp < 4; ++tp) text += "[2026-03-01 00:02:0" + std::to_string(tp) + " TP" + std::to_string(tp) + "] Allocating 169.73 GB host memory for hierarchical KV cache.\n";
    const Told t = told(text + "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.\nsrun: error: node7: task 0: Out Of Memory\n");
    CHECK(t.outcome.code == "host_memory_killed");
    CHECK(value(t.outcome, "host_total") == Approx(678.92e9));   // 4 x 169.73
}

TEST_CASE("a full pool that takes requests back decodes at a fourteenth (sglang#26248)", "[log][reports][serving]") {
    std::string text;
    for (const char* rate : {"429.00", "20.00", "38.00"})
        text += std::string("[2026-03-01 00:00:02 TP0] Decode batch, #running-req: 40, #full token: 2642688, full token usage: 1.00, #swa token: 9000, swa token usage: 0.06, cuda graph: True, gen throughput (token/s): ") + rate +
                ", #queue-req: 9\n[2026-03-01 00:00:03 TP0] KV cache pool is full. Retract requests. #retracted_reqs: 3, #new_tokens_gained: 900, #new_token_ratio: 0.0980 -> 0.4512\n";
    const auto s = exporting::summarize(told(text).start);
    CHECK(s.retracted_requests == 9);
    CHECK(*s.token_usage_max == 1.0);
    CHECK(*s.swa_usage_max == 0.06);
    CHECK(*s.output_tokens_per_second_max == 429);
    CHECK(*s.output_tokens_per_second_mean == Approx((429.0 + 20 + 38) / 3));
}

TEST_CASE("a window pool counted twice leaves its figures to be read (sglang#18039)", "[log][reports]") {
    const Told t = told(loaded(", tp_size=4, mem_fraction_static=0.7", "139.00", "60.00", "79.00") +
                        "[2026-01-31 00:01:06 TP0] Use Sliding window memory pool. full_layer_tokens=375360, swa_layer_tokens=300288\n"
                        "[2026-01-31 00:01:07 TP0] KV Cache is allocated. #tokens: 300288, K size: 8.38 GB, V size: 5.59 GB\n");
    CHECK(t.seen.swa_tokens == 300288);
    CHECK(t.seen.max_total_num_tokens == 375360);
    CHECK(in_gib(*t.seen.kv_pool) == Approx(13.97));
}
