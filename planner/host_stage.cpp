// The host stage with the rules of the scenario's own engine.
#include "planner/host_findings.hpp"
#include "planner/host_memory.hpp"

namespace kvplan {

HostPlan plan_host_memory(const Scenario& scenario, const Plan& plan) {
    const Engine& engine = engine_of(scenario.engine);
    Scenario probe = scenario;
    const HostPoolsAt pools_at = [&](const EngineOptions& options) {
        probe.engine = options;
        return engine.host_pools(probe, plan.kv_cache, plan.capacity);
    };
    return plan_host_memory(scenario, plan, engine.host_rules(scenario), pools_at);
}

std::vector<Finding> host_findings(const Scenario& scenario, const Plan& plan) {
    return host_findings(scenario, plan, engine_of(scenario.engine).host_rules(scenario));
}

}  // namespace kvplan
