#include "planner/findings.hpp"

#include "planner/host_findings.hpp"
#include "planner/trace/reuse.hpp"

namespace kvplan {

std::vector<Finding> find_problems(const Scenario& scenario, const Plan& plan) {
    std::vector<Finding> findings = host_findings(scenario, plan);
    for (Finding& finding : trace::reuse_findings(scenario, plan)) findings.push_back(std::move(finding));
    return findings;
}

}  // namespace kvplan
