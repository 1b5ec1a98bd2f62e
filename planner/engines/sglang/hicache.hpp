#pragma once

#include "planner/engines/engine.hpp"
#include "planner/engines/sglang/pool_sizes.hpp"

namespace kvplan::sglang {

/// GPU memory of the page-first write-back: 64 pages of this rank's KV. 0 for other layouts or without a host cache.
[[nodiscard]] Bytes staging_bytes(const Scenario& scenario, const std::vector<StageLoad>& loads);

/// Host pools of one rank and of the node. Each pool has n = size 10^9 / bytes a slot, or ratio times the device's slots;
/// whole pages by floor, one page more since 2025-11-12. With a size each of KV, window and state pools gets that size;
/// index keys and drafts follow the KV pool's slots and come on top.
[[nodiscard]] HicachePlan host_pools(const Scenario& scenario, const KvCachePlan& kv_cache, const CapacityPlan& capacity);
[[nodiscard]] HostRules host_rules(const Scenario& scenario);

}  // namespace kvplan::sglang
