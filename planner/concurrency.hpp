#pragma once

#include "planner/plan.hpp"

namespace kvplan {

/// Requests that run at once, four ways (full length, steady state, retraction-free, the engine's admission rule).
/// Takes `plan` with everything up to `capacity` filled in. All null when the workload's lengths are unknown, but for
/// `by_context`.
[[nodiscard]] ConcurrencyPlan plan_concurrency(const Scenario& scenario, const Plan& plan);

}  // namespace kvplan
