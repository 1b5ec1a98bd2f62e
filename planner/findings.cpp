#include "planner/findings.hpp"

#include "planner/host_findings.hpp"

namespace kvplan {

std::vector<Finding> find_problems(const Scenario& scenario, const Plan& plan) { return host_findings(scenario, plan); }

}  // namespace kvplan
