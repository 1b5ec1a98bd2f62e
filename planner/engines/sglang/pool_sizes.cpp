#include "planner/engines/sglang/pool_sizes.hpp"

#include <algorithm>
#include <cmath>

#include "planner/engines/sglang/compressed.hpp"
#include "planner/engines/sglang/defaults.hpp"
#include "planner/engines/sglang/versions.hpp"
#include "planner/engines/sglang/window_pools.hpp"

namespace kvplan::sglang {
namespace {

double d(std::int64_t n) { return static_cast<double>(n); }
std::int64_t whole(double x) { return x <= 0 ? 0 : floor_bytes(x).count(); }

/// Between the budget division and the page rounding, old servers added room for drafted tokens.
std::int64_t draft_pad(const Scenario& scenario, std::int64_t tokens) {
    if (!draft_has_layers(scenario) || !in_force(Change::draft_slot_pad, rule_date(scenario.engine)) || tokens <= 0) return 0;
    const SpeculativeOptions& s = scenario.engine.speculative;
    const std::int64_t requests = asked_requests(scenario).value_or(estimated_requests(Tokens{tokens}, context_length(scenario)));
    return requests * (s.num_steps.value_or(1) * s.eagle_topk.value_or(1) + draft_tokens(scenario)) + 100;
}

/// Without a radix cache and with a given number of requests the window pool is sized by them (SWAChunkCap).
std::optional<std::int64_t> window_by_requests(const Scenario& scenario, const KvCells& cells) {
    const EngineOptions& e = scenario.engine;
    const bool applies = cells.window > 0 && !cells.compressed && e.disable_radix_cache && e.max_running_requests &&
                         chunked_prefill_size(scenario) > 0 && in_force(Change::swa_chunk_cap, rule_date(e));
    if (!applies) return std::nullopt;
    constexpr std::int64_t kEvictEvery = 128;
    const std::int64_t page = page_size(scenario), drafts = draft_tokens(scenario);
    const std::int64_t reserved = std::max(e.speculative.num_steps.value_or(1) * e.speculative.eagle_topk.value_or(1), drafts);
    const std::int64_t decode = drafts > 0 ? 2 * reserved : page;
    const std::int64_t window = window_tokens(*scenario.model), requests = *e.max_running_requests / parallelism(scenario).dp_attention;
    const std::int64_t one = window + kEvictEvery * std::max<std::int64_t>(1, drafts) + page + decode;
    const std::int64_t in_flight = e.disaggregation_mode == "decode" ? 0 : (e.disable_overlap_schedule ? 1 : 2) * chunked_prefill_size(scenario);
    return round_up(one * requests + in_flight + page, page);
}

struct StageResult {
    std::int64_t tokens = 0;
    std::optional<std::int64_t> slots, window;
    Bytes state;
    double rest = 0;
};

StageResult size_stage(const Scenario& scenario, const StageLoad& load, Bytes free, double fraction) {
    StageResult r;
    r.rest = d(free.count()) * fraction - d(load.budgeted.count()) - d(multimodal_reservation(scenario).count());
    if (scenario.calibration) r.rest += d(scenario.calibration->budget_shift.count());
    double left = r.rest;
    if (load.cells.state_per_slot.count() > 0) {
        const StatePool state = size_state(scenario, load.cells.state_per_slot, left);
        r.slots = state.slots;
        r.state = state.bytes;
    }
    if (load.cells.compressed) {
        r.state = request_state(scenario, load.layers, asked_requests(scenario).value_or(256) / parallelism(scenario).dp_attention);
    }
    left -= d(r.state.count());
    r.window = window_by_requests(scenario, load.cells);
    if (r.window) {
        const double cell = load.cells.full_budget + load.cells.draft_budget;
        r.tokens = cell > 0 ? whole((left - d(*r.window) * load.cells.window) / cell) : *r.window;
    } else if (load.cells.budget() > 0) {
        r.tokens = whole(left / load.cells.budget());
    }
    return r;
}

}  // namespace

Bytes multimodal_reservation(const Scenario& scenario) {
    const bool applies = scenario.model->vision && scenario.engine.enable_multimodal && in_force(Change::mm_reservation, rule_date(scenario.engine));
    return applies ? mebibytes(100) : Bytes{0};
}

StatePool size_state(const Scenario& scenario, Bytes per_slot, double rest) {
    const EngineOptions& e = scenario.engine;
    const RuleDate date = rule_date(e);
    const std::int64_t workers = parallelism(scenario).dp_attention, drafts = draft_has_layers(scenario) ? draft_tokens(scenario) : 0;
    const std::int64_t each = state_slots_per_request(e);
    const bool by_request = in_force(Change::mamba_intermediate_by_request, date);
    StatePool pool;
    if (e.max_mamba_cache_size) {
        pool.slots = *e.max_mamba_cache_size / workers;
    } else if (e.disable_radix_cache && e.max_running_requests) {
        pool.slots = *e.max_running_requests / workers;
    } else {
        const double rho = e.mamba_full_memory_ratio.value_or(0.9), size = d(per_slot.count());
        const double drafted = by_request ? d(drafts) / d(each) : d(drafts);
        double budget = rest * rho / (1 + rho);
        if (in_force(Change::mamba_pad_slot, date)) budget -= size * (1 + d(drafts));
        pool.slots = whole(budget / (size * (1 + drafted)));
    }
    std::int64_t drafting = by_request ? pool.slots / each : pool.slots;
    if (const auto asked = asked_requests(scenario); asked && by_request) drafting = std::min(drafting, *asked / workers);
    pool.bytes = per_slot * checked_add(pool.slots, checked_mul(drafting, drafts));
    return pool;
}

PoolSizes size_pools(const Scenario& scenario, const std::vector<StageLoad>& loads, Bytes free, double fraction) {
    PoolSizes sizes;
    std::optional<std::int64_t> tokens;
    for (const StageLoad& load : loads) {
        const StageResult r = size_stage(scenario, load, free, fraction);
        if (!tokens || r.rest < sizes.rest) sizes.rest = r.rest;
        if (!tokens || r.tokens < *tokens) {
            tokens = r.tokens;
            sizes.tightest = load.layers;
        }
        if (r.slots) sizes.state_slots = std::min(sizes.state_slots.value_or(*r.slots), *r.slots);
        if (r.window) sizes.window_tokens = Tokens{*r.window};
        sizes.state = std::max(sizes.state, r.state);
    }
    const std::int64_t parts = std::max<std::int64_t>(1, scenario.engine.decode_context_parallel);
    const Tokens page{checked_mul(page_size(scenario), parts)};
    std::int64_t t = tokens.value_or(0);
    t += draft_pad(scenario, t);
    if (scenario.engine.max_total_tokens) t = std::min(t, std::max<std::int64_t>(0, *scenario.engine.max_total_tokens));
    sizes.tokens = whole_pages(Tokens{t}, page);
    for (const StageLoad& load : loads) {
        const KvCells& c = load.cells;
        if (c.window > 0 && !sizes.window_tokens)
            sizes.window_tokens = whole_pages(Tokens{whole(d(sizes.tokens.count()) * c.ratio)}, page);
        const Bytes draft = bytes_for(sizes.tokens, BytesPerToken{c.draft});
        const Bytes kv = bytes_for(sizes.tokens, BytesPerToken{c.full}) + draft +
                         bytes_for(c.window > 0 ? sizes.window_tokens.value_or(Tokens{0}) : Tokens{0}, BytesPerToken{c.window});
        if (kv >= sizes.kv) {
            sizes.kv = kv;
            sizes.draft_kv = draft;
        }
    }
    sizes.requests = request_limits(scenario, sizes.tokens, sizes.state_slots);
    return sizes;
}

}  // namespace kvplan::sglang
