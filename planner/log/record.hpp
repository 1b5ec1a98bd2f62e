#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/log/configuration.hpp"
#include "planner/log/line_rules.hpp"
#include "planner/log/lines.hpp"
#include "planner/scenario.hpp"

namespace kvplan::logs {

// What a log says, gathered but not yet judged. Sizes are as printed: GiB on the GPU side, 10^9 bytes ("gb") for host pools,
// both with the log's two decimals.

using Reading = std::optional<double>;

/// One "KV Cache is allocated" line.
struct KvAllocation {
    std::string label;                    // "Full", "SWA", or empty
    std::string dtype;                    // "torch.bfloat16"; empty: not printed
    bool draft = false;                   // of the drafter's own pool
    Reading tokens, k_gib, v_gib, kv_gib; // K and V apart, or both together
    [[nodiscard]] Reading size_gib() const;
};

struct HostPoolLine {
    std::string label;                    // "kv", "dsa_indexer", "mamba", "swa", …
    double gb = 0.0;
    Reading tokens;
};

/// The capture of one set of CUDA graphs.
struct GraphCapture {
    std::string name;                     // "cuda", "draft", "draft extend", "piecewise", "target decode", …
    Reading before_gib, after_gib, usage_gib;
};

/// What one rank printed during one start.
struct RankRecord {
    Reading init_usage_gib;
    Reading free_before_gib, free_after_gib, weights_gib;
    Reading draft_free_before_gib, draft_free_after_gib, draft_weights_gib;
    Reading pool_end_gib, draft_pool_end_gib;
    Reading state_slots, conv_gib, ssm_gib, draft_ssm_gib, draft_conv_gib;
    Reading swa_pool_gib, swa_tokens, full_tokens;
    Reading v4_bytes_per_token, v4_budget_gib, v4_fixed_gib, v4_tokens, c4_tokens, c128_tokens, c4_state_rows, c128_state_rows;
    Reading max_tokens, chunk, max_prefill, max_running, context_len, end_gib;
    Reading post_capture_tokens, mm_reserved_gib;
    // vLLM
    Reading model_gib, available_kv_gib, kv_tokens, concurrency_x, request_len, gpu_blocks, cpu_blocks, graph_gib, graph_estimate_gib;
    Reading initial_free_gib, total_gib, utilization, requested_gib, activation_gib, non_torch_gib, consumed_gib, non_kv_gib, kv_in_use_gib;
    Reading block_tokens, offload_gb;
    std::string kv_dtype;                 // "torch.bfloat16"
    std::string model_class;              // "LlamaForCausalLM"
    std::vector<KvAllocation> kv;
    std::vector<GraphCapture> graphs;
    std::vector<HostPoolLine> host_pools;
    int loads_begun = 0, loads_ended = 0, pools_ended = 0;
};

/// Where a start stood when a line came.
enum class Phase { none, initialized, loading, loaded, pools, host_pools, graphs, sized, serving };
[[nodiscard]] std::string_view name_of(Phase phase);

/// A line that tells of a fault, with its figures.
struct Fault {
    std::string code;                     // of the line (line_rules), "exception" for an unknown Python error
    std::string text;                     // of the line, clipped
    Phase phase = Phase::none;            // when it came
    RankTag rank;
    std::vector<std::pair<Figure, double>> figures;
    [[nodiscard]] Reading get(Figure figure) const;
};

/// Mean, smallest and largest of a series; bounded memory.
struct Series {
    std::int64_t count = 0;
    double sum = 0.0, least = 0.0, most = 0.0, last = 0.0;
    void add(double x);
    [[nodiscard]] Reading mean() const { return count > 0 ? Reading(sum / static_cast<double>(count)) : std::nullopt; }
};

/// Serving lines of one scheduler (a DP worker).
struct ServingRecord {
    std::int64_t prefill_lines = 0, decode_lines = 0;
    Series running, queued, token_usage, swa_usage, state_usage, gen_throughput, input_throughput, accept_length, tokens;
    Series hit_percent, external_hit_percent;
    double new_tokens = 0.0, cached_tokens = 0.0, retracted = 0.0, retraction_events = 0.0, preemptions = 0.0;
    double idle_usage = 0.0;              // largest token usage while nothing ran
};

struct StartRecord {
    LoggedConfiguration configuration;
    std::map<RankTag, RankRecord> ranks;
    std::map<int, ServingRecord> serving; // by DP rank; -1: not told
    std::vector<Fault> faults;            // the first kMostFaults
    Phase phase = Phase::none;            // the furthest one
    bool ready = false;
    bool ended_within_line = false;       // the input ends inside a line of this start
    bool pinning = false;                 // its last start-up line asks for a host pool, which is pinned from then on
    int first_day = 0, last_day = 0;      // yyyymmdd, or mmdd
    std::optional<std::int64_t> first_second, ready_second;
    // The wordings seen exist on the engine's main branch from `since` until before `until` (0: no bound).
    RuleDate since{}, until{};
    Reading asked_tokens, profiled_tokens;     // --max-total-tokens against the profile
    Reading asked_requests, given_requests;    // --max-running-requests against what the pool allows

    [[nodiscard]] EngineKind engine() const { return configuration.engine.value_or(EngineKind::sglang); }
    [[nodiscard]] bool empty() const { return ranks.empty() && configuration.empty() && faults.empty() && serving.empty(); }
};

inline constexpr std::size_t kMostFaults = 64, kMostRanks = 8192, kMostStarts = 1000;

struct LogRecord {
    std::vector<StartRecord> starts;      // the last kMostStarts
    std::int64_t lines = 0, bytes = 0, known_lines = 0;
};

/// A figure over the ranks that printed it.
struct Spread {
    double first = 0.0, least = 0.0, most = 0.0;   // first: of the lowest rank
    int ranks = 0;
};
[[nodiscard]] std::optional<Spread> spread(const StartRecord& start, Reading RankRecord::* reading);

}  // namespace kvplan::logs
