#include <string>

#include "planner/export/log_json.hpp"
#include "planner/log/live.hpp"
#include "planner/log/log_reader.hpp"
#include "planner/log/observed.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;
using namespace kvplan::logs;

TEST_CASE("a server's information becomes a start", "[log][live]") {
    const std::string text = R"({"model_path": "a/b", "tp_size": 8, "mem_fraction_static": 0.886, "version": "0.5.6", "max_total_num_tokens": 772800,
        "internal_states": [{"last_gen_throughput": 1234.5, "effective_max_running_requests_per_dp": 3018,
        "memory_usage": {"weight": 71.07, "kvcache": 50.58, "token_capacity": 772800, "graph": {"decode": 1.5, "prefill": 0.5}, "startup_available": 137.3}}]})";
    REQUIRE(live_kind(text) == LiveKind::server_info);
    Diagnostics diagnostics;
    const auto log = read_live(text, LiveKind::server_info, "info", diagnostics);
    REQUIRE(log.has_value());
    REQUIRE(log->starts.size() == 1);
    const Observed seen = observe(log->starts[0]);
    CHECK(seen.max_total_num_tokens == 772800);
    CHECK(in_gib(*seen.weights) == Approx(71.07));
    CHECK(in_gib(*seen.kv_pool) == Approx(50.58));
    CHECK(in_gib(*seen.graphs) == Approx(2.0));
    CHECK(in_gib(*seen.free_before_load) == Approx(137.3));
    CHECK(seen.fraction == 0.886);
    CHECK(log->starts[0].configuration.version == "0.5.6");
}

TEST_CASE("gauges of tensor-parallel ranks count once, DP workers add up", "[log][live]") {
    std::string text = "# HELP sglang:num_running_reqs The number of running requests.\n# TYPE sglang:num_running_reqs gauge\n";
    for (int dp = 0; dp < 2; ++dp)
        for (int tp = 0; tp < 4; ++tp) {
            const std::string labels = "{dp_rank=\"" + std::to_string(dp) + "\",model_name=\"a/b\",tp_rank=\"" + std::to_string(tp) + "\"}";
            text += "sglang:num_running_reqs" + labels + " 10.0\nsglang:token_usage" + labels + " 0.5\nsglang:max_total_num_tokens" + labels + " 100000.0\n";
            text += "sglang:prompt_tokens_total" + labels + " 4e6\nsglang:cached_tokens_total" + labels + " 1e6\n";
        }
    REQUIRE(live_kind(text) == LiveKind::scrape);
    Diagnostics diagnostics;
    const auto log = read_live(text, LiveKind::scrape, "metrics", diagnostics);
    REQUIRE(log.has_value());
    const auto summary = exporting::summarize(log->starts[0]);
    CHECK(summary.schedulers == 2);
    CHECK(summary.running_mean == 20.0);          // 2 workers x 10, not 8 x 10
    CHECK(*summary.hit_rate == Approx(0.25));     // cached 1e6 of 4e6 prompt tokens
    CHECK(observe(log->starts[0]).max_total_num_tokens == 100000);
}

TEST_CASE("a scrape of something else is refused", "[log][live]") {
    Diagnostics diagnostics;
    CHECK_FALSE(read_live("# HELP go_info x\ngo_info 1\n", LiveKind::scrape, "m", diagnostics).has_value());
    CHECK(diagnostics.has_errors());
    CHECK(live_kind("[2026-03-01 00:00:00] Load weight begin.") == LiveKind::none);
    CHECK(live_kind("{\"log\":\"[2026] Load weight begin. avail mem=3.00 GB\\n\"}") == LiveKind::none);
}

TEST_CASE("serving lines give hit rate by tokens, retractions and idle usage", "[log][serving]") {
    // Reports: decode falls when the pool is full and requests are taken back; usage that stays after requests end is cache.
    const LogRecord log = read_log(
        "[2026-03-01 00:00:00 TP0] Prefill batch, #new-seq: 1, #new-token: 6000, #cached-token: 2000, token usage: 0.10, #running-req: 0, #queue-req: 3, cuda graph: False, input throughput (token/s): 900.00\n"
        "[2026-03-01 00:00:01 TP0] Prefill batch [2], #new-seq: 1, #new-token: 1000, #cached-token: 1000, token usage: 0.20, #running-req: 1, #queue-req: 0\n"
        "[2026-03-01 00:00:02 TP0] Decode batch, #running-req: 40, #full token: 2642688, full token usage: 1.00, #swa token: 9000, swa token usage: 0.06, cuda graph: True, gen throughput (token/s): 429.00, #queue-req: 9\n"
        "[2026-03-01 00:00:03 TP0] KV cache pool is full. Retract requests. #retracted_reqs: 3, #new_tokens_gained: 900, #new_token_ratio: 0.0980 -> 0.4512\n"
        "[2026-03-01 00:00:04 TP0] Decode batch, #running-req: 37, #full token: 2000000, full token usage: 0.90, #swa token: 9000, swa token usage: 0.06, cuda graph: True, gen throughput (token/s): 31.00, #queue-req: 12\n"
        "[2026-03-01 00:00:09 TP0] Decode batch, #running-req: 0, #token: 5000, token usage: 0.35, gen throughput (token/s): 0.00, #queue-req: 0\n");
    REQUIRE(log.starts.size() == 1);
    const auto s = exporting::summarize(log.starts[0]);
    CHECK(*s.hit_rate == Approx(0.3));            // 3,000 of 10,000 tokens, not 1 of 2 requests
    CHECK(s.retraction_events == 1);
    CHECK(s.retracted_requests == 3);
    CHECK(*s.token_usage_max == 1.0);
    CHECK(*s.swa_usage_max == 0.06);
    CHECK(*s.running_max == 40);
    CHECK(*s.queued_max == 12);
    CHECK(s.idle_usage == 0.35);
    const LogRecord vllm = read_log("(APIServer pid=1) INFO 03-01 00:00:02 [loggers.py:1] Engine 000: Avg prompt throughput: 5461.2 tokens/s, Avg generation throughput: 1201.0 tokens/s, Running: 64 reqs, Waiting: 3 reqs, Preemptions: 2, GPU KV cache usage: 71.2%, Prefix cache hit rate: 43.1%, External prefix cache hit rate: 7.5%\n");
    const auto v = exporting::summarize(vllm.starts[0]);
    CHECK(*v.running_mean == 64);
    CHECK(*v.token_usage_mean == Approx(0.712));
    CHECK(*v.hit_rate == Approx(0.431));
    CHECK(*v.external_hit_rate == Approx(0.075));
    CHECK(v.preemptions == 2);
}
