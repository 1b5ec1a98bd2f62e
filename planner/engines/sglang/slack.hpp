#pragma once

#include <string_view>
#include <vector>

#include "planner/engines/sglang/pool_sizes.hpp"

namespace kvplan::sglang {

/// Memory that must be found outside the fraction. `low` is the least that is really used, `expected` a usual amount,
/// `high` what the largest batch may ask for.
struct Need {
    std::string_view name;
    Estimate<Bytes> bytes;
    bool before_graphs = false;  // taken when the engine prints what is left after the pools
    bool after_start = false;    // only taken while serving
    bool by_size = false;        // follows the sizes of the pools
};

/// Everything that the slack must hold, by section 5 of the engine's memory rules: request table, workspaces, graphs,
/// activations, logits, staging buffers. The engine itself measures none of it.
[[nodiscard]] std::vector<Need> needs(const Scenario& scenario, const std::vector<StageLoad>& loads, const PoolSizes& sizes);

/// Of these, what does not depend on the pools' sizes, summed; and the rest for given sizes. Both together are the sum of needs().
[[nodiscard]] Estimate<Bytes> fixed_need(const Scenario& scenario, const std::vector<StageLoad>& loads);
[[nodiscard]] Estimate<Bytes> sized_need(const Scenario& scenario, const PoolSizes& sizes);

/// Activations of the largest prefill step on one rank. Derived from shapes (16-bit): two hidden states and either the
/// attention's or the feed-forward's buffers of one layer are alive; with DP attention the experts see the tokens of all
/// workers. `high` is the engine's own heuristic of 1.5 MiB a token, `low` half of the derived sum (fused kernels).
[[nodiscard]] Estimate<Bytes> prefill_activations(const Scenario& scenario);

/// Graphs of the decode step (target, and draft steps), and of prefill. Assumed: see slack.cpp.
[[nodiscard]] Estimate<Bytes> decode_graphs(const Scenario& scenario, std::int64_t running);
[[nodiscard]] Estimate<Bytes> prefill_graph_memory(const Scenario& scenario);

}  // namespace kvplan::sglang
