#pragma once

#include <string>

#include "planner/plan.hpp"
#include "planner/scenario.hpp"

namespace kvplan::exporting {

/// Expected values of a plan in the Prometheus text format (names kvplan_expected_…, sizes in bytes), and alert rules as a
/// commented YAML group under them: a live server is compared with its plan by subtracting two series.
[[nodiscard]] std::string prometheus_text(const Scenario& scenario, const Plan& plan);

}  // namespace kvplan::exporting
