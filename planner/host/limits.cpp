#include "planner/host/limits.hpp"

#include <algorithm>

#include "models/hardware/gpu_spec.hpp"

namespace kvplan {
namespace {

Bytes not_negative(Bytes bytes) { return std::max(Bytes{0}, bytes); }

/// RAM of the machine that a launch may take by its own figures.
void add_machine(const HostOptions& host, HostLimits& limits) {
    const Bytes others = host.used.value_or(Bytes{0});
    if (host.available) {
        limits.machine_available = not_negative(*host.available - others);
        limits.bounds.push_back({HostLimit::available, *limits.machine_available, false, Basis::measured});
    } else if (host.ram) {
        const Bytes system = ceil_bytes(static_cast<double>(host.ram->count()) * kAssumedSystemShare);
        limits.machine_available = not_negative(*host.ram - system - others);
        limits.bounds.push_back({HostLimit::available, *limits.machine_available, false, Basis::assumed});
    }
    // MemAvailable leaves reserved huge pages out already; a total does not.
    if (host.ram && host.huge_pages_reserved && host.huge_pages_reserved->count() > 0) {
        const Bytes base = host.available ? *host.ram - others : *limits.machine_available;
        const Bytes left = not_negative(base - *host.huge_pages_reserved);
        limits.bounds.push_back({HostLimit::huge_pages, left, false, host.available ? Basis::exact : Basis::assumed});
        if (!host.available) limits.machine_available = left;
    }
}

/// Ranks are numbered in the order of the GPUs, and the GPUs are spread over the NUMA nodes in the same order, so the
/// first node holds the most ranks. The bound is what the node's RAM comes to when no rank may leave its NUMA node.
void add_numa(const HostOptions& host, const Parallelism& p, HostLimits& limits) {
    const std::int64_t nodes = host.numa_nodes.value_or(1);
    if (nodes < 2 || !limits.machine_available) return;
    const std::int64_t on_first = std::min(p.ranks_per_node, ceil_div(p.gpus_per_node, nodes));
    const double share = static_cast<double>(p.ranks_per_node) / static_cast<double>(nodes * on_first);
    if (share >= 1.0) return;
    const Bytes bytes = floor_bytes(static_cast<double>(limits.machine_available->count()) * share);
    limits.bounds.push_back({HostLimit::numa, bytes, false, Basis::assumed});
}

void add_pinning(const Scenario& scenario, HostLimits& limits) {
    const auto origin = scenario.origin.find("memlock");
    const bool probed = origin != scenario.origin.end() && origin->second == "probe";
    if (scenario.hardware.host.memlock && !probed) {
        limits.bounds.push_back({HostLimit::memlock, *scenario.hardware.host.memlock, true, Basis::measured});
    }
    if (scenario.gpu && scenario.gpu->vendor == GpuVendor::amd) {
        limits.bounds.push_back({HostLimit::page_lock_ceiling, kRocmPageLockFailure - Bytes{1}, true, Basis::assumed});
    }
}

}  // namespace

HostLimits host_limits(const Scenario& scenario, const Parallelism& parallelism, const HostRules& rules) {
    const HostOptions& host = scenario.hardware.host;
    HostLimits limits;
    add_machine(host, limits);
    if (rules.binds_numa) add_numa(host, parallelism, limits);
    if (host.cgroup_limit) {
        const Bytes left = not_negative(*host.cgroup_limit - host.cgroup_used.value_or(Bytes{0}));
        limits.bounds.push_back({HostLimit::cgroup, left, false, Basis::measured});
    }
    for (const HostBound& bound : limits.bounds) {
        if (limits.available && bound.bytes >= *limits.available) continue;
        limits.available = bound.bytes;
        limits.limited_by = bound.limit;
        limits.basis = bound.basis;
    }
    add_pinning(scenario, limits);
    if (rules.pool_in_shm && host.shm_size) limits.bounds.push_back({HostLimit::shm, *host.shm_size, false, Basis::measured});
    return limits;
}

}  // namespace kvplan
