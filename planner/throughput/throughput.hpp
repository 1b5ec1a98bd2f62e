#pragma once

#include <optional>

#include "planner/plan.hpp"

namespace kvplan {

struct Rates {
    ThroughputPlan throughput;
    LatencyPlan latency;
};

/// Upper bounds of throughput and lower bounds of latency, with an expected value beside. Takes `plan` with everything
/// up to `concurrency` filled in. Null members where the workload or a hardware fact is unknown.
[[nodiscard]] Rates plan_throughput(const Scenario& scenario, const Plan& plan);

/// Requests in flight when `request_rate` R come a second (open loop): Little's law n = R W(n), W(n) the expected time of a
/// request among n. Unset without a rate or request lengths, and when more come than n = admission gives out: the queue then
/// grows without end and n is the admission. Takes `plan` with everything up to `concurrency` filled in.
[[nodiscard]] std::optional<double> offered_concurrency(const Scenario& scenario, const Plan& plan);

}  // namespace kvplan
