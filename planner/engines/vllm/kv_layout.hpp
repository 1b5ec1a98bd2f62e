#pragma once

#include <cstdint>
#include <vector>

#include "planner/engines/engine.hpp"

namespace kvplan::vllm {

/// Layers of one kind on one pipeline stage, as the engine's KV cache spec has them. Bytes are of one layer and rank.
struct LayerSpec {
    KvGroupKind kind = KvGroupKind::full;
    std::int64_t window = 0;             // sliding window or chunk in tokens; 0: the whole request
    std::int64_t layers = 0;
    std::int64_t block = 16;             // tokens; not used by states
    std::int64_t page = 0;               // bytes of one block, padding included
    double token_bytes = 0.0;            // without padding
    Bytes state;                         // of one request, for linear layers
    std::int64_t groups = 1;             // block tables that these layers need
    bool same_group = false;             // in the one group of the spec before it

    [[nodiscard]] bool whole_request() const { return window == 0 && kind != KvGroupKind::linear_state; }
};

/// How blocks are cut on one stage. One pool serves all groups: a block id takes `block_bytes`.
struct KvLayout {
    std::vector<LayerSpec> specs;
    std::int64_t block = 16;             // tokens, of the layers that keep whole requests
    std::int64_t least_block = 16;       // of all that are no states: what the log of before 2026-06-12 counts with
    Bytes block_bytes;
    std::int64_t groups = 1;             // block tables in all
    std::int64_t padding_layers = 0;     // empty places in groups
};

/// The layout of `stage`. v1/kv_cache_interface.py (page sizes), v1/core/kv_cache_utils.py (groups):
///   one kind of layers       one group; a block is all layers' pages
///   whole requests, several page sizes   one group; a block is the sum of the pages
///   several kinds            pages made equal, g layers a group (g: least layers of a kind, or the most when that is
///                            under 1.5 times the least); a block is g pages
///   with states              the block is raised until an attention page holds a state, the state's page padded to it
[[nodiscard]] KvLayout kv_layout(const Scenario& scenario, const StageLayers& stage);

/// Blocks of all groups that one request of `tokens` needs at most.
[[nodiscard]] std::int64_t blocks_per_request(const KvLayout& layout, const Scenario& scenario, std::int64_t tokens);

/// Blocks that `available` bytes give: floor(floor(available / page) / g) = floor(available / block_bytes).
[[nodiscard]] std::int64_t blocks_in(const KvLayout& layout, Bytes available);

/// The longest request whose blocks fit in `blocks`; 0 when not even one token does. At most `limit`.
[[nodiscard]] std::int64_t longest_request(const KvLayout& layout, const Scenario& scenario, std::int64_t blocks, std::int64_t limit);

/// The number that the log calls "GPU KV cache size": concurrency x max_model_len, before 2026-06-12
/// blocks // groups x block size; times the decode-context-parallel ranks.
[[nodiscard]] Tokens printed_tokens(const KvLayout& layout, const Scenario& scenario, std::int64_t blocks);

/// DeepSeek-V4's compressed layers, windows and compressor states (compressed_layout.cpp).
[[nodiscard]] KvLayout compressed_layout(const Scenario& scenario, const StageLayers& stage);

[[nodiscard]] KvCachePlan kv_cache(const Scenario& scenario);

}  // namespace kvplan::vllm
