#pragma once

#include "planner/plan.hpp"

namespace kvplan {

/// Seconds until a server answers. All rates are assumptions:
/// weights  - the node's share of the checkpoint from disk at 0.5, 2 or 7 GB/s (network disk, one NVMe, striped NVMe);
/// pinning  - a rank's host pools at 1, 3.2 or 5 GB/s, all ranks at once (ai-dynamo/dynamo issue 13710 measured 8 GiB in
///            2.7 s with the driver's own allocation, 0.92 s with 32 threads);
/// the rest - processes, communicators, graphs: 20, 60 or 240 s.
[[nodiscard]] Estimate<double> startup_seconds(const Scenario& scenario, const Plan& plan);

/// The watchdog of a start when none is known: the health check of the founding incident gave up after it.
inline constexpr double kDefaultStartupLimitSeconds = 600.0;

}  // namespace kvplan
