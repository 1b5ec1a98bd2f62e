#pragma once

#include <string>
#include <vector>

#include "planner/plan.hpp"
#include "planner/scenario.hpp"

namespace kvplan::exporting {

struct LaunchChange {
    std::string flag;
    std::string from;  // empty: was not there
    std::string to;    // empty: taken away
    std::string why;
};

/// The launch command that a plan stands for, and what was changed against the one that was given.
struct LaunchText {
    std::string command;
    std::vector<LaunchChange> changed;
};
[[nodiscard]] LaunchText launch_text(const Scenario& scenario, const Plan& plan);

}  // namespace kvplan::exporting
