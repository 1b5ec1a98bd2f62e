#pragma once

#include "planner/plan.hpp"

namespace kvplan {

struct Rates {
    ThroughputPlan throughput;
    LatencyPlan latency;
};

/// Upper bounds of throughput and lower bounds of latency, with an expected value beside. Takes `plan` with everything
/// up to `concurrency` filled in. Null members where the workload or a hardware fact is unknown.
[[nodiscard]] Rates plan_throughput(const Scenario& scenario, const Plan& plan);

}  // namespace kvplan
