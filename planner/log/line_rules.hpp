#pragma once

#include <array>
#include <span>
#include <string_view>

#include "planner/scenario.hpp"

namespace kvplan::logs {

/// What a line of a server's log says.
enum class LineKind {
    // configuration
    server_args, vllm_config, vllm_arguments, vllm_version,
    // start-up
    init_begin, init_end, load_begin, load_end, kv_dtype, kv_allocated, kv_upper_bound, kv_skipped, pool_end, state_allocated, swa_pool,
    swa_sizes, v4_calculation, v4_sizes, graph, limits, host_pool, post_capture, profile_limited, running_reduced, mm_reserved,
    model_loaded, available_kv, kv_size, concurrency, blocks, blocks_overridden, graph_finished, graph_estimate, memory_summary, v0_total,
    v0_parts, kv_bytes_given, block_raised, offload_file, ready,
    // serving
    prefill_batch, decode_batch, retraction, vllm_stats,
    // what goes wrong; LineRule::code says what
    failure, allocation_tried, traceback
};

/// A figure in a line. Names end in the unit the engine means (its "GB" on the GPU side are GiB; host pools are 10^9 B).
enum class Figure {
    none,
    elapsed_s, avail_gib, usage_gib,
    tokens, k_gib, v_gib, kv_gib,
    state_slots, conv_gib, ssm_gib, draft_ssm_gib, draft_conv_gib,
    swa_tokens, full_tokens, c4_tokens, c128_tokens, c4_state_rows, c128_state_rows,
    bytes_per_token, budget_gib, fixed_state_gib,
    max_tokens, chunk, max_prefill, max_running, context_len,
    asked_tokens, profiled_tokens, asked_requests, given_requests,
    new_seqs, new_tokens, cached_tokens, token_usage, swa_usage, state_usage, running, queued, pending_tokens, gen_throughput,
    input_throughput, accept_length, retracted, ratio_before, ratio_after, prompt_throughput, usage_percent, hit_percent,
    external_hit_percent, preemptions,
    model_gib, request_len, concurrency_x, gpu_blocks, cpu_blocks, graph_gib, total_gib, utilization, requested_gib, activation_gib,
    non_torch_gib, needed_gib, available_gib, estimated_len, minimum_fraction, asked_gb, free_gb, other_gib, block_tokens, file_gb,
    count_
};

/// Where a figure stands: after `key`; with a `suffix` only when that follows (see number_after).
struct FieldRule {
    std::string_view key;
    std::string_view suffix;
    Figure figure = Figure::none;
};

/// One wording of a line. `phrase` begins the message; `needs` must follow somewhere when not empty.
struct LineRule {
    std::string_view phrase;
    LineKind kind = LineKind::traceback;
    std::array<FieldRule, 11> fields{};
    RuleDate since{};                // 0: always; from which day on the engine's main branch had this wording
    RuleDate until{};                // exclusive; 0: still
    std::string_view needs{};
    std::string_view code{};         // of a failure
    bool whole_line = false;         // the rest of the line belongs to it, whatever it contains
};

/// All known wordings. Of rules with the same beginning the more particular stands first.
[[nodiscard]] std::span<const LineRule> sglang_rules();
[[nodiscard]] std::span<const LineRule> vllm_rules();
[[nodiscard]] std::span<const LineRule> failure_rules();

}  // namespace kvplan::logs
