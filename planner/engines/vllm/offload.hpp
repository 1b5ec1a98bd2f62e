#pragma once

#include "planner/engines/engine.hpp"

namespace kvplan::vllm {

/// Host KV. `--kv-offloading-size` X is GiB in total over a server's ranks (vllm/config/cache.py):
///     chunk  = round_up(bytes of one block on a rank x copies, 4096)      copies: ranks, or 1 for latents since 2026-07-26
///     chunks = floor(X 2^30 / chunk), each of one block's tokens
/// LMCACHE_MAX_LOCAL_CPU_SIZE is GB of 2^30 per rank (50 "GB" hold 409,600 tokens of 131,072 B: LMCache issue 2901).
[[nodiscard]] HicachePlan host_pools(const Scenario& scenario, const KvCachePlan& kv_cache, const CapacityPlan& capacity);
[[nodiscard]] HostRules host_rules(const Scenario& scenario);

}  // namespace kvplan::vllm
