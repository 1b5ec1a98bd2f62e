#include "planner/engines/sglang/findings.hpp"

#include <algorithm>
#include <set>

#include "planner/engines/engine.hpp"
#include "planner/engines/sglang/check.hpp"
#include "planner/engines/sglang/memory.hpp"
#include "planner/export/finding_text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scenarios.hpp"
#include "units/diagnostic.hpp"

namespace kvplan {
namespace {

using namespace testing;

/// The stages that these findings look at, with weights given as a sum.
Plan plan_of(const Scenario& s, double weights_gib) {
    const Engine& engine = engine_of(s.engine);
    Plan plan;
    plan.parallelism = parallelism(s);
    plan.weights = weights_of(gib(weights_gib));
    plan.kv_cache = engine.kv_cache(s);
    PoolPlan pools = engine.pools(s, plan.weights, plan.kv_cache);
    plan.gpu = pools.gpu;
    plan.capacity = pools.capacity;
    engine.add_findings(s, plan);
    return plan;
}

const Finding* find(const Plan& plan, std::string_view code) {
    const auto found = std::find_if(plan.findings.begin(), plan.findings.end(), [&](const Finding& f) { return f.code == code; });
    return found == plan.findings.end() ? nullptr : &*found;
}

double value(const Finding* finding, std::string_view name) {
    REQUIRE(finding != nullptr);
    for (const FindingValue& v : finding->values)
        if (v.name == name) return v.number;
    FAIL("no such value");
    return 0;
}

Scenario measured(LlmSpec spec, std::int64_t tp, double free_gib, double fraction) {
    Scenario s = scenario_of(std::move(spec), tp, "2026-08-22", 97887, 12);
    s.hardware.gpu_free = gib(free_gib);
    s.engine.mem_fraction_static = FreeMemoryFraction{fraction};
    return s;
}

TEST_CASE("Weights beyond the budget are an error with the fraction that would do", "[sglang][findings]") {
    const Plan plan = plan_of(measured(kimi_k2(), 8, 94, 0.75), 72);
    const Finding* found = find(plan, "weights_do_not_fit");
    REQUIRE(found != nullptr);
    CHECK(found->severity == FindingSeverity::error);
    // 72 - 0.75 * 94 = 1.5 GiB.
    CHECK(value(found, "lacking") == Approx(1.5 * static_cast<double>(kGiB) + 70'272).margin(2));  // and one page of one token
    REQUIRE(found->remedy.size() == 1);
    CHECK(found->remedy[0].field == "mem_fraction_static");
    // Heavier than the whole GPU: no fraction helps.
    CHECK(find(plan_of(measured(kimi_k2(), 8, 94, 0.75), 100), "weights_do_not_fit")->remedy.empty());
}

TEST_CASE("A fraction outside the interval is an error, one that leaves little a warning", "[sglang][findings]") {
    const Scenario s = measured(kimi_k2(), 8, 94, 0.85);
    const MemFraction f = plan_of(s, 72).gpu.mem_fraction;
    REQUIRE(f.feasible_max);
    CHECK(find(plan_of(s, 72), "fraction_too_high") == nullptr);
    CHECK(find(plan_of(s, 72), "fraction_leaves_little") == nullptr);
    const Plan high = plan_of(measured(kimi_k2(), 8, 94, *f.feasible_max + 0.002), 72);
    REQUIRE(find(high, "fraction_too_high") != nullptr);
    CHECK(find(high, "fraction_too_high")->severity == FindingSeverity::error);
    // The founding case: 0.93 is at most a warning for the GPU.
    const Plan tried = plan_of(measured(kimi_k2(), 8, 94, 0.93), 72);
    CHECK(find(tried, "fraction_too_high") == nullptr);
    for (const Finding& finding : tried.findings) CHECK(finding.severity != FindingSeverity::error);
}

TEST_CASE("A pool below one request of the context length is told", "[sglang][findings]") {
    Scenario s = measured(kimi_k2(), 8, 94, 0.85);
    const Plan plan = plan_of(s, 72);
    CHECK(value(find(plan, "pool_below_context"), "context") == 262144);
    s.engine.context_length = 65536;
    CHECK(find(plan_of(s, 72), "pool_below_context") == nullptr);
}

TEST_CASE("Replicated heads and the request table are told", "[sglang][findings]") {
    const Plan qwen = plan_of(measured(qwen3_235b(), 8, 94, 0.85), 55);
    CHECK(value(find(qwen, "kv_heads_replicated"), "copies") == 2);
    CHECK(find(plan_of(measured(qwen3_235b(), 4, 94, 0.85), 55), "kv_heads_replicated") == nullptr);
    // 1 M tokens of context: 2,048 rows of 4 MiB are 8 GiB.
    Scenario million = measured(qwen3_235b(), 8, 94, 0.80);
    million.engine.context_length = 1048576;
    CHECK(value(find(plan_of(million, 55), "request_table_large"), "table") / static_cast<double>(kGiB) == Approx(8.0).epsilon(0.01));
    million.engine.mem_fraction_static = FreeMemoryFraction{0.93};
    CHECK(find(plan_of(million, 55), "request_table_does_not_fit") != nullptr);
    million.engine.max_running_requests = 64;
    CHECK(find(plan_of(million, 55), "request_table_does_not_fit") == nullptr);
}

TEST_CASE("State slots and window pools that limit are told", "[sglang][findings]") {
    const Plan state = plan_of(measured(qwen3_next(), 4, 94, 0.85), 40);
    const Finding* slots = find(state, "state_slots_limit_requests");
    CHECK(value(slots, "requests") == static_cast<double>(*state.capacity.state_slots / 3));
    Scenario window = measured(gpt_oss_120b(), 8, 94, 0.85);
    window.engine.swa_full_tokens_ratio = 1e-5;
    CHECK(find(plan_of(window, 40), "window_pool_too_small") != nullptr);
    window.engine.swa_full_tokens_ratio = 0.5;
    CHECK(find(plan_of(window, 40), "window_pool_too_small") == nullptr);
}

TEST_CASE("A pool that outgrows its budget is told until 2026-07-27", "[sglang][findings][dsa]") {
    Scenario s = measured(deepseek_v32(), 8, 137, 0.85);
    s.gpu = bare_gpu(9);
    s.engine.kv_cache_dtype = "fp8_e4m3";
    s.engine.version_text = "2026-07-01";
    const Plan plan = plan_of(s, 80);
    // 48,068 bytes taken for 43,188 counted: 4,880 a token.
    CHECK(value(find(plan, "pool_exceeds_budget"), "excess") == Approx(4880.0 * static_cast<double>(plan.capacity.max_total_num_tokens.expected.count())));
    s.engine.version_text = "2026-07-27";
    CHECK(find(plan_of(s, 80), "pool_exceeds_budget") == nullptr);
}

TEST_CASE("Every finding of the engine has its sentences, with all their values", "[sglang][findings]") {
    std::set<std::string_view> seen;
    const auto look = [&](const Plan& plan) {
        for (const Finding& finding : plan.findings) {
            seen.insert(finding.code);
            const exporting::FindingText text = exporting::text_of(finding);
            INFO(finding.code << ": " << text.message << " -> " << text.remedy);
            CHECK(text.message != finding.code);
            CHECK((text.message + text.remedy).find('?') == std::string::npos);
        }
    };
    for (const double fraction : {0.3, 0.77, 0.85, 0.93, 0.99}) {
        for (const LlmSpec& spec : {kimi_k2(), qwen3_235b(), qwen3_next(), gpt_oss_120b(), deepseek_v4_flash()}) {
            look(plan_of(measured(spec, 8, 94, fraction), 72));
            look(plan_of(measured(spec, 8, 94, fraction), 93));
        }
    }
    CHECK(seen.size() >= 8);
}

TEST_CASE("What the engine would refuse is a diagnostic", "[sglang][check]") {
    const auto codes = [](const Scenario& s) {
        Diagnostics diagnostics;
        sglang::check(s, diagnostics);
        std::set<std::string> found;
        for (const Diagnostic& d : diagnostics.items())
            if (d.severity == Severity::error) found.insert(d.code);
        return found;
    };
    using Codes = std::set<std::string>;
    CHECK(codes(scenario_of(kimi_k2(), 8)).empty());
    CHECK(codes(scenario_of(qwen3_235b(), 8)).empty());
    CHECK(codes(scenario_of(kimi_k2(), 6)) == Codes{"engine.tp"});         // 64 heads
    CHECK(codes(scenario_of(grouped_model(4, 48, 12, 64), 8)) == Codes{"engine.tp"});  // 12 KV heads over 8 ranks
    Scenario dp = scenario_of(kimi_k2(), 8);
    dp.engine.enable_dp_attention = true;
    dp.engine.dp = 3;
    CHECK(codes(dp).count("engine.dp") == 1);
    Scenario fraction = scenario_of(kimi_k2(), 8);
    fraction.engine.mem_fraction_static = FreeMemoryFraction{85};
    CHECK(codes(fraction) == Codes{"engine.fraction"});
    Scenario dtype = scenario_of(kimi_k2(), 8);
    dtype.engine.kv_cache_dtype = "fp8_e4m4";
    CHECK(codes(dtype) == Codes{"engine.kv_dtype"});
    Scenario stages = scenario_of(kimi_k2(), 1);
    stages.engine.pp = 100;
    CHECK(codes(stages) == Codes{"engine.pp"});
    Scenario v4 = scenario_of(deepseek_v4_flash(), 8);
    v4.engine.hicache.enabled = true;
    v4.engine.hicache.size_gb = 30;
    CHECK(codes(v4) == Codes{"engine.hicache"});
    CHECK(codes(scenario_of(kimi_k2(), 8, "5.6")) == Codes{"engine.version"});
    Scenario ep = scenario_of(qwen3_235b(), 8);
    ep.engine.ep = 8;
    ep.engine.redundant_experts = 3;
    CHECK(codes(ep) == Codes{"engine.ep"});
}

}  // namespace
}  // namespace kvplan
