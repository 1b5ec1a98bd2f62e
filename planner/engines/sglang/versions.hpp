#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "planner/engines/version_text.hpp"

namespace kvplan::sglang {

/// The rule set of a version text: `0.5.6`, `v0.5.4.post2`, `0.5.2rc2`, `2026-08-22`, `2026-08`, empty for the newest.
/// Never fails; `match` says how far to trust it.
[[nodiscard]] Version find_version(std::string_view text);
[[nodiscard]] RuleDate rule_date(const EngineOptions& options);

/// What changes between versions and bears on memory. Each is in force from `from` (inclusive) to `until` (exclusive).
enum class Change {
    swa_pool,                    // any model that reports a window gets a second pool
    vlm_factor_flat,             // 0.90 for every vision model
    fraction_by_class,           // reserve by memory class, tp and pp
    vlm_factor_by_tower,         // factor from the vision tower's size
    write_through_default,
    fraction_by_terms,           // reserve from chunk, graphs, parallelism
    host_pool_exact_pinning,     // before: pinned blocks rounded up to a power of two
    host_pool_extra_page,
    pp_spread_remainder,         // one extra layer on each of the last stages; before: all on the last
    mamba_intermediate_by_request,  // drafted states per running request; before: per slot
    mooncake_segment_by_rank,    // a segment of the third tier is divided over the ranks; before: whole on each
    checkpoint_kv_dtype,         // "auto" follows the checkpoint's kv_cache_quant_algo
    separate_v_head_dim,
    draft_slot_pad,              // dense drafts enlarged the target's pool beyond the budget
    numa_binding,                // host pools come from the GPU's NUMA node
    swa_allowlist,               // second pool by architecture name
    swa_ratio_pools,             // tokens from F nf + r S ns
    speculative_reserve_4096,
    dsa_trtllm_default,          // fp8 sparse latents on compute capability 10 in plain layout; before: packed
    prefill_graph_default,
    max_running_capped,          // a user value is capped by the pool's estimate
    draft_host_pool,
    v4_main_layers,              // before: the MTP layer in the list of ratios counted as a layer
    draft_in_budget,
    max_running_by_pool,         // a user value is capped by T/2
    page_first_default,
    swa_chunk_cap,
    host_smaller_allowed,        // before: host pool > device pool asserted
    v4_request_state,            // c128 state sized by requests, not by tokens
    activation_tokens,           // reserve by activation tokens; decode-only and prefill-only servers
    dsa_fp8_budget_fixed,
    draft_packed_host_pool,
    indexer_shared_layers,       // layers that reuse another's top-k keep no index keys
    host_check_by_rank,
    mamba_pad_slot,
    mm_reservation,              // multimodal pools taken off the budget
    vlm_factor_skips_text,       // no vision factor for language-only and decode-only servers
    draft_own_geometry,          // drafts of DSA models priced by their own cells
    fp4_dequant_token,           // one layer's fp8 workspace in the fp4 cell
    gc_before_measurement,       // loader remains are collected before the second measurement
    hicache_auto_size
};

struct ChangeRule {
    Change change;
    RuleDate from;
    RuleDate until;              // 0: still in force
    std::string_view id;         // "sglang.swa_allowlist"
    std::string_view release;    // first release with it, empty when only the date is known
    std::string_view file;       // the engine's source file
    std::string_view note;
};

/// All changes, sorted by `from`.
[[nodiscard]] const std::vector<ChangeRule>& changes();
[[nodiscard]] bool in_force(Change change, RuleDate date);

}  // namespace kvplan::sglang
