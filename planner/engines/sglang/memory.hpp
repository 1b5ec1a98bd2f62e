#pragma once

#include "planner/engines/sglang/slack.hpp"

namespace kvplan::sglang {

/// Cells and weights of every stage. `weights` of each stage are its expected ones moved by `shift` bytes.
[[nodiscard]] std::vector<StageLoad> stage_loads(const Scenario& scenario, const WeightsPlan& weights, Bytes shift);

/// Fractions that can work. `min`: below it the weights leave less than one page (and what one request must have);
/// `max`: above it the least that is really used outside the fraction no longer fits. Empty when min > max.
struct FeasibleFractions {
    std::optional<double> min, max, recommended;
};
[[nodiscard]] FeasibleFractions feasible_fractions(const Scenario& scenario, const std::vector<StageLoad>& loads, Bytes free);

/// The budget of one GPU: rest = post - pre (1 - f), pools, and what is left.
[[nodiscard]] PoolPlan pools(const Scenario& scenario, const WeightsPlan& weights);

}  // namespace kvplan::sglang
