#pragma once

#include <optional>
#include <vector>

#include "planner/engines/engine.hpp"
#include "planner/plan.hpp"

namespace kvplan {

/// What a host offers a launch, by every limit that is known.
struct HostLimits {
    std::vector<HostBound> bounds;
    std::optional<Bytes> available;          // the least of the node's bounds, never below 0; unset: nothing is known
    HostLimit limited_by = HostLimit::unknown;
    Basis basis = Basis::measured;
    std::optional<Bytes> machine_available;  // as an engine inside a container sees it: the machine's, whatever the cgroup
};

/// Share of the RAM that is taken for in use by the system when only the total is known. The founding machine had 408 of
/// 449 GB available (9.1 % in use) before its launch; the schedulers of a public fleet hold back 1.6 to 6.5 %
/// (models/hardware/data/hosts.json).
inline constexpr double kAssumedSystemShare = 0.10;

/// ROCm refused to register one buffer of 531,470,745,600 B on a node with 3 TiB of RAM (SemiAnalysisAI/InferenceX pull
/// request 2146). The ceiling itself is not known, so all that is assumed is that a rank's pools must stay below it.
inline constexpr Bytes kRocmPageLockFailure{531'470'745'600};

/// `--host-available` is what is free before the launch; `--host-used` is what other servers on the host take beyond that.
/// A lock limit that was probed is no bound, because pinning by the NVIDIA driver is not counted against it; one that was
/// given is.
[[nodiscard]] HostLimits host_limits(const Scenario& scenario, const Parallelism& parallelism, const HostRules& rules);

}  // namespace kvplan
