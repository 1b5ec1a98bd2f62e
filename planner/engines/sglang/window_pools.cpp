#include "planner/engines/sglang/window_pools.hpp"

#include <algorithm>

#include "planner/engines/sglang/defaults.hpp"
#include "planner/engines/sglang/gpu_facts.hpp"
#include "planner/engines/sglang/versions.hpp"

namespace kvplan::sglang {
namespace {

bool within(RuleDate date, int from, int until) { return RuleDate{from} <= date && date < RuleDate{until}; }

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

/// gpt-oss lost its second pool again for a while with one backend and with drafts.
bool gpt_oss_exception(const Scenario& scenario, RuleDate date) {
    if (!starts_with(scenario.model->architecture, "GptOss")) return false;
    const std::string& backend = scenario.engine.attention_backend;
    const bool trtllm = backend == "trtllm_mha" || (backend.empty() && gpu_facts(scenario).sm_major == 10);
    return (trtllm && within(date, 20260120, 20260228)) || (speculative(scenario) && within(date, 20260122, 20260125));
}

/// With a hierarchical cache some models fall back to one pool.
bool hicache_exception(const Scenario& scenario, RuleDate date) {
    if (!scenario.engine.hicache.enabled) return false;
    const std::string& name = scenario.model->architecture;
    return (starts_with(name, "MiMoV2") && within(date, 20251219, 20260428)) || (starts_with(name, "Step3p5") && date >= RuleDate{20260203});
}

}  // namespace

const std::vector<WindowPoolRule>& window_pool_rules() {
    // Models of the newest list that appeared after the list began count from its beginning.
    static const std::vector<WindowPoolRule> kRules = {
        {"GptOss", {20250805}, {20250823}},  {"GptOss", {20260118}, {0}},         {"MiMoV2", {20251219}, {0}},
        {"Llama4ForConditionalGeneration", {20260106}, {0}},                      {"Step3p", {20260203}, {0}},
        {"GraniteSWA", {20260106}, {0}},     {"GraniteMoeSWA", {20260106}, {0}},  {"Gemma4", {20260106}, {0}},
        {"DiffusionGemma", {20260106}, {0}}, {"Laguna", {20260106}, {0}},         {"Mellum", {20260106}, {0}},
        {"MuseGlimmer", {20260106}, {0}},    {"Inkling", {20260106}, {0}},        {"UnlimitedOCR", {20260106}, {0}},
    };
    return kRules;
}

std::int64_t window_tokens(const LlmSpec& model) {
    std::int64_t window = 0;
    for (const LayerClass& c : model.classes) {
        if (const auto* grouped = std::get_if<GroupedAttention>(&c.attention)) window = std::max(window, grouped->window.value_or(0));
        if (const auto* compressed = std::get_if<CompressedAttention>(&c.attention)) window = std::max(window, compressed->window);
    }
    return window;
}

bool hybrid_window_pool(const Scenario& scenario) {
    if (is_compressed(*scenario.model)) return true;
    if (scenario.engine.disable_hybrid_swa_memory || window_tokens(*scenario.model) == 0) return false;
    const RuleDate date = rule_date(scenario.engine);
    const auto& rules = window_pool_rules();
    const bool listed = std::any_of(rules.begin(), rules.end(), [&](const WindowPoolRule& rule) {
        const bool now = rule.from <= date && (rule.until.yyyymmdd == 0 || date < rule.until);
        return now && starts_with(scenario.model->architecture, rule.architecture);
    });
    return listed && !gpt_oss_exception(scenario, date) && !hicache_exception(scenario, date);
}

double window_ratio(const Scenario& scenario) {
    const double by_default = is_compressed(*scenario.model) ? 0.1 : 0.8;
    return scenario.engine.swa_full_tokens_ratio.value_or(by_default);
}

}  // namespace kvplan::sglang
