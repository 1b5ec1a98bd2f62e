#pragma once

#include <vector>

#include "planner/plan.hpp"

namespace kvplan {

/// Findings that hold for any engine, most severe first; the engine's own come from Engine::add_findings.
[[nodiscard]] std::vector<Finding> find_problems(const Scenario& scenario, const Plan& plan);

}  // namespace kvplan
