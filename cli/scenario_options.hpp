#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/context.hpp"
#include "planner/scenario.hpp"

namespace kvplan::cli {

/// The scenario flags of a command line, as typed. Filled by CLI11, applied in order by `build`.
struct ScenarioOptions {
    std::string scenario_file;
    bool this_host = false;
    std::string host_from;                       // a saved copy of a machine, as kvplan doctor --save writes it
    std::string calibration;                     // of this deployment, as kvplan log --save-calibration writes it
    std::map<std::string, std::string> values;   // field name -> text
};

/// Adds --scenario and one flag for every scenario field.
std::shared_ptr<ScenarioOptions> add_scenario_options(CLI::App& command, Context& context);

/// Scenario file first, then the flags over it. Faults of all of them are collected.
[[nodiscard]] bool apply(const ScenarioOptions& options, Scenario& scenario, Diagnostics& diagnostics);

/// apply() and resolve(): a scenario that can be planned, or the exit code set and the faults shown.
[[nodiscard]] std::optional<Scenario> build_scenario(const ScenarioOptions& options, Context& context);

}  // namespace kvplan::cli
