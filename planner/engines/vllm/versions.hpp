#pragma once

#include <string_view>
#include <vector>

#include "planner/engines/version_text.hpp"

namespace kvplan::vllm {

/// The rule set of a version text: `0.19.0`, `2026-08-17`, empty for the newest. Never fails.
[[nodiscard]] Version find_version(std::string_view text);
[[nodiscard]] RuleDate rule_date(const EngineOptions& options);

/// What changes between versions and bears on memory. Each is in force from `from` on; `hybrid_padding_125` ends.
enum class Change {
    offload_size_flag,      // --kv-offloading-size
    hybrid_padding_125,     // a group takes the largest bucket when that is under 1.25 of the smallest
    hybrid_padding_150,     // … under 1.5
    state_prefix_cache,     // hybrid state models cache prefixes: states at block ends
    lmcache_server,         // the lmcache backend is a server of its own, with its own size
    sampler_without_sort,   // top-k and top-p without sorting: 3.5 instead of 9.5 copies of the logits at the peak
    graph_estimate,         // CUDA graphs are estimated and kept out of the KV memory
    utilization_092,
    offload_shared_file,    // one file in /dev/shm instead of pinned tensors of each rank
    derived_token_line,     // "GPU KV cache size" is concurrency x max_model_len
    compressed_packed,      // DeepSeek-V4: one slab a block, sized by the largest group
    inflight_by_batches,    // windows are counted with the tokens of all batches in flight
    consumed_memory,        // non-KV memory is what is consumed, not the sum of three measurements
    offload_single_latent,  // replicated latents are stored once
    batched_tokens_16384,   // 16,384 tokens a step from 160 GiB
};

struct ChangeRule {
    Change change;
    RuleDate from;
    RuleDate until;           // 0: still in force
    std::string_view id;
    std::string_view release; // first release with it, empty when only the date is known
    std::string_view file;
    std::string_view note;
};

/// All changes, sorted by `from`.
[[nodiscard]] const std::vector<ChangeRule>& changes();
[[nodiscard]] bool in_force(Change change, RuleDate date);
[[nodiscard]] bool in_force(Change change, const EngineOptions& options);

}  // namespace kvplan::vllm
