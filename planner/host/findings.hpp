#pragma once

#include <vector>

#include "planner/engines/engine.hpp"
#include "planner/plan.hpp"

namespace kvplan {

/// Findings about host memory, most severe first. Takes a plan that is complete up to `latency`.
///
/// error    hicache_exceeds_host_ram, hicache_exceeds_lock_limit, hicache_refused_by_engine, host_pool_exceeds_shm
/// warning  host_memory_unknown, host_memory_tight, host_ram_too_small, hicache_size_is_per_rank, hicache_window_empty,
///          hicache_not_larger_than_device, engine_check_blind, cgroup_limit_unseen, shm_small, startup_exceeds_watchdog
/// note     host_cache_no_concurrency, hicache_replicated_copies, hicache_power_of_two, hicache_indexer_beyond_size,
///          hicache_draft_beyond_size, hicache_size_per_pool, hicache_size_overrides_ratio, hicache_flags_without_effect, huge_pages_set_aside,
///          host_available_assumed, engine_counts_one_server, engine_check_refuses, memlock_probed, startup_may_exceed_watchdog
[[nodiscard]] std::vector<Finding> host_findings(const Scenario& scenario, const Plan& plan);
[[nodiscard]] std::vector<Finding> host_findings(const Scenario& scenario, const Plan& plan, const HostRules& rules);

}  // namespace kvplan
