#include "planner/host/memory.hpp"

#include <algorithm>

#include "models/hardware/gpu_spec.hpp"
#include "planner/host/limits.hpp"

namespace kvplan {
namespace {

// Resident memory of a rank's process without its pools: 5 to 10 GB, an assumption (no source measures it).
constexpr Bytes kProcessLow = gigabytes(5), kProcessHigh = gigabytes(10);
constexpr Bytes kProcessExpected{7'500'000'000};
constexpr Bytes kDefaultReserve = gibibytes(10);  // what SGLang's own check keeps free
constexpr std::int64_t kMostGigabytes = 1'000'000;
constexpr std::int64_t kRatioSteps = 100;

/// The largest n in [0, most] that `holds`, -1 when not even 0 does. `holds` must be true up to some n and false beyond;
/// `guess` only saves steps.
template <class Predicate>
std::int64_t largest_that_holds(std::int64_t guess, std::int64_t most, Predicate holds) {
    std::int64_t good = -1, bad = most + 1;  // holds(good), not holds(bad)
    std::int64_t step = 1;
    for (std::int64_t n = std::clamp<std::int64_t>(guess, 0, most); bad - good > 1; step *= 2) {
        if (holds(n)) {
            good = n;
            n = bad == most + 1 ? std::min(most, n + step) : good + (bad - good) / 2;
        } else {
            bad = n;
            n = good == -1 ? std::max<std::int64_t>(0, n - step) : good + (bad - good) / 2;
        }
    }
    return good;
}

/// Everything about one host that does not change with the size of the pools.
class Budget {
public:
    Budget(const HostPlan& plan) : plan_(&plan), fixed_(plan.process_bytes.high + plan.storage_bytes + plan.offloaded_weights_bytes + plan.device_bytes + plan.reserve_bytes) {}

    /// The limit that pools of this size pass, or `none`.
    [[nodiscard]] HostLimit passed_by(const HicachePlan& pools) const {
        for (const HostBound& bound : plan_->bounds) {
            if (bound.per_rank && pools.bytes_per_rank > bound.bytes) return bound.limit;
            if (bound.limit == HostLimit::shm && pools.bytes_per_node > bound.bytes) return bound.limit;
        }
        const bool fits = !plan_->available_bytes || pools.bytes_per_node + fixed_ <= *plan_->available_bytes;
        return fits ? HostLimit::none : plan_->limited_by;
    }

    /// Bytes that all pools of the node may take; negative when the processes alone are too large.
    [[nodiscard]] std::int64_t for_pools() const { return plan_->available_bytes->count() - fixed_.count(); }

private:
    const HostPlan* plan_;
    Bytes fixed_;
};

EngineOptions with_size(EngineOptions options, HostRules::SizeFlag flag, std::int64_t size) {
    options.hicache.enabled = true;
    if (flag == HostRules::SizeFlag::kv_offloading_size && options.lmcache_max_local_cpu_gb) {
        options.lmcache_max_local_cpu_gb = static_cast<double>(size);
    } else if (flag == HostRules::SizeFlag::kv_offloading_size) {
        options.kv_offloading_size_gib = static_cast<double>(size);
    } else {
        options.hicache.size_gb = size;
    }
    return options;
}

EngineOptions with_ratio(EngineOptions options, std::int64_t hundredths) {
    options.hicache.enabled = true;
    options.hicache.size_gb.reset();
    options.hicache.ratio = static_cast<double>(hundredths) / kRatioSteps;
    return options;
}

std::int64_t guess_from(std::int64_t budget, Bytes one) {
    if (budget <= 0 || one.count() <= 0) return 0;
    return std::min(kMostGigabytes, budget / one.count());
}

struct Search {
    const Scenario& scenario;
    const HostRules& rules;
    const HostPoolsAt& pools_at;
    Budget budget;

    [[nodiscard]] HicachePlan at_size(std::int64_t n) const {
        if (n == 0) return {};  // a size of 0 means "not given" to the engine
        return pools_at(with_size(scenario.engine, rules.size_flag, n));
    }
    [[nodiscard]] HicachePlan at_ratio(std::int64_t hundredths) const {
        if (hundredths == 0) return {};
        return pools_at(with_ratio(scenario.engine, hundredths));
    }
    [[nodiscard]] bool fits(const HicachePlan& pools) const { return budget.passed_by(pools) == HostLimit::none; }
};

/// The largest whole size, its pools, and what the next larger one would pass.
void search_size(const Search& search, HostPlan::SafeMax& safe) {
    if (search.rules.size_flag == HostRules::SizeFlag::none) return;
    const HicachePlan one = search.at_size(1);
    if (one.bytes_per_node.count() <= 0 && search.at_size(kMostGigabytes).bytes_per_node.count() <= 0) return;  // not by this flag
    const std::int64_t guess = guess_from(search.budget.for_pools(), one.bytes_per_node);
    const std::int64_t best = std::max<std::int64_t>(
        0, largest_that_holds(guess, kMostGigabytes, [&](std::int64_t n) { return search.fits(search.at_size(n)); }));
    if (search.rules.size_flag == HostRules::SizeFlag::kv_offloading_size && search.scenario.engine.lmcache_max_local_cpu_gb) {
        safe.lmcache_size_gb = best;
    } else if (search.rules.size_flag == HostRules::SizeFlag::kv_offloading_size) {
        safe.kv_offloading_size_gib = best;
    } else {
        safe.hicache_size_gb = best;
    }
    safe.bytes_per_rank = search.at_size(best).bytes_per_rank;
    safe.limited_by = search.budget.passed_by(search.at_size(best + 1));
}

void search_ratio(const Search& search, HostPlan::SafeMax& safe) {
    if (!search.rules.ratio_flag) return;
    const HicachePlan one = search.at_ratio(kRatioSteps);
    if (one.bytes_per_node.count() <= 0) return;
    const std::int64_t guess = guess_from(search.budget.for_pools(), Bytes{std::max<std::int64_t>(1, one.bytes_per_node.count() / kRatioSteps)});
    const std::int64_t best = std::max<std::int64_t>(
        0, largest_that_holds(guess, kMostGigabytes, [&](std::int64_t n) { return search.fits(search.at_ratio(n)); }));
    safe.hicache_ratio = static_cast<double>(best) / kRatioSteps;
    if (search.rules.size_flag != HostRules::SizeFlag::none) return;
    safe.bytes_per_rank = search.at_ratio(best).bytes_per_rank;
    safe.limited_by = search.budget.passed_by(search.at_ratio(best + 1));
}

/// With write-through every token of the device pool is in the host pool too, so a host pool that is no larger holds
/// nothing that the device does not.
std::optional<HostPlan::MinUseful> min_useful(const Search& search, const Plan& plan) {
    const Estimate<Tokens>& device = plan.capacity.max_total_num_tokens;
    const Tokens most = std::max(device.expected, device.high);
    const bool inclusive = search.scenario.engine.hicache.write_policy != "write_back";
    if (search.rules.size_flag != HostRules::SizeFlag::hicache_size || most.count() <= 0) return std::nullopt;
    if (!inclusive && !search.rules.refuses_smaller_than_device) return std::nullopt;
    const HicachePlan one = search.at_size(1);
    if (one.tokens.count() <= 0) return std::nullopt;
    const std::int64_t guess = most.count() / one.tokens.count();
    const std::int64_t too_small = largest_that_holds(guess, kMostGigabytes, [&](std::int64_t n) { return search.at_size(n).tokens <= most; });
    HostPlan::MinUseful result;
    result.hicache_size_gb = too_small + 1;
    result.reason = search.rules.refuses_smaller_than_device ? "engine_refuses_smaller" : "write_through_inclusive";
    return result;
}

/// Whether the check of the engine stops this launch: every rank compares each of its pools with the machine's free RAM
/// (a share of it in newer versions), before anything of it is resident and without looking at the cgroup.
bool own_check_refuses(const Scenario& scenario, const Plan& plan, const HostRules& rules, Bytes machine_available) {
    if (!rules.check_reserve) return false;
    const Parallelism& p = plan.parallelism;
    const std::int64_t ranks = std::min(p.ranks_per_node, ceil_div(p.ranks_per_replica, std::max<std::int64_t>(1, p.nodes)));
    const Bytes free = machine_available - *rules.check_reserve;
    const std::int64_t share = floor_div(free.count(), rules.check_divides_by_ranks ? std::max<std::int64_t>(1, ranks) : 1);
    for (const HicachePool& pool : plan.hicache.pools) {
        // The check does not know of rounding that happens when the pages are pinned.
        std::int64_t asked = pool.bytes_per_rank.count();
        if (scenario.engine.hicache.size_gb) asked = std::min(asked, checked_mul(*scenario.engine.hicache.size_gb, kGB));
        if (asked > share) return true;
    }
    return false;
}

/// `high`: the host pools at the high end of the device pool.
void fill_costs(const Scenario& scenario, const Plan& plan, const HicachePlan& high, HostPlan& host) {
    const std::int64_t ranks = plan.parallelism.ranks_per_node;
    host.ranks_per_node = ranks;
    host.reserve_bytes = scenario.hardware.host.reserve.value_or(kDefaultReserve);
    host.process_bytes = {kProcessLow * ranks, kProcessExpected * ranks, kProcessHigh * ranks, Basis::assumed};
    host.offloaded_weights_bytes = ceil_bytes(scenario.engine.cpu_offload_gb * static_cast<double>(kGiB)) * ranks;
    // One memory for both: what the GPU's side takes is missing on the host's.
    if (plan.hicache.enabled && scenario.gpu && scenario.gpu->unified_memory)
        host.device_bytes = (plan.gpu.weights_bytes + plan.gpu.kv_pool_bytes + plan.gpu.state_pool_bytes) * ranks;
    host.pools_high_bytes_per_rank = high.bytes_per_rank;
    if (plan.hicache.storage) host.storage_bytes = plan.hicache.storage->host_bytes_per_node;
    const Bytes fixed = host.storage_bytes + host.offloaded_weights_bytes + host.device_bytes + host.reserve_bytes;
    host.required_bytes = plan.hicache.bytes_per_node + fixed + host.process_bytes.expected;
    host.required_high_bytes = high.bytes_per_node + fixed + host.process_bytes.high;
}

}  // namespace

HostPlan plan_host_memory(const Scenario& scenario, const Plan& plan, const HostRules& rules, const HostPoolsAt& pools_at) {
    HostPlan host;
    HicachePlan high = plan.hicache.enabled ? pools_at(scenario.engine) : plan.hicache;
    if (high.bytes_per_rank < plan.hicache.bytes_per_rank) high = plan.hicache;
    fill_costs(scenario, plan, high, host);
    HostLimits limits = host_limits(scenario, plan.parallelism, rules);
    host.bounds = std::move(limits.bounds);
    host.available_bytes = limits.available;
    host.available_basis = limits.basis;
    host.limited_by = limits.limited_by;

    const Search search{scenario, rules, pools_at, Budget(host)};
    host.min_useful = min_useful(search, plan);
    const bool within = search.fits(high);
    if (!host.available_bytes) {
        if (!within) host.safe = false;  // a limit that is known is passed whatever the rest
        return host;
    }

    host.headroom_bytes = std::max(Bytes{0}, *host.available_bytes - host.required_bytes);
    host.shortfall_bytes = std::max(Bytes{0}, host.required_bytes - *host.available_bytes);
    host.safe = within;
    HostPlan::SafeMax safe;
    search_size(search, safe);
    search_ratio(search, safe);
    if (safe.hicache_size_gb || safe.hicache_ratio || safe.kv_offloading_size_gib || safe.lmcache_size_gb) host.safe_max = safe;
    if (plan.hicache.enabled && host.required_high_bytes > *host.available_bytes && limits.machine_available) {
        host.engine_check_catches = own_check_refuses(scenario, plan, rules, *limits.machine_available);
    }
    return host;
}

}  // namespace kvplan
