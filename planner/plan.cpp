#include "planner/plan.hpp"

#include <algorithm>
#include <utility>

#include "planner/concurrency.hpp"
#include "planner/engines/engine.hpp"
#include "planner/findings.hpp"
#include "planner/host_memory.hpp"
#include "planner/startup.hpp"
#include "planner/throughput.hpp"
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
    plan.fits = plan.gpu.shortfall_bytes.count() == 0 && plan.capacity.max_total_num_tokens.expected.count() > 0;
    plan.hicache = engine.host_pools(scenario, plan.kv_cache, plan.capacity);
    plan.host = plan_host_memory(scenario, plan);
    plan.safe = is_safe(plan);
    plan.concurrency = plan_concurrency(scenario, plan);
    plan.reuse = trace::plan_reuse(scenario, plan);
    Rates rates = plan_throughput(trace::with_hits(scenario, plan), plan);
    plan.throughput = std::move(rates.throughput);
    plan.latency = std::move(rates.latency);
    plan.latency.startup_seconds = startup_seconds(scenario, plan);
    plan.findings = find_problems(scenario, plan);
    engine.add_findings(scenario, plan);
    return plan;
}

}  // namespace kvplan
