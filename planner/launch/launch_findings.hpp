#pragma once

#include <vector>

#include "planner/launch/launch.hpp"
#include "planner/plan.hpp"

namespace kvplan::launch {

/// What is wrong with a command itself, whatever its plan. `scenario` is resolved.
///
/// error    more_ranks_than_gpus
/// warning  unknown_flag, flag_not_in_version, one_of_several_servers
/// note     several_servers_by_loop
[[nodiscard]] std::vector<Finding> launch_findings(const ParsedLaunch& launch, const Scenario& scenario);

}  // namespace kvplan::launch
