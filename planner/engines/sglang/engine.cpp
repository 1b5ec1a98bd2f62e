#include "planner/engines/sglang/engine.hpp"

#include "planner/engines/sglang/admission.hpp"
#include "planner/engines/sglang/check.hpp"
#include "planner/engines/sglang/defaults.hpp"
#include "planner/engines/sglang/findings.hpp"
#include "planner/engines/sglang/hicache.hpp"
#include "planner/engines/sglang/kv_cells.hpp"
#include "planner/engines/sglang/memory.hpp"
#include "planner/engines/sglang/rules.hpp"
#include "planner/engines/sglang/stages.hpp"
#include "planner/engines/sglang/versions.hpp"
#include "planner/engines/sglang/weight_rules.hpp"

namespace kvplan::sglang {
namespace {

class SglangEngine final : public Engine {
public:
    std::string_view name() const override { return "sglang"; }
    std::string rule_set(const EngineOptions& options) const override { return "sglang " + find_version(options.version_text).label; }
    std::optional<RuleDate> rule_date(const EngineOptions& options) const override { return sglang::rule_date(options); }
    void check(const Scenario& scenario, Diagnostics& diagnostics) const override { sglang::check(scenario, diagnostics); }
    std::vector<StageLayers> stages(const Scenario& scenario) const override { return sglang::stages(scenario); }
    WeightRules weight_rules(const Scenario& scenario) const override { return sglang::weight_rules(scenario); }
    KvCachePlan kv_cache(const Scenario& scenario) const override { return sglang::kv_cache(scenario); }
    PoolPlan pools(const Scenario& scenario, const WeightsPlan& weights, const KvCachePlan& /*kv_cache*/) const override {
        return sglang::pools(scenario, weights);
    }
    HicachePlan host_pools(const Scenario& scenario, const KvCachePlan& kv_cache, const CapacityPlan& capacity) const override {
        return sglang::host_pools(scenario, kv_cache, capacity);
    }
    HostRules host_rules(const Scenario& scenario) const override { return sglang::host_rules(scenario); }
    double admitted_requests(const Scenario& scenario, const AdmissionCase& c) const override { return sglang::admitted_requests(scenario.engine, c); }
    StepRules step_rules(const Scenario& scenario) const override { return sglang::step_rules(scenario); }
    std::vector<EngineDefault> defaults(const Scenario& scenario) const override { return engine_defaults(scenario); }
    void add_findings(const Scenario& scenario, Plan& plan) const override { sglang::add_findings(scenario, plan); }
    const std::vector<EngineRule>& rules() const override { return sglang::rules(); }
};

}  // namespace

const Engine& engine() {
    static const SglangEngine kEngine;
    return kEngine;
}

}  // namespace kvplan::sglang
