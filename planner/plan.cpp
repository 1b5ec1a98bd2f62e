#include "planner/plan.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "planner/concurrency/concurrency.hpp"
#include "planner/engines/engine.hpp"
#include "planner/findings.hpp"
#include "planner/host/memory.hpp"
#include "planner/startup.hpp"
#include "planner/throughput/throughput.hpp"
#include "planner/trace/reuse.hpp"
#include "planner/weights.hpp"

namespace kvplan {

namespace {

// Safe by the high end of every host cost. Unknown when a host pool is asked for and nothing is known of the host.
std::optional<bool> is_safe(const Plan& plan) {
    if (plan.host.safe) return plan.host.safe;
    if (plan.hicache.enabled) return std::nullopt;
    return true;
}

// Those that hold for any engine come first among their like.
void add_problems(const Scenario& scenario, Plan& plan) {
    std::vector<Finding> found = find_problems(scenario, plan);
    found.insert(found.end(), std::make_move_iterator(plan.findings.begin()), std::make_move_iterator(plan.findings.end()));
    std::stable_sort(found.begin(), found.end(), [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
    plan.findings = std::move(found);
}

// An open loop runs as many requests as come, not as many as fit.
void clip_to_offered_rate(const Scenario& scenario, Plan& plan) {
    if (const auto in_flight = offered_concurrency(scenario, plan)) plan.concurrency = at_offered_rate(scenario, plan, *in_flight);
}

// What a log of this deployment showed to be left replaces the assumption about what is taken.
void apply_measured_costs(const Scenario& scenario, GpuPlan& gpu) {
    if (!scenario.calibration) return;
    const auto move = [](Estimate<Bytes>& left, const std::optional<Bytes>& shift) {
        if (shift) left = certain(std::max(Bytes{0}, left.expected + *shift), Basis::measured);
    };
    move(gpu.left_after_pools_bytes, scenario.calibration->left_after_pools_shift);
    move(gpu.left_after_graphs_bytes, scenario.calibration->left_after_graphs_shift);
}

}  // namespace

Plan plan(const Scenario& scenario) {
    const Engine& engine = engine_of(scenario.engine);
    Plan plan;
    plan.rule_set = engine.rule_set(scenario.engine);
    plan.parallelism = parallelism(scenario);
    plan.weights = plan_weights(scenario, engine);
    plan.kv_cache = engine.kv_cache(scenario);
    PoolPlan pools = engine.pools(scenario, plan.weights, plan.kv_cache);
    plan.gpu = std::move(pools.gpu);
    plan.capacity = std::move(pools.capacity);
    apply_measured_costs(scenario, plan.gpu);
    engine.add_findings(scenario, plan);
    plan.fits = plan.gpu.shortfall_bytes.count() == 0 && plan.capacity.max_total_num_tokens.expected.count() > 0 && !has_error(plan);
    plan.hicache = engine.host_pools(scenario, plan.kv_cache, plan.capacity);
    plan.host = plan_host_memory(scenario, plan);
    plan.safe = is_safe(plan);
    plan.concurrency = plan_concurrency(scenario, plan);
    clip_to_offered_rate(scenario, plan);
    plan.reuse = trace::plan_reuse(scenario, plan);
    const Scenario hit = trace::with_hits(scenario, plan);
    if (plan.reuse) clip_to_offered_rate(hit, plan);
    Rates rates = plan_throughput(hit, plan);
    plan.throughput = std::move(rates.throughput);
    plan.latency = std::move(rates.latency);
    plan.latency.startup_seconds = startup_seconds(scenario, plan);
    add_problems(scenario, plan);
    return plan;
}

}  // namespace kvplan
