#pragma once

#include "planner/engines/engine.hpp"
#include "planner/plan.hpp"

namespace kvplan {

/// Bytes of one matrix on one rank under the engine's rules, `count` included.
[[nodiscard]] Bytes bytes_per_rank(const WeightMatrix& matrix, const WeightRules& rules);

/// Weights of one rank, by component, on the largest pipeline stage.
[[nodiscard]] WeightsPlan plan_weights(const Scenario& scenario, const Engine& engine);

}  // namespace kvplan
