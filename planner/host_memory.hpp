#pragma once

#include "planner/plan.hpp"

namespace kvplan {

/// Host RAM of one node: what all pools, processes, staging and the reserve need against what is available, the largest
/// safe `--hicache-size`, and the smallest that is of use. Takes `plan` with everything up to `hicache` filled in.
[[nodiscard]] HostPlan plan_host_memory(const Scenario& scenario, const Plan& plan);

}  // namespace kvplan
