#include "planner/engines/sglang/hicache.hpp"

#include <algorithm>
#include <cmath>

#include "planner/engines/sglang/defaults.hpp"
#include "planner/engines/sglang/stages.hpp"
#include "planner/engines/sglang/storage.hpp"
#include "planner/engines/sglang/versions.hpp"

namespace kvplan::sglang {
namespace {

double d(std::int64_t n) { return static_cast<double>(n); }

/// Bytes of one token in one stage's host pools: the main pool, its index keys, the draft's own pool.
struct HostCells {
    double main = 0, index = 0, draft = 0;
};

HostCells host_cells(const Scenario& scenario, const KvCells& cells) {
    const RuleDate date = rule_date(scenario.engine);
    HostCells host;
    for (const KvGroup& g : cells.groups) {
        if (g.own_window_pool || g.kind == KvGroupKind::linear_state || g.kind == KvGroupKind::draft) continue;
        const bool keys = g.kind == KvGroupKind::indexer || g.kind == KvGroupKind::sparse_index;
        (keys ? host.index : host.main) += g.bytes_per_token.value;
    }
    if (cells.draft > 0 && in_force(Change::draft_host_pool, date)) {
        // MTP layers of the checkpoint are packed into the main pool; a drafter of its own keeps its own pool.
        const bool packed = in_force(Change::draft_packed_host_pool, date) && !scenario.draft_model && scenario.model->draft;
        double draft = cells.draft;
        if (!scenario.draft_model && scenario.model->draft) {  // logs show no index keys for an MTP layer
            if (const auto* latent = std::get_if<LatentAttention>(&scenario.model->draft->layer.attention))
                draft = bytes_per_token(*latent, scenario, false) * d(scenario.model->draft->layers);
        }
        (packed ? host.main : host.draft) += draft;
    }
    return host;
}

/// The stage with most bytes a token, since a fixed size holds fewest tokens there.
KvCells widest_stage(const Scenario& scenario) {
    KvCells widest;
    bool first = true;
    for (const StageLayers& stage : stages(scenario)) {
        KvCells cells = kv_cells(scenario, stage);
        if (first || cells.allocated() + cells.window > widest.allocated() + widest.window) widest = std::move(cells);
        first = false;
    }
    return widest;
}

std::optional<Bytes> host_memory(const HostOptions& host) {
    std::optional<Bytes> memory = host.available ? host.available : host.ram;
    if (host.cgroup_limit) {
        const Bytes left = *host.cgroup_limit - host.cgroup_used.value_or(Bytes{0});
        memory = memory ? std::min(*memory, left) : left;
    }
    return memory;
}

/// The ratio that is in force: given, 2.0, or (neither given, since 2026-09-18) what 0.8 of the host's memory allows.
double effective_ratio(const Scenario& scenario, double device_bytes) {
    const HicacheOptions& h = scenario.engine.hicache;
    if (h.ratio) return *h.ratio;
    if (h.size_gb || !in_force(Change::hicache_auto_size, rule_date(scenario.engine)) || device_bytes <= 0) return 2.0;
    const auto memory = host_memory(scenario.hardware.host);
    if (!memory) return 2.0;
    const double share = d(memory->count()) * h.host_memory_fraction.value_or(0.8) / d(parallelism(scenario).ranks_per_node);
    return std::min(2.0, share * 0.95 / device_bytes);
}

/// Before the exact pinning, PyTorch's pinned allocator gave each block the next power of two.
Bytes pinned(Bytes bytes, bool exactly) {
    if (exactly) return bytes;
    Bytes block{1};
    while (block < bytes) block += block;
    return block;
}

class Pools {
public:
    explicit Pools(const Scenario& scenario) : exactly_(in_force(Change::host_pool_exact_pinning, rule_date(scenario.engine))) {}
    void add(std::string_view name, double bytes_per_slot, std::int64_t slots) {
        if (bytes_per_slot <= 0 || slots <= 0) return;
        plan.pools.push_back({name, pinned(ceil_bytes(bytes_per_slot * d(slots)), exactly_), Tokens{slots}});
        plan.bytes_per_rank += plan.pools.back().bytes_per_rank;
    }
    HicachePlan plan;

private:
    bool exactly_;
};

std::int64_t slots_for(const Scenario& scenario, double bytes, double device_slots, double ratio, std::int64_t page) {
    const HicacheOptions& h = scenario.engine.hicache;
    const bool by_size = h.size_gb && *h.size_gb > 0;
    const double wanted = by_size ? std::floor(d(checked_mul(*h.size_gb, kGB)) / bytes) : std::floor(device_slots * ratio);
    const std::int64_t n = wanted > 0 ? floor_bytes(wanted).count() : 0;
    return in_force(Change::host_pool_extra_page, rule_date(scenario.engine)) ? (n / page + 1) * page : n - n % page;
}

bool page_first(const Scenario& scenario) {
    const HicacheOptions& h = scenario.engine.hicache;
    if (!h.mem_layout.empty()) return h.mem_layout.rfind("page_first", 0) == 0;
    return in_force(Change::page_first_default, rule_date(scenario.engine)) || h.storage_backend == "mooncake";
}

}  // namespace

Bytes staging_bytes(const Scenario& scenario, const std::vector<StageLoad>& loads) {
    const HicacheOptions& h = scenario.engine.hicache;
    const bool kernel = h.io_backend.empty() || h.io_backend == "kernel";
    if (!h.enabled || !page_first(scenario) || !kernel) return Bytes{0};
    double widest = 0;
    for (const StageLoad& load : loads) widest = std::max(widest, load.cells.full);
    return ceil_bytes(64 * d(page_size(scenario)) * widest);
}

HicachePlan host_pools(const Scenario& scenario, const KvCachePlan& kv_cache, const CapacityPlan& capacity) {
    if (!scenario.engine.hicache.enabled) {
        HicachePlan none;
        none.storage = storage_tier(scenario, 0, 1, kv_cache.latent);
        return none;
    }
    const Parallelism p = parallelism(scenario);
    const KvCells cells = widest_stage(scenario);
    const HostCells host = host_cells(scenario, cells);
    const double device = d(capacity.max_total_num_tokens.expected.count());
    const double window = capacity.swa_tokens ? d(capacity.swa_tokens->count()) : 0, slots = d(capacity.state_slots.value_or(0));
    const std::int64_t page = kv_cache.page_size.count();
    const double state = d(cells.state_per_slot.count());
    const double device_bytes = device * (host.main + host.index + host.draft) + window * cells.window + slots * state;
    const double ratio = effective_ratio(scenario, device_bytes);

    Pools pools(scenario);
    pools.plan.enabled = true;
    const std::int64_t n = host.main > 0 ? slots_for(scenario, host.main, device, ratio, page) : 0;
    pools.plan.tokens = Tokens{n};
    if (cells.compressed) {
        pools.add("c4", cells.compressed->c4, n);
        pools.add("c128", cells.compressed->c128, n);
    } else {
        pools.add("kv", host.main, n);
    }
    pools.add(kv_cache.latent ? "dsa_indexer" : "sparse_index", host.index, n);
    pools.add("draft", host.draft, n);
    if (cells.window > 0) pools.add("swa", cells.window, slots_for(scenario, cells.window, window, ratio, page));
    if (state > 0) pools.add("mamba", state, slots_for(scenario, state, slots, ratio, 1));

    HicachePlan& plan = pools.plan;
    plan.bytes_per_node = plan.bytes_per_rank * p.ranks_per_node;
    // Ranks of one attention group hold the same tokens; a latent is the same on all of them.
    const std::int64_t group = std::max<std::int64_t>(1, p.ranks_per_replica / p.dp_attention);
    plan.distinct_tokens = plan.tokens * std::max<std::int64_t>(1, p.ranks_per_node / group);
    plan.replication = kv_cache.latent ? std::min(p.attention_tp, p.ranks_per_node) : kv_cache.kv_head_replication;
    plan.storage = storage_tier(scenario, host.main, page, kv_cache.latent);
    StageLoad load;
    load.cells = cells;
    plan.gpu_staging_bytes = staging_bytes(scenario, {load});
    return plan;
}

HostRules host_rules(const Scenario& scenario) {
    HostRules rules;
    const RuleDate date = rule_date(scenario.engine);
    rules.size_flag = is_compressed(*scenario.model) ? HostRules::SizeFlag::none : HostRules::SizeFlag::hicache_size;
    rules.ratio_flag = true;
    rules.check_reserve = gibibytes(10);
    rules.check_divides_by_ranks = in_force(Change::host_check_by_rank, date);
    rules.refuses_smaller_than_device = !in_force(Change::host_smaller_allowed, date);
    rules.binds_numa = in_force(Change::numa_binding, date);
    rules.pins_power_of_two = !in_force(Change::host_pool_exact_pinning, date);
    return rules;
}

}  // namespace kvplan::sglang
