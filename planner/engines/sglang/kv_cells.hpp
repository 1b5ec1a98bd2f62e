#pragma once

#include <optional>
#include <vector>

#include "planner/engines/engine.hpp"

namespace kvplan::sglang {

/// What DeepSeek-V4's compressed pools take, per token of full length.
struct CompressedCells {
    double window = 0.0;       // bytes per slot of the window pool, all layers
    double c4 = 0.0, c128 = 0.0, index = 0.0;  // bytes per token of full length
    double state = 0.0;        // rings: bytes per slot of the window pool
};

/// Bytes per token and slot of the layers of one pipeline stage, on one rank. A real number per token: fp4 elements and
/// window shares are fractions of a byte.
struct KvCells {
    double full = 0.0;          // allocated, layers with a slot for each token of a request; the target's
    double full_budget = 0.0;   // what the engine counts for them
    double window = 0.0;        // of layers with a pool of their own, per slot of that pool
    double target_budget = 0.0; // the divisor's part for the target: full layers and their share of the window pool
    double draft = 0.0;         // allocated, the draft's, per slot of the target
    double draft_budget = 0.0;  // the divisor's part for the draft
    double ratio = 0.0;         // window slots per full slot
    bool window_only = false;   // every layer has a window: one pool, and the ratio does not count
    Bytes state_per_slot;       // linear layers
    std::optional<CompressedCells> compressed;
    std::vector<KvGroup> groups;

    /// The divisor: bytes that the engine counts for one token.
    [[nodiscard]] double budget() const { return target_budget + draft_budget; }
    /// Bytes really taken for one token of a request's full length.
    [[nodiscard]] double allocated() const { return full + draft; }
};

[[nodiscard]] KvCells kv_cells(const Scenario& scenario, const StageLayers& stage);

/// Bytes of one layer's KV for one token on one rank. `budget` asks for what the engine counts instead of what it takes.
[[nodiscard]] double bytes_per_token(const GroupedAttention& attention, const Scenario& scenario);
[[nodiscard]] double bytes_per_token(const LatentAttention& attention, const Scenario& scenario, bool budget);
[[nodiscard]] double index_bytes(const LatentAttention& attention, const Scenario& scenario);
/// Bytes of one slot of a linear layer's state on one rank.
[[nodiscard]] Bytes state_bytes(const LinearAttention& attention, const Scenario& scenario);

[[nodiscard]] KvCachePlan kv_cache(const Scenario& scenario);

}  // namespace kvplan::sglang
