#pragma once

#include <vector>

#include "planner/launch/launch.hpp"
#include "planner/plan.hpp"

namespace kvplan::launch {

/// A field that had to change, and the finding that asked for it.
struct Correction {
    FlagChange change;
    std::string from;             // the value it had; empty: was not given
    std::string why;
};

struct Corrected {
    std::vector<Correction> corrections;  // empty: nothing needs to change, or nothing helps
    Scenario scenario;
    Plan plan;
    bool sound = false;           // the corrected plan fits and is not unsafe
};

/// Applies the remedies of findings, errors before warnings, until the plan fits and is safe. Only flags of the engine are
/// changed. `scenario` must be resolved and `plan` its plan.
[[nodiscard]] Corrected correct(const Scenario& scenario, const Plan& plan);

}  // namespace kvplan::launch
