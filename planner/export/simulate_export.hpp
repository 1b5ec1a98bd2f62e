#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "planner/export/report.hpp"
#include "planner/simulate/simulate.hpp"

namespace kvplan::exporting {

/// A simulation and what it stands for.
struct SimulationStudy {
    simulate::Options options;               ///< as simulated (callbacks are not shown)
    simulate::Result result;
    std::int64_t pools = 1;                  ///< of the deployment; this is one of them, with every such request
    std::string requests_from;               ///< "trace" or "distributions"
    std::string times_from;                  ///< "given", "ceilings" or empty: steps are counted, not timed
    // The closed forms for the same lengths, of one pool; docs/method-concurrency.md.
    std::optional<double> full_length, steady_state, retraction_free, admission;
};

/// `{ requests, concurrency{mean,p50,p95,p99}, retractions_per_request, token_usage, hit_rate{…}, … }`; latency is null
/// without step times.
[[nodiscard]] nlohmann::ordered_json simulation_json(const SimulationStudy& study);
[[nodiscard]] Report simulation_report(const SimulationStudy& study);

/// step,time_seconds,running,queued,used_tokens,token_usage
[[nodiscard]] std::string timeline_csv(const SimulationStudy& study);

}  // namespace kvplan::exporting
