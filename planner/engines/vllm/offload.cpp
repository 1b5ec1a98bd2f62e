#include "planner/engines/vllm/offload.hpp"

#include <algorithm>

#include "planner/engines/vllm/defaults.hpp"
#include "planner/engines/vllm/kv_layout.hpp"
#include "planner/engines/vllm/stages.hpp"
#include "planner/engines/vllm/versions.hpp"

namespace kvplan::vllm {
namespace {

constexpr std::int64_t kChunkStep = 4096;

bool by_lmcache(const EngineOptions& engine) {
    return engine.lmcache_max_local_cpu_gb.has_value() || (engine.kv_offloading_backend == "lmcache" && engine.kv_offloading_size_gib.has_value());
}

KvLayout widest_layout(const Scenario& scenario) {
    KvLayout widest;
    for (const StageLayers& stage : stages(scenario)) {
        KvLayout layout = kv_layout(scenario, stage);
        if (layout.block_bytes > widest.block_bytes) widest = std::move(layout);
    }
    return widest;
}

/// Tokens of the longest requests that `blocks` of all groups hold.
Tokens tokens_of(const KvLayout& layout, const Scenario& scenario, std::int64_t blocks) {
    if (layout.groups == 1) return Tokens{checked_mul(blocks, layout.block * std::max<std::int64_t>(1, scenario.engine.decode_context_parallel))};
    const std::int64_t length = max_model_len(scenario);
    return Tokens{blocks * length / std::max<std::int64_t>(1, blocks_per_request(layout, scenario, length))};
}

Bytes next_power_of_two(Bytes bytes) {
    std::int64_t power = 1;
    while (power < bytes.count()) power = checked_mul(power, 2);
    return Bytes{power};
}

bool single_copy(const Scenario& scenario, const KvCachePlan& kv) {
    const Parallelism p = parallelism(scenario);
    return kv.latent && in_force(Change::offload_single_latent, scenario.engine) && p.nodes == 1 && p.pp == 1;
}

HicachePlan native_pools(const Scenario& scenario, const KvCachePlan& kv) {
    const Parallelism p = parallelism(scenario);
    const KvLayout layout = widest_layout(scenario);
    HicachePlan plan;
    plan.enabled = true;
    if (layout.block_bytes.count() <= 0) return plan;
    const std::int64_t copies = single_copy(scenario, kv) ? 1 : p.ranks_per_replica;
    const Bytes total = nearest_bytes(*scenario.engine.kv_offloading_size_gib * static_cast<double>(kGiB));
    const std::int64_t chunk = round_up(checked_mul(layout.block_bytes.count(), copies), kChunkStep);
    const std::int64_t chunks = total.count() / chunk;
    plan.tokens = tokens_of(layout, scenario, chunks);
    Bytes per_rank{ceil_div(checked_mul(chunks, chunk), p.ranks_per_replica)};
    if (!in_force(Change::offload_shared_file, scenario.engine) && chunks > 0) {
        // Pinned tensors of one layer each, rounded up by the allocator.
        std::int64_t layers = 0;
        for (const LayerSpec& s : layout.specs) layers = std::max(layers, ceil_div(s.layers, s.groups));
        per_rank = next_power_of_two(Bytes{ceil_div(checked_mul(chunks, layout.block_bytes.count()), layers)}) * layers;
    }
    plan.bytes_per_rank = per_rank;
    plan.replication = copies == 1 ? 1 : kv.latent ? p.tp : kv.kv_head_replication;
    return plan;
}

HicachePlan lmcache_pools(const Scenario& scenario, const KvCachePlan& kv) {
    const Parallelism p = parallelism(scenario);
    const EngineOptions& engine = scenario.engine;
    HicachePlan plan;
    plan.enabled = true;
    double gib = 0;
    if (engine.lmcache_max_local_cpu_gb) gib = *engine.lmcache_max_local_cpu_gb;
    // The flag was dealt out over the ranks; a server of its own has its own --l1-size-gb.
    else if (!in_force(Change::lmcache_server, engine)) gib = *engine.kv_offloading_size_gib / static_cast<double>(p.ranks_per_replica);
    plan.bytes_per_rank = nearest_bytes(gib * static_cast<double>(kGiB));
    double per_token = kv.bytes_per_token.value;
    for (const KvGroup& g : kv.groups)
        if (g.own_window_pool) per_token += g.bytes_per_token.value;   // LMCache stores every layer's whole request
    if (per_token > 0) plan.tokens = tokens_in(plan.bytes_per_rank, BytesPerToken{per_token});
    plan.replication = kv.latent ? p.tp : kv.kv_head_replication;
    return plan;
}

}  // namespace

HicachePlan host_pools(const Scenario& scenario, const KvCachePlan& kv_cache, const CapacityPlan& /*capacity*/) {
    const EngineOptions& engine = scenario.engine;
    if (!by_lmcache(engine) && !engine.kv_offloading_size_gib) return {};
    HicachePlan plan = by_lmcache(engine) ? lmcache_pools(scenario, kv_cache) : native_pools(scenario, kv_cache);
    const Parallelism p = parallelism(scenario);
    if (plan.bytes_per_rank.count() > 0) plan.pools.push_back({"kv", plan.bytes_per_rank, plan.tokens});
    plan.bytes_per_node = plan.bytes_per_rank * p.ranks_per_node;
    const std::int64_t servers = std::max<std::int64_t>(1, p.ranks_per_node / p.ranks_per_replica);
    plan.distinct_tokens = plan.tokens * servers;
    return plan;
}

HostRules host_rules(const Scenario& scenario) {
    HostRules rules;
    const EngineOptions& engine = scenario.engine;
    // LMCache's own size is a variable, whatever flags the engine has.
    if (in_force(Change::offload_size_flag, engine) || engine.lmcache_max_local_cpu_gb) rules.size_flag = HostRules::SizeFlag::kv_offloading_size;
    rules.pool_in_shm = in_force(Change::offload_shared_file, engine) && !by_lmcache(engine);
    rules.pins_power_of_two = !rules.pool_in_shm && !by_lmcache(engine);
    return rules;
}

}  // namespace kvplan::vllm
