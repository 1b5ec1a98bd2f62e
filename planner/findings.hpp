#pragma once

#include <vector>

#include "planner/plan.hpp"

namespace kvplan {

/// Findings that hold for any engine, most severe first; the engine's own come from Engine::add_findings.
[[nodiscard]] std::vector<Finding> find_problems(const Scenario& scenario, const Plan& plan);

/// Whether a finding is an error: the engine stops the start, or lacks memory after it.
[[nodiscard]] bool has_error(const Plan& plan);

/// Whether the launch can be made as planned: it fits, is not known to be unsafe, and no finding is an error (an engine
/// refuses some combinations that would fit). Exit code 0 of `plan` and `check`.
[[nodiscard]] bool is_sound(const Plan& plan);

}  // namespace kvplan
