#pragma once

#include "planner/plan.hpp"

namespace kvplan::sglang {

/// Findings that follow from the engine's rules, after all stages are planned.
void add_findings(const Scenario& scenario, Plan& plan);

}  // namespace kvplan::sglang
