// An event simulator of an engine's scheduler over one KV pool.
//
// One step is one iteration of the scheduler: a prefill batch first, else one decode step of all running requests (both in
// one step where the engine mixes them). Runs of decode steps between which nothing can change are jumped over, so a
// finished request costs a few heap operations. Time is whole microseconds and every tie has a rule, so equal input gives
// equal output. Rules of SGLang as read 2026-08: docs/method-trace.md.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "planner/simulate/prefix_cache.hpp"
#include "planner/simulate/request_source.hpp"

namespace kvplan::simulate {

/// When a waiting request is let in.
enum class Admission {
    sglang,  ///< prompt + min(rest, 4096) + a page below what is left after a reservation for the running ones
    full,    ///< prompt + whole output of all requests below the pool: nothing is ever retracted
    free,    ///< as soon as the prompt fits
    vllm,    ///< as soon as the next part of the prompt fits; prefill and decode share a step; last come, first preempted
};
[[nodiscard]] std::string_view name_of(Admission admission);
[[nodiscard]] std::optional<Admission> admission_named(std::string_view name);

/// Microseconds of a step: decode a + b n + c (sum of contexts); prefill d (new tokens) + e (new tokens x context).
struct StepTimes {
    double base = 0.0, per_request = 0.0, per_context_token = 0.0;
    double per_prefill_token = 0.0, per_prefill_token_and_context = 0.0;
};

struct Options {
    std::int64_t pool_tokens = 0;
    std::int64_t page = 1;
    Admission admission = Admission::sglang;
    double conservativeness = 1.0;
    std::int64_t chunk_tokens = 8192;            ///< of prompts in one step
    std::int64_t max_prefill_tokens = 16384;
    std::int64_t max_running = 1 << 30;
    bool mixed_steps = false;                    ///< prefill and decode in one step (always so with vllm)
    /// Requests in the system at once (closed loop); unset: the queue is never empty, or arrivals where `times` is set.
    std::optional<std::int64_t> concurrency;
    bool open_loop = false;                      ///< requests come at their arrival times; needs `times`
    std::optional<StepTimes> times;              ///< unset: every step counts one
    double warmup_share = 0.1;                   ///< of the requests; not measured
    // Prefix cache, when requests name blocks:
    const trace::PrefixForest* forest = nullptr;
    std::int64_t block_tokens = 0;
    std::int64_t host_tokens = 0;
    trace::WritePolicy policy = trace::WritePolicy::write_through;
    Eviction eviction = Eviction::blocks;        ///< SGLang: nodes
    bool recompute_last_token = true;            ///< an engine never takes a whole prompt from its cache
    double host_bytes_per_token = 0.0;           ///< for the time of a reload, with `host_bytes_per_second`
    double host_bytes_per_second = 0.0;
    std::int64_t expected_requests = 0;          ///< what the source will give; for the warm-up and progress
    std::size_t timeline_points = 0;             ///< 0: none
    bool check_conservation = false;             ///< every step: free + evictable + pinned + private = pool
    std::function<void(std::int64_t, std::int64_t)> progress;
};

struct Percentiles {
    double mean = 0.0, p50 = 0.0, p95 = 0.0, p99 = 0.0;
};

struct TimelinePoint {
    std::int64_t step = 0, time_us = 0;
    std::int64_t running = 0, queued = 0, used_tokens = 0;
};

struct Result {
    std::int64_t requests = 0;                   ///< finished and measured
    std::int64_t warmup_requests = 0;            ///< finished before the measurement began
    std::int64_t refused = 0;                    ///< can never fit
    std::int64_t aborted = 0;                    ///< did not fit even alone
    Percentiles concurrency;                     ///< over decode steps
    double token_usage = 0.0;                    ///< tokens that running requests hold / pool, mean over decode steps
    double retractions_per_request = 0.0;
    double recomputed_tokens_per_request = 0.0;  ///< prefilled again after a retraction
    std::int64_t steps = 0, decode_steps = 0, prefill_steps = 0;  ///< measured ones
    double output_tokens_per_step = 0.0;         ///< goodput: of finished requests, per step
    double requests_per_step = 0.0;
    // Hits of first admissions, tokens:
    std::int64_t prompt_tokens = 0, device_hit_tokens = 0, host_hit_tokens = 0, host_written_tokens = 0;
    // With a step-time model:
    std::optional<double> seconds, output_tokens_per_second, requests_per_second;
    std::optional<Percentiles> ttft_seconds, itl_seconds, latency_seconds;
    std::vector<TimelinePoint> timeline;
    bool conserved = true;                       ///< false: check_conservation found a leak
};

/// Options must have a pool of at least one page.
[[nodiscard]] Result simulate(RequestSource& source, const Options& options);

}  // namespace kvplan::simulate
