// A request trace inside a plan: its lengths become the workload, its curve the hit rates of the plan's caches.
#pragma once

#include <optional>
#include <vector>

#include "planner/plan.hpp"
#include "planner/trace/workload.hpp"

namespace kvplan::trace {

/// What a plan keeps of a trace.
struct Reuse {
    WorkloadFacts facts;
    std::int64_t block_tokens = 0;
    std::optional<HitCurve> curve;  ///< unset: the trace has lengths only
};

/// Reads the trace that `scenario.workload.workload_from` names, if it is not there yet, and fills in what the workload
/// leaves open. False, with the reason, when it cannot be read.
[[nodiscard]] bool resolve_reuse(Scenario& scenario, Diagnostics& diagnostics);

/// Tokens of one pool that hold prompts, and the least that is left when none of the running ones is used again.
struct DeviceShare {
    Tokens prompts;
    Tokens idle;
};
/// Prompts of running requests are in the prefix cache like any other and are the most recent ones, so only what the
/// requests have generated, (E[O]/2)(1 + c^2) each, is lost to the cache. docs/method-trace.md compares with simulations.
[[nodiscard]] DeviceShare device_share(const Scenario& scenario, const Plan& plan);

/// Hit rates of the plan's caches; nothing without a trace that has blocks. Takes `plan` up to `concurrency`.
[[nodiscard]] std::optional<ReusePlan> plan_reuse(const Scenario& scenario, const Plan& plan);

/// `scenario` with the trace's hit rate for this plan, when none was given.
[[nodiscard]] Scenario with_hits(const Scenario& scenario, const Plan& plan);

/// When a host cache cannot pay for this trace.
[[nodiscard]] std::vector<Finding> reuse_findings(const Scenario& scenario, const Plan& plan);

}  // namespace kvplan::trace
