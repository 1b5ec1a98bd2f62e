// The host stage with the rules of the scenario's own engine.
#include <algorithm>
#include <cmath>

#include "planner/host/findings.hpp"
#include "planner/host/memory.hpp"

namespace kvplan {
namespace {

/// The pools of a device as large as they may turn out; those beside the main one grow with it.
CapacityPlan at_high_end(CapacityPlan capacity) {
    const Tokens expected = capacity.max_total_num_tokens.expected, high = std::max(expected, capacity.max_total_num_tokens.high);
    if (expected.count() <= 0) return capacity;
    const double growth = static_cast<double>(high.count()) / static_cast<double>(expected.count());
    const auto grown = [&](std::int64_t n) { return static_cast<std::int64_t>(std::ceil(static_cast<double>(n) * growth)); };
    if (capacity.swa_tokens) capacity.swa_tokens = Tokens{grown(capacity.swa_tokens->count())};
    if (capacity.state_slots) capacity.state_slots = grown(*capacity.state_slots);
    capacity.max_total_num_tokens.expected = high;
    return capacity;
}

}  // namespace


HostPlan plan_host_memory(const Scenario& scenario, const Plan& plan) {
    const Engine& engine = engine_of(scenario.engine);
    Scenario probe = scenario;
    const CapacityPlan most = at_high_end(plan.capacity);
    const HostPoolsAt pools_at = [&](const EngineOptions& options) {
        probe.engine = options;
        return engine.host_pools(probe, plan.kv_cache, most);
    };
    return plan_host_memory(scenario, plan, engine.host_rules(scenario), pools_at);
}

std::vector<Finding> host_findings(const Scenario& scenario, const Plan& plan) {
    return host_findings(scenario, plan, engine_of(scenario.engine).host_rules(scenario));
}

}  // namespace kvplan
