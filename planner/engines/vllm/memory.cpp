#include "planner/engines/vllm/memory.hpp"

#include <algorithm>
#include <cmath>

#include "planner/engines/vllm/defaults.hpp"
#include "planner/engines/vllm/stages.hpp"
#include "planner/engines/vllm/versions.hpp"
#include "planner/free_before_load.hpp"

namespace kvplan::vllm {
namespace {

using End = Bytes Estimate<Bytes>::*;
constexpr Bytes kMargin{kGiB / 4};   // left over by the recommended fraction

double d(Bytes b) { return static_cast<double>(b.count()); }

bool graphs_inside(const Scenario& scenario) { return in_force(Change::graph_estimate, scenario.engine); }

std::int64_t stage_blocks(const Scenario& scenario, const StageLoad& load, Bytes available) {
    return scenario.engine.num_gpu_blocks_override ? *scenario.engine.num_gpu_blocks_override : blocks_in(load.layout, available);
}

/// Blocks that every stage can hold: the smallest decides.
std::int64_t least_blocks(const Scenario& scenario, const std::vector<StageLoad>& loads, double u, End end) {
    std::int64_t least = -1;
    for (const StageLoad& load : loads) {
        const std::int64_t blocks = stage_blocks(scenario, load, available_memory(scenario, load, u).*end);
        least = least < 0 ? blocks : std::min(least, blocks);
    }
    return std::max<std::int64_t>(0, least);
}

Bytes needed_for_one(const Scenario& scenario, const KvLayout& layout) {
    return layout.block_bytes * blocks_per_request(layout, scenario, max_model_len(scenario));
}

/// What one stage lacks for a request of the full length; 0 when it fits.
Bytes lack(const Scenario& scenario, const StageLoad& load, double u) {
    const Bytes available = scenario.engine.num_gpu_blocks_override ? load.layout.block_bytes * *scenario.engine.num_gpu_blocks_override
                                                                    : available_memory(scenario, load, u).expected;
    return std::max(Bytes{0}, needed_for_one(scenario, load.layout) - available);
}

struct Feasible {
    std::optional<double> min, max, recommended;
};

/// min: the least use of everything and one request of the full length; max: what is asked for must be free at the start, and
/// graphs outside the fraction must fit beside it.
Feasible feasible(const Scenario& scenario, const std::vector<StageLoad>& loads, const Estimate<Bytes>& free) {
    const double total = d(process_total(scenario));
    if (total <= 0) return {};
    double least = 0, outside_low = 0, outside = 0;
    for (const StageLoad& load : loads) {
        const Estimate<Bytes> over = load.overhead.total();
        const Bytes graphs = graphs_inside(scenario) ? load.overhead.graphs.low : Bytes{0};
        least = std::max(least, d(load.weights.low + over.low + graphs + needed_for_one(scenario, load.layout)));
        if (!graphs_inside(scenario)) {
            outside_low = std::max(outside_low, d(load.overhead.graphs.low));
            outside = std::max(outside, d(load.overhead.graphs.expected));
        }
    }
    Feasible f;
    const double min = least / total, max = std::min(1.0, (d(free.high) - outside_low) / total);
    if (min > max) return f;
    f.min = min;
    f.max = max;
    // What is asked for must be free at the start, at the low end too.
    const double wanted = std::floor((d(free.low) - outside - d(kMargin)) / total * 1000) / 1000;
    f.recommended = std::clamp(wanted, min, max);
    return f;
}

void add_item(GpuPlan& gpu, std::string_view name, Bytes bytes) {
    if (bytes.count() > 0) gpu.slack_items.push_back({name, bytes});
}

void fill_slack_items(const Scenario& scenario, const StageLoad& load, GpuPlan& gpu) {
    add_item(gpu, "activations", load.overhead.activation.expected);
    add_item(gpu, "communicator_and_runtime", load.overhead.communicator.expected);
    add_item(gpu, "expert_workspace", load.overhead.experts.expected);
    add_item(gpu, "encoder_outputs", load.overhead.encoder.expected);
    add_item(gpu, "cuda_graphs", load.overhead.graphs.expected);
    if (scenario.engine.kv_cache_memory_bytes) return;
    // Graphs that are not in the budget are captured into what the fraction keeps free.
    const Bytes kept = gpu.free_before_load_bytes.expected - std::min(gpu.free_before_load_bytes.expected, gpu.budget_bytes);
    const Bytes taken = graphs_inside(scenario) ? Bytes{0} : std::min(kept, load.overhead.graphs.expected);
    add_item(gpu, "kept_free_by_fraction", kept - taken);
}

Estimate<Bytes> left_with(const GpuPlan& gpu, const Estimate<Bytes>& needs) {
    const Bytes free = gpu.free_before_load_bytes.expected - gpu.weights_bytes - gpu.kv_pool_bytes;
    const auto left = [&](Bytes need) { return std::max(Bytes{0}, free - need); };
    return {left(needs.high), left(needs.expected), left(needs.low), weaker(gpu.free_before_load_bytes.basis, Basis::assumed)};
}

/// weights + KV + slack - shortfall = free.
void close_waterfall(GpuPlan& gpu, Bytes missing) {
    const Bytes rest = gpu.free_before_load_bytes.expected - gpu.weights_bytes - gpu.kv_pool_bytes;
    gpu.shortfall_bytes = std::max(missing, Bytes{0} - rest);
    gpu.slack_bytes = rest + gpu.shortfall_bytes;
}

}  // namespace

std::vector<StageLoad> stage_loads(const Scenario& scenario, const WeightsPlan& weights) {
    const std::vector<StageLayers> layers = stages(scenario);
    const auto& w = weights.bytes_per_rank;
    std::vector<StageLoad> loads;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        StageLoad load;
        load.layout = kv_layout(scenario, layers[i]);
        const Bytes expected = i < weights.stage_bytes.size() ? weights.stage_bytes[i] : w.expected;
        const auto moved = [&](Bytes end) { return std::max(Bytes{0}, expected + end - w.expected); };
        load.weights = {moved(w.low), expected, moved(w.high), w.basis};
        load.overhead = overhead(scenario, i + 1 == layers.size(), layers[i].count);
        loads.push_back(std::move(load));
    }
    return loads;
}

Bytes requested_memory(const Scenario& scenario, double utilization) { return ceil_bytes(d(process_total(scenario)) * utilization); }

Estimate<Bytes> available_memory(const Scenario& scenario, const StageLoad& load, double utilization) {
    if (scenario.engine.kv_cache_memory_bytes) return certain(Bytes{*scenario.engine.kv_cache_memory_bytes}, Basis::engine_rule);
    const Estimate<Bytes> over = graphs_inside(scenario) ? sum(load.overhead.total(), load.overhead.graphs) : load.overhead.total();
    const Bytes asked = requested_memory(scenario, utilization);
    // A measured deployment: what the engine itself found is known, whatever its parts.
    if (scenario.calibration) return certain(asked - load.weights.expected - over.expected + scenario.calibration->budget_shift, Basis::measured);
    return {asked - load.weights.high - over.high, asked - load.weights.expected - over.expected, asked - load.weights.low - over.low,
            weaker(load.weights.basis, over.basis)};
}

PoolPlan pools(const Scenario& scenario, const WeightsPlan& weights) {
    const std::vector<StageLoad> loads = stage_loads(scenario, weights);
    const Parallelism ranks = parallelism(scenario);
    const double u = utilization(scenario);
    PoolPlan plan;
    GpuPlan& gpu = plan.gpu;
    gpu.free_before_load_bytes = free_before_load(scenario);
    gpu.total_bytes = std::max(process_total(scenario), gpu.free_before_load_bytes.high);
    if (scenario.free_memory) gpu.total_bytes = std::max(gpu.total_bytes, gpu_total(scenario));
    gpu.budget_bytes = requested_memory(scenario, u);
    gpu.mem_fraction.value = u;
    gpu.mem_fraction.source = scenario.engine.gpu_memory_utilization ? FractionSource::flag : FractionSource::engine_default;
    const Feasible f = feasible(scenario, loads, gpu.free_before_load_bytes);
    gpu.mem_fraction.feasible_min = f.min;
    gpu.mem_fraction.feasible_max = f.max;
    gpu.mem_fraction.recommended = f.recommended;

    const StageLoad* heaviest = &loads.front();
    Bytes missing;
    for (const StageLoad& load : loads) {
        if (load.weights.expected > heaviest->weights.expected) heaviest = &load;
        missing = std::max(missing, lack(scenario, load, u));
    }
    // A pool of a given size is not measured against anything: it must fit beside the least that is used.
    if (scenario.engine.kv_cache_memory_bytes || scenario.engine.num_gpu_blocks_override) {
        for (const StageLoad& load : loads) {
            const Bytes pool = load.layout.block_bytes * stage_blocks(scenario, load, available_memory(scenario, load, u).expected);
            missing = std::max(missing, load.weights.expected + load.overhead.total().low + pool - gpu.free_before_load_bytes.expected);
        }
    }
    // The start-up check: what the fraction asks for must be free.
    if (!scenario.engine.kv_cache_memory_bytes) missing = std::max(missing, gpu.budget_bytes - gpu.free_before_load_bytes.expected);
    gpu.weights_bytes = heaviest->weights.expected;
    const std::int64_t blocks = least_blocks(scenario, loads, u, &Estimate<Bytes>::expected);
    if (missing.count() == 0)
        for (const StageLoad& load : loads) gpu.kv_pool_bytes = std::max(gpu.kv_pool_bytes, load.layout.block_bytes * blocks);
    close_waterfall(gpu, missing);
    fill_slack_items(scenario, *heaviest, gpu);
    gpu.left_after_pools_bytes = left_with(gpu, heaviest->overhead.communicator);
    gpu.left_after_graphs_bytes = left_with(gpu, sum(heaviest->overhead.communicator, heaviest->overhead.graphs));
    if (gpu.shortfall_bytes.count() > 0) gpu.left_after_pools_bytes = gpu.left_after_graphs_bytes = certain(Bytes{0}, Basis::engine_rule);  // it never gets so far

    CapacityPlan& capacity = plan.capacity;
    const KvLayout& layout = loads.front().layout;
    const auto tokens = [&](std::int64_t n) { return printed_tokens(layout, scenario, n); };
    const std::int64_t length = max_model_len(scenario);
    capacity.max_running_requests = Requests{max_num_seqs(scenario)};
    capacity.tokens_are_derived = layout.groups > 1 || in_force(Change::derived_token_line, scenario.engine);
    const std::int64_t longest = longest_request(layout, scenario, blocks, length);
    if (gpu.shortfall_bytes.count() > 0) {
        capacity.max_total_num_tokens = certain(Tokens{0}, Basis::engine_rule);
        capacity.longest_request_tokens = Tokens{missing > gpu.budget_bytes - gpu.free_before_load_bytes.expected ? longest : 0};
        return plan;
    }
    const Basis basis = weaker(scenario.engine.kv_cache_memory_bytes ? Basis::engine_rule : available_memory(scenario, *heaviest, u).basis, Basis::engine_rule);
    capacity.max_total_num_tokens = {tokens(least_blocks(scenario, loads, u, &Estimate<Bytes>::low)), tokens(blocks),
                                     tokens(least_blocks(scenario, loads, u, &Estimate<Bytes>::high)), basis};
    capacity.distinct_tokens = tokens(blocks) * ranks.replicas;
    capacity.longest_request_tokens = Tokens{longest};
    capacity.max_concurrency_full_context = static_cast<double>(blocks) / static_cast<double>(blocks_per_request(layout, scenario, length));
    return plan;
}

}  // namespace kvplan::vllm
