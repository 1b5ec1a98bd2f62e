#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/scenario_options.hpp"
#include "planner/export/simulate_export.hpp"
#include "planner/trace/trace.hpp"

namespace kvplan::cli {

/// The flags of `kvplan simulate` beside a scenario's, as typed.
struct SimulateOptions {
    std::vector<std::string> files;
    std::string pool_tokens, requests, admission, seed = "1", host_tokens, step_times, timeline, warmup = "0.1";
    bool saturated = false, no_prefixes = false, strict = false;
};

/// The flags as numbers; faults are told in `diagnostics`.
struct SimulateNumbers {
    std::optional<std::int64_t> pool_tokens, requests, host_tokens, seed;
    std::optional<simulate::StepTimes> times;
    std::optional<simulate::Admission> admission;
    double warmup = 0.1;
};
[[nodiscard]] SimulateNumbers numbers_of(const SimulateOptions& options, Diagnostics& diagnostics);

/// Scenario and study of one KV pool: by a plan where a model is named (its step times at the trace's own lengths), else
/// by the flags alone. False, exit code set and faults shown, when that is not enough.
[[nodiscard]] bool set_up(const SimulateOptions& options, const SimulateNumbers& numbers, const ScenarioOptions& flags, const std::optional<trace::Trace>& trace, Context& context,
                          Scenario& scenario, exporting::SimulationStudy& study);

/// Requests of that pool. Null, faults told, when the lengths are not given.
[[nodiscard]] std::unique_ptr<simulate::RequestSource> requests_of(const SimulateOptions& options, const SimulateNumbers& numbers, const ScenarioOptions& flags,
                                                                   const std::optional<trace::Trace>& trace, const Scenario& scenario, exporting::SimulationStudy& study,
                                                                   Diagnostics& diagnostics);

}  // namespace kvplan::cli
