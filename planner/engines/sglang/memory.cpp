#include "planner/engines/sglang/memory.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "planner/engines/sglang/compressed.hpp"
#include "planner/engines/sglang/defaults.hpp"
#include "planner/engines/sglang/gpu_facts.hpp"
#include "planner/engines/sglang/stages.hpp"
#include "planner/engines/sglang/versions.hpp"
#include "planner/free_before_load.hpp"

namespace kvplan::sglang {
namespace {

double d(Bytes b) { return static_cast<double>(b.count()); }

Bytes sum(const std::vector<Need>& list, Bytes Estimate<Bytes>::* end, bool (*take)(const Need&)) {
    Bytes total;
    for (const Need& need : list)
        if (take(need)) total += need.bytes.*end;
    return total;
}
bool before_graphs(const Need& need) { return need.before_graphs; }
bool at_start(const Need& need) { return !need.after_start; }

Bytes largest(const std::vector<StageLoad>& loads, Bytes StageLoad::* which) {
    Bytes most;
    for (const StageLoad& load : loads) most = std::max(most, load.*which);
    return most;
}

/// Bytes of the smallest useful pool: one page, and the state that one request holds.
double least_pool(const Scenario& scenario, const StageLoad& load) {
    const std::int64_t page = page_size(scenario) * std::max<std::int64_t>(1, scenario.engine.decode_context_parallel);
    double bytes = std::ceil(static_cast<double>(page) * load.cells.budget()) + d(multimodal_reservation(scenario));
    if (load.cells.compressed) bytes += d(request_state(scenario, load.layers, 1));
    if (load.cells.state_per_slot.count() > 0) {
        // The state takes rho of (1 + rho) parts, so both parts have to be large enough.
        const double rho = scenario.engine.mamba_full_memory_ratio.value_or(0.9);
        const double state = d(load.cells.state_per_slot) * static_cast<double>(state_slots_per_request(scenario.engine));
        bytes = std::max(bytes + state, scenario.engine.max_mamba_cache_size ? 0.0 : state * (1 + rho) / rho);
    }
    return bytes;
}

/// How much of each need is provided for.
enum class Care { least, usual, ample };

/// What stays free in the end, as a function of the fraction.
class Room {
public:
    Room(const Scenario& scenario, const std::vector<StageLoad>& loads, Bytes free)
        : scenario_(scenario), loads_(loads), free_(free), fixed_(fixed_need(scenario, loads)), weights_(largest(loads, &StageLoad::weights)) {}

    [[nodiscard]] double left(double f, Care care) const {
        const PoolSizes sizes = size_pools(scenario_, loads_, free_, f);
        const Estimate<Bytes> sized = sized_need(scenario_, sizes);
        double needed = care == Care::least ? d(fixed_.low + sized.low) : d(fixed_.expected + sized.expected);
        if (care == Care::ample) needed = (needed + d(fixed_.high + sized.high)) / 2;
        return d(free_) - d(weights_) - d(sizes.kv) - d(sizes.state) - needed;
    }

private:
    const Scenario& scenario_;
    const std::vector<StageLoad>& loads_;
    Bytes free_;
    Estimate<Bytes> fixed_;
    Bytes weights_;
};

/// The largest fraction in thousandths within [from, 0.999] that leaves something; pools only grow with f. What is left is
/// nearly linear in f, so the place where it ends is guessed first and halved only where guesses fail.
std::optional<double> largest_fraction(const Room& room, double from, Care care) {
    int low = static_cast<int>(std::ceil(from * 1000)), high = 999;
    const auto left = [&](int thousandths) { return room.left(thousandths / 1000.0, care); };
    if (low > high) return std::nullopt;
    double at_low = left(low), at_high = left(high);
    if (at_low < 0) return std::nullopt;
    if (at_high >= 0) return high / 1000.0;
    constexpr int kGuesses = 4;
    for (int round = 0; high - low > 1; ++round) {
        const double share = at_low / (at_low - at_high);
        const int middle = round < kGuesses ? low + std::clamp(static_cast<int>(share * (high - low)), 1, high - low - 1) : (low + high) / 2;
        const double here = left(middle);
        if (here >= 0) low = middle, at_low = here;
        else high = middle, at_high = here;
    }
    return low / 1000.0;
}

}  // namespace

namespace {

// Of loads with their cells: the weights of each stage, moved by `shift`.
std::vector<StageLoad> with_weights(const Scenario& scenario, std::vector<StageLoad> loads, const WeightsPlan& weights, Bytes shift) {
    const bool draft_budgeted = in_force(Change::draft_in_budget, rule_date(scenario.engine));
    for (std::size_t i = 0; i < loads.size(); ++i) {
        StageLoad& load = loads[i];
        const Bytes expected = i < weights.stage_bytes.size() ? weights.stage_bytes[i] : weights.bytes_per_rank.expected;
        load.weights = std::max(Bytes{0}, expected + shift);
        load.budgeted = load.weights;
        // Old servers loaded drafts after the pools were sized.
        if (!draft_budgeted && i + 1 == loads.size()) load.budgeted -= std::min(load.weights, weights.draft_bytes);
    }
    return loads;
}

}  // namespace

std::vector<StageLoad> stage_loads(const Scenario& scenario, const WeightsPlan& weights, Bytes shift) {
    std::vector<StageLoad> loads;
    for (const StageLayers& layers : stages(scenario)) {
        loads.emplace_back();
        loads.back().layers = layers;
        loads.back().cells = kv_cells(scenario, layers);
    }
    return with_weights(scenario, std::move(loads), weights, shift);
}

FeasibleFractions feasible_fractions(const Scenario& scenario, const std::vector<StageLoad>& loads, Bytes free) {
    FeasibleFractions result;
    if (free.count() <= 0) return result;
    double least = 0;
    for (const StageLoad& load : loads) least = std::max(least, (d(load.budgeted) + least_pool(scenario, load)) / d(free));
    if (least >= 1) return result;
    const Room room(scenario, loads, free);
    const auto max = largest_fraction(room, least, Care::least);
    if (!max) return result;
    result.min = least;
    result.max = std::max(*max, least);
    // Ample room first; where memory is short, what is usual; at the worst what just fits.
    for (const Care care : {Care::ample, Care::usual, Care::least}) {
        result.recommended = largest_fraction(room, least, care);
        if (result.recommended) break;
    }
    result.recommended = std::min(result.recommended.value_or(*result.max), *result.max);
    return result;
}

namespace {

/// The waterfall's closing: weights + pools + slack - shortfall = free.
/// `lacking`: of the stage that lacks most, what its budget is short of weights and the smallest pool.
void close_waterfall(GpuPlan& gpu, const PoolSizes& sizes, Bytes free, double lacking) {
    if (sizes.tokens.count() > 0) {
        const Bytes rest = free - gpu.weights_bytes - gpu.kv_pool_bytes - gpu.state_pool_bytes;
        gpu.slack_bytes = std::max(Bytes{0}, rest);
        gpu.shortfall_bytes = gpu.slack_bytes - rest;
        return;
    }
    gpu.kv_pool_bytes = gpu.state_pool_bytes = Bytes{0};
    gpu.shortfall_bytes = std::max({Bytes{1}, ceil_bytes(std::max(0.0, lacking)), gpu.weights_bytes - free});
    gpu.slack_bytes = free - gpu.weights_bytes + gpu.shortfall_bytes;
}

/// What is left in the end.
Estimate<Bytes> left_after(Bytes free, const Estimate<Bytes>& pre, const GpuPlan& gpu, const std::vector<Need>& list, bool (*take)(const Need&),
                           Bytes late) {
    const Bytes used = gpu.weights_bytes + gpu.kv_pool_bytes + gpu.state_pool_bytes - late;
    const auto left = [&](Bytes need) { return std::max(Bytes{0}, free - used - need); };
    Estimate<Bytes> e{left(sum(list, &Estimate<Bytes>::high, take)), left(sum(list, &Estimate<Bytes>::expected, take)),
                      left(sum(list, &Estimate<Bytes>::low, take)), weaker(pre.basis, Basis::assumed)};
    return e;
}

MemFraction fraction_of(const Scenario& scenario) {
    MemFraction f;
    if (scenario.engine.mem_fraction_static) {
        f.value = scenario.engine.mem_fraction_static->value;
        f.source = FractionSource::flag;
    } else {
        f.value = default_fraction(scenario).value;
        f.source = FractionSource::engine_default;
    }
    return f;
}

}  // namespace

PoolPlan pools(const Scenario& scenario, const WeightsPlan& weights) {
    const Estimate<Bytes> pre = free_before_load(scenario);
    const Parallelism ranks = parallelism(scenario);
    const auto& w = weights.bytes_per_rank;
    PoolPlan plan;
    GpuPlan& gpu = plan.gpu;
    gpu.total_bytes = std::max(gpu_facts(scenario).total, pre.high);
    gpu.free_before_load_bytes = pre;
    gpu.mem_fraction = fraction_of(scenario);
    const double f = gpu.mem_fraction.value;
    const std::vector<StageLoad> loads = stage_loads(scenario, weights, Bytes{0});
    const PoolSizes sizes = size_pools(scenario, loads, pre.expected, f);
    const PoolSizes low = size_pools(scenario, with_weights(scenario, loads, weights, w.high - w.expected), pre.low, f);
    const PoolSizes high = size_pools(scenario, with_weights(scenario, loads, weights, w.low - w.expected), pre.high, f);
    gpu.budget_bytes = floor_bytes(d(pre.expected) * f);
    gpu.weights_bytes = largest(loads, &StageLoad::weights);
    gpu.kv_pool_bytes = sizes.kv;
    gpu.state_pool_bytes = sizes.state;
    double lacking = 0;
    for (const StageLoad& load : loads) lacking = std::max(lacking, d(load.budgeted) + least_pool(scenario, load) - d(pre.expected) * f);
    close_waterfall(gpu, sizes, pre.expected, lacking);
    const std::vector<Need> list = needs(scenario, loads, sizes);
    for (const Need& need : list) gpu.slack_items.push_back({need.name, need.bytes.expected});
    const Bytes late = gpu.weights_bytes - largest(loads, &StageLoad::budgeted);
    gpu.left_after_pools_bytes = left_after(pre.expected, pre, gpu, list, before_graphs, late + (late.count() > 0 ? sizes.draft_kv : Bytes{0}));
    gpu.left_after_graphs_bytes = left_after(pre.expected, pre, gpu, list, at_start, Bytes{0});
    if (gpu.shortfall_bytes.count() > 0) gpu.left_after_pools_bytes = gpu.left_after_graphs_bytes = certain(Bytes{0}, Basis::engine_rule);  // it never gets so far
    const FeasibleFractions feasible = feasible_fractions(scenario, loads, pre.expected);
    gpu.mem_fraction.feasible_min = feasible.min;
    gpu.mem_fraction.feasible_max = feasible.max;
    gpu.mem_fraction.recommended = feasible.recommended;

    CapacityPlan& capacity = plan.capacity;
    const Basis basis = weaker(weaker(pre.basis, w.basis), Basis::engine_rule);
    capacity.max_total_num_tokens = {std::min(low.tokens, sizes.tokens), sizes.tokens, std::max(high.tokens, sizes.tokens), basis};
    capacity.swa_tokens = sizes.window_tokens;
    if (sizes.state_slots) {
        capacity.state_slots = sizes.state_slots;
        capacity.state_slots_per_request = state_slots_per_request(scenario.engine);
    }
    capacity.distinct_tokens = sizes.tokens * (ranks.dp_attention * ranks.replicas);
    capacity.max_running_requests = Requests{sizes.requests.running};
    // max_req_len: one token less than the context and than the pool.
    capacity.longest_request_tokens = Tokens{std::max<std::int64_t>(0, std::min(context_length(scenario), sizes.tokens.count()) - 1)};
    return plan;
}

}  // namespace kvplan::sglang
