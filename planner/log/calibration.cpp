#include "planner/log/calibration.hpp"

#include <algorithm>
#include <cmath>

#include "planner/plan.hpp"
#include "planner/fields/fields.hpp"
#include "units/ascii.hpp"

namespace kvplan::logs {

namespace {

double d(Bytes bytes) { return static_cast<double>(bytes.count()); }

Estimate<Bytes> rounded(Bytes printed, int figures) {
    const Bytes half = nearest_bytes(kRoundingGib * figures * static_cast<double>(kGiB));
    return {std::max(Bytes{0}, printed - half), printed, printed + half, Basis::measured};
}

std::int64_t tokens_with(Scenario& scenario, Bytes shift) {
    scenario.calibration->budget_shift = shift;
    return plan(scenario).capacity.max_total_num_tokens.expected.count();
}

/// The shift of least size with which the plan gives `tokens`; tokens grow with the shift. None: no shift gives them (a cap, or
/// a page between).
std::optional<Bytes> find_shift(Scenario scenario, std::int64_t tokens) {
    const std::int64_t now = tokens_with(scenario, Bytes{0});
    if (now == tokens) return Bytes{0};
    const std::int64_t sign = now < tokens ? 1 : -1;
    // Grow until the count is passed, then halve.
    std::int64_t inside = 0, beyond = sign * (std::int64_t{1} << 20);
    const auto passed = [&](std::int64_t shift) {
        const std::int64_t n = tokens_with(scenario, Bytes{shift});
        return sign > 0 ? n >= tokens : n <= tokens;
    };
    for (int i = 0; i < 24 && !passed(beyond); ++i) beyond *= 2;
    if (!passed(beyond)) return std::nullopt;
    while (std::abs(beyond - inside) > 1024) {
        const std::int64_t middle = inside + (beyond - inside) / 2;
        if (passed(middle)) beyond = middle;
        else inside = middle;
    }
    // A printed count may lie between two pages of the plan (a version's rounding): the nearest page is as good.
    const std::int64_t reached = tokens_with(scenario, Bytes{beyond});
    return std::abs(reached - tokens) * 1000 <= tokens ? std::optional(Bytes{beyond}) : std::nullopt;
}

/// Pool bytes per token against the plan's: the correction that two decimals of the log can support, else 1.
double measured_cell_ratio(const Scenario& scenario, const Observed& seen) {
    const Plan by_rule = plan(scenario);
    const std::int64_t planned = by_rule.capacity.max_total_num_tokens.expected.count();
    if (!seen.kv_pool || !seen.max_total_num_tokens || planned <= 0 || *seen.max_total_num_tokens <= 0 || seen.kv_pool->count() <= 0) return 1.0;
    const double ratio = seen.bytes_per_token.value_or(0) / (d(by_rule.gpu.kv_pool_bytes) / static_cast<double>(planned));
    const double rounding = 4 * kRoundingGib * static_cast<double>(kGiB) / d(*seen.kv_pool);
    return std::abs(ratio - 1) > rounding + 0.002 ? ratio : 1.0;
}

void set_costs(Scenario& scenario, const Observed& seen) {
    const Plan now = plan(scenario);
    CalibratedRules& rules = *scenario.calibration;
    if (seen.left_after_pools) rules.left_after_pools_shift = *seen.left_after_pools - now.gpu.left_after_pools_bytes.expected;
    if (seen.left_after_graphs) rules.left_after_graphs_shift = *seen.left_after_graphs - now.gpu.left_after_graphs_bytes.expected;
}

// "moonshotai/Kimi-K2.5" and "kimi-k2.5" are one; paths are told apart by their last part.
std::string short_name(std::string_view name) {
    while (!name.empty() && name.back() == '/') name.remove_suffix(1);
    std::string letters;
    for (const char c : name.substr(name.rfind('/') == std::string_view::npos ? 0 : name.rfind('/') + 1)) {
        if (is_alnum(c)) letters += lower(c);
    }
    return letters;
}
bool same_model(std::string_view a, std::string_view b) { return short_name(a) == short_name(b); }

}  // namespace

std::variant<Calibration, NoCalibration> calibrate(const Scenario& given, const Observed& seen, std::string source) {
    if (!seen.max_total_num_tokens || *seen.max_total_num_tokens <= 0) return NoCalibration{"the log does not say how many tokens the pool holds"};
    const bool sglang = given.engine.kind == EngineKind::sglang;
    if (sglang && (!seen.free_before_load || !seen.free_after_load)) return NoCalibration{"the log does not say how much memory was free before and after the weights"};
    if (!sglang && !seen.weights) return NoCalibration{"the log does not say what the weights took"};
    Scenario scenario = given;
    Calibration result;
    if (seen.free_before_load) {
        result.free_before_load = rounded(*seen.free_before_load, 1);
        scenario.hardware.gpu_free = seen.free_before_load;
    }
    const Bytes weights = sglang ? *seen.free_before_load - *seen.free_after_load : *seen.weights;
    result.weights = rounded(weights, sglang ? 2 : 1);
    scenario.weights_per_gpu = weights;
    if (seen.fraction) {
        if (sglang) scenario.engine.mem_fraction_static = FreeMemoryFraction{*seen.fraction};
        else scenario.engine.gpu_memory_utilization = TotalMemoryFraction{*seen.fraction};
    }
    scenario.calibration = CalibratedRules{};
    const std::int64_t tokens = *seen.max_total_num_tokens;
    std::optional<Bytes> shift = find_shift(scenario, tokens);
    // One per cent of the card is more than rounding and unequal ranks explain: then the cell may be another.
    const double tolerance = 0.01 * d(seen.free_before_load.value_or(gibibytes(24)));
    if (!shift || std::abs(d(*shift)) > tolerance) {
        Scenario other = scenario;
        other.calibration->cell_ratio = measured_cell_ratio(given, seen);
        if (other.calibration->cell_ratio != 1.0) {
            const auto better = find_shift(other, tokens);
            if (better && (!shift || std::abs(d(*better)) < std::abs(d(*shift)))) {
                scenario = other;
                shift = better;
            }
        }
    }
    if (!shift) return NoCalibration{"no correction of the budget gives the log's " + std::to_string(tokens) + " tokens"};
    scenario.calibration->budget_shift = *shift;
    set_costs(scenario, seen);
    result.rules = *scenario.calibration;
    result.model = given.model_name;
    result.gpu = given.hardware.gpu_name;
    result.engine = sglang ? "sglang" : "vllm";
    result.version = given.engine.version_text;
    result.tp = given.engine.tp;
    result.pp = given.engine.pp;
    result.dp = given.engine.dp;
    result.ep = given.engine.ep;
    result.dp_attention = given.engine.enable_dp_attention;
    result.draft_model = given.draft_model_name;
    result.quantization = given.engine.quantization;
    result.max_total_num_tokens = tokens;
    result.fraction = seen.fraction;
    result.source = std::move(source);
    return result;
}

void fill_in(const Calibration& calibration, Scenario& scenario) {
    const auto given = [&](std::string_view field) { return scenario.origin.find(std::string(field)) != scenario.origin.end(); };
    const auto fill = [&](std::string_view field, const std::string& value) {
        if (value.empty() || given(field)) return;
        if (const FieldSpec* spec = find_field(field)) (void)set_field(scenario, *spec, value, "calibration");
    };
    if (!scenario.model) fill("model", calibration.model);
    if (!scenario.gpu) fill("gpu", calibration.gpu);
    fill("engine", calibration.engine + (calibration.version.empty() ? "" : "@" + calibration.version));
    if (scenario.engine.version_text.empty() && !calibration.version.empty()) scenario.engine.version_text = calibration.version;
    fill("tp_size", std::to_string(calibration.tp));
    fill("pp_size", std::to_string(calibration.pp));
    fill("dp_size", std::to_string(calibration.dp));
    fill("ep_size", std::to_string(calibration.ep));
    if (calibration.dp_attention) fill("enable_dp_attention", "true");
    fill("draft_model", calibration.draft_model);
    fill("quantization", calibration.quantization);
    if (calibration.fraction) fill(calibration.engine == "sglang" ? "mem_fraction_static" : "gpu_memory_utilization", text_of(FieldValue{*calibration.fraction}));
}

void apply(const Calibration& calibration, Scenario& scenario, Diagnostics& diagnostics) {
    const EngineOptions& e = scenario.engine;
    const auto differs = [&](Severity severity, std::string_view what, const std::string& found, const std::string& expected) {
        Diagnostic diagnostic;
        diagnostic.severity = severity;
        diagnostic.code = "calibration.other-deployment";
        diagnostic.pointer = "--calibration";
        diagnostic.message = "the calibration was made with another " + std::string(what);
        diagnostic.found = found;
        diagnostic.expected = expected;
        diagnostic.hint = severity == Severity::error ? "calibrate from a log of this deployment" : "";
        diagnostics.add(std::move(diagnostic));
    };
    const std::string engine = e.kind == EngineKind::sglang ? "sglang" : "vllm";
    if (engine != calibration.engine) return differs(Severity::error, "engine", engine, calibration.engine);
    if (!same_model(scenario.model_name, calibration.model)) differs(Severity::error, "model", scenario.model_name, calibration.model);
    for (const auto& [name, now, then] : {std::tuple{"tp", e.tp, calibration.tp}, {"pp", e.pp, calibration.pp}, {"ep", e.ep, calibration.ep}})
        if (now != then) differs(Severity::error, name, std::to_string(now), std::to_string(then));
    if (e.enable_dp_attention != calibration.dp_attention || (e.enable_dp_attention && e.dp != calibration.dp))
        differs(Severity::error, "dp attention", std::to_string(e.dp), std::to_string(calibration.dp));
    if (e.quantization != calibration.quantization) differs(Severity::error, "format of the weights", e.quantization, calibration.quantization);
    if (e.version_text != calibration.version) differs(Severity::warning, "version", e.version_text, calibration.version);
    if (scenario.draft_model_name != calibration.draft_model) differs(Severity::warning, "drafter", scenario.draft_model_name, calibration.draft_model);
    if (diagnostics.has_errors()) return;
    // What the user measured by hand stands.
    if (!scenario.hardware.gpu_free && calibration.free_before_load.expected.count() > 0) {
        scenario.hardware.gpu_free = calibration.free_before_load.expected;
        scenario.origin["gpu_free"] = "calibration";
    }
    if (!scenario.weights_per_gpu) {
        scenario.weights_per_gpu = calibration.weights.expected;
        scenario.origin["weights_per_gpu"] = "calibration";
    }
    scenario.calibration = calibration.rules;
}

}  // namespace kvplan::logs
