#pragma once

#include "planner/engines/engine.hpp"
#include "planner/plan.hpp"

namespace kvplan {

/// Bytes of one matrix on one rank under the engine's rules, `count` included.
[[nodiscard]] Bytes bytes_per_rank(const WeightMatrix& matrix, const WeightRules& rules);

/// Weights of one rank, by component, on the largest pipeline stage, without the totals of the checkpoint.
[[nodiscard]] WeightsPlan plan_rank_weights(const Scenario& scenario, const Engine& engine);
/// The same with the totals.
[[nodiscard]] WeightsPlan plan_weights(const Scenario& scenario, const Engine& engine);

}  // namespace kvplan
