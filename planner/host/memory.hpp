#pragma once

#include <functional>

#include "planner/engines/engine.hpp"
#include "planner/plan.hpp"

namespace kvplan {

/// Host pools as a function of the cache flags, everything else of the scenario unchanged. Its bytes must not fall when a
/// size or a ratio rises. The device pool, of which a ratio is a multiple, is taken at its high end.
using HostPoolsAt = std::function<HicachePlan(const EngineOptions& options)>;

/// Host RAM of one node: what all pools, processes, offloaded weights and the reserve need against what is available, the
/// largest safe size and ratio, and the smallest that is of use. Takes `plan` with everything up to `hicache` filled in.
///
/// required = pools of all ranks + processes (5 to 10 GB a rank) + offloaded weights + reserve; `safe_max` is the largest
/// whole number whose required_high does not pass the available bytes, nor any limit of a single process.
[[nodiscard]] HostPlan plan_host_memory(const Scenario& scenario, const Plan& plan);

/// The same with the engine's answers given.
[[nodiscard]] HostPlan plan_host_memory(const Scenario& scenario, const Plan& plan, const HostRules& rules,
                                        const HostPoolsAt& pools_at);

}  // namespace kvplan
