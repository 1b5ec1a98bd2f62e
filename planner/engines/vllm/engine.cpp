#include "planner/engines/vllm/engine.hpp"

#include "planner/engines/vllm/admission.hpp"
#include "planner/engines/vllm/check.hpp"
#include "planner/engines/vllm/defaults.hpp"
#include "planner/engines/vllm/findings.hpp"
#include "planner/engines/vllm/kv_layout.hpp"
#include "planner/engines/vllm/memory.hpp"
#include "planner/engines/vllm/offload.hpp"
#include "planner/engines/vllm/rules.hpp"
#include "planner/engines/vllm/stages.hpp"
#include "planner/engines/vllm/versions.hpp"
#include "planner/engines/vllm/weight_rules.hpp"

namespace kvplan::vllm {
namespace {

class VllmEngine final : public Engine {
public:
    std::string_view name() const override { return "vllm"; }
    std::string rule_set(const EngineOptions& options) const override { return "vllm " + find_version(options.version_text).label; }
    std::optional<RuleDate> rule_date(const EngineOptions& options) const override { return vllm::rule_date(options); }
    void check(const Scenario& scenario, Diagnostics& diagnostics) const override { vllm::check(scenario, diagnostics); }
    std::vector<StageLayers> stages(const Scenario& scenario) const override { return vllm::stages(scenario); }
    WeightRules weight_rules(const Scenario& scenario) const override { return vllm::weight_rules(scenario); }
    KvCachePlan kv_cache(const Scenario& scenario) const override { return vllm::kv_cache(scenario); }
    PoolPlan pools(const Scenario& scenario, const WeightsPlan& weights, const KvCachePlan& /*kv_cache*/) const override {
        return vllm::pools(scenario, weights);
    }
    HicachePlan host_pools(const Scenario& scenario, const KvCachePlan& kv_cache, const CapacityPlan& capacity) const override {
        return vllm::host_pools(scenario, kv_cache, capacity);
    }
    HostRules host_rules(const Scenario& scenario) const override { return vllm::host_rules(scenario); }
    double admitted_requests(const Scenario& scenario, const AdmissionCase& c) const override { return vllm::admitted_requests(scenario, c); }
    StepRules step_rules(const Scenario& scenario) const override {
        StepRules rules;
        if (scenario.gpu) rules.chunk_tokens = max_num_batched_tokens(scenario);
        else rules.chunk_tokens = scenario.engine.max_num_batched_tokens.value_or(rules.chunk_tokens);
        return rules;
    }
    std::vector<EngineDefault> defaults(const Scenario& scenario) const override { return engine_defaults(scenario); }
    void add_findings(const Scenario& scenario, Plan& plan) const override { vllm::add_findings(scenario, plan); }
    const std::vector<EngineRule>& rules() const override { return vllm::rules(); }
};

}  // namespace

const Engine& engine() {
    static const VllmEngine kEngine;
    return kEngine;
}

}  // namespace kvplan::vllm
