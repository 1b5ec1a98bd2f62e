#include "planner/log/analysis.hpp"

#include <algorithm>
#include <cmath>

#include "models/hardware/free_memory.hpp"
#include "models/hardware/gpu_catalogue.hpp"
#include "planner/log/remedy.hpp"
#include "planner/plan.hpp"

namespace kvplan::logs {

namespace {

double d(Bytes bytes) { return static_cast<double>(bytes.count()); }

/// The card whose memory is just above what was free; SGLang's log does not name it. The first of those with the same memory.
std::string guessed_gpu(const Observed& seen, const CatalogueOptions& options) {
    Diagnostics ignored;
    const GpuCatalogue catalogue = GpuCatalogue::load(options.hardware_dir, ignored);
    const auto total = seen.total ? seen.total : seen.free_before_load;
    if (!total) return {};
    constexpr double kMostTaken = 4.5;   // GiB of context and communicator
    std::string best;
    double least = kMostTaken * static_cast<double>(kGiB);
    for (const GpuSpec& gpu : catalogue.all()) {
        const double spare = d(process_memory(gpu).total.expected) - d(*total);
        if (spare < -0.3 * static_cast<double>(kGiB) || spare >= least) continue;
        least = std::max(0.0, spare);
        best = gpu.name;
    }
    return best;
}

std::string first_message(const Diagnostics& diagnostics) {
    for (const Diagnostic& diagnostic : diagnostics.items())
        if (diagnostic.severity == Severity::error) return diagnostic.message + (diagnostic.hint.empty() ? "" : " (" + diagnostic.hint + ")");
    return {};
}

/// A model's path as a name: "/data/models/Kimi-K2.5/", "…/models--moonshotai--Kimi-K2.5/snapshots/1a2b".
std::string name_in_path(const std::string& path) {
    std::string text = path;
    if (const std::size_t hub = text.find("models--"); hub != std::string::npos) {
        text = text.substr(hub + 8, text.find('/', hub) - hub - 8);
        const std::size_t owner = text.find("--");
        return owner == std::string::npos ? text : text.substr(owner + 2);
    }
    while (!text.empty() && text.back() == '/') text.pop_back();
    return text.substr(text.rfind('/') + 1);
}

/// The model by its name, or, when the log names a directory of the server's machine, by the directory's name.
bool resolve_any(Scenario& scenario, const CatalogueOptions& catalogues, std::string& why_not) {
    Diagnostics faults;
    Scenario tried = scenario;
    if (resolve(tried, catalogues, faults)) {
        scenario = std::move(tried);
        return true;
    }
    why_not = first_message(faults);
    const std::string name = name_in_path(scenario.model_name);
    if (name.empty() || name == scenario.model_name) return false;
    tried = scenario;
    tried.model_name = name;
    Diagnostics again;
    if (!resolve(tried, catalogues, again)) return false;
    scenario = std::move(tried);
    why_not.clear();
    return true;
}

const FindingValue* value_of(const Outcome& outcome, std::string_view name) {
    for (const FindingValue& value : outcome.values)
        if (value.name == name) return &value;
    return nullptr;
}

/// An allocation that the plan knows is no matter of the fraction, whatever the phase it failed in.
void name_request_table(StartAnalysis& analysis) {
    Outcome& outcome = analysis.outcome;
    if (outcome.code != "pool_out_of_memory" && outcome.code != "fraction_too_high") return;
    constexpr double kSame = 0.01;
    const FindingValue* tried = value_of(outcome, "tried");
    for (const Finding& finding : analysis.comparison->planned.findings) {
        if (finding.code != "request_table_does_not_fit") continue;
        for (const FindingValue& value : finding.values) {
            if (value.name == "table" && (tried == nullptr || std::abs(tried->number - value.number) > kSame * value.number)) return;
            if (value.name == "table" || value.name == "rows") outcome.values.push_back(value);
        }
        outcome.code = "request_table_does_not_fit";
        return;
    }
}

std::optional<ServedCeiling> served_ceiling(const StartRecord& start, const Observed& seen, Scenario scenario) {
    double running = 0.0, busy = 0.0, tokens = 0.0;
    for (const auto& [dp, serving] : start.serving) {
        running += serving.running.most;
        busy += serving.running.sum;
        // SGLang prints the tokens that requests hold, vLLM their share of the pool.
        if (serving.tokens.count > 0) tokens += serving.tokens.sum;
        else tokens += serving.token_usage.sum * static_cast<double>(seen.max_total_num_tokens.value_or(0));
    }
    if (running < 1.0 || busy <= 0.0 || tokens <= 0.0) return std::nullopt;
    Workload seen_load;
    seen_load.input_tokens = std::max(1.0, tokens / busy);
    seen_load.output_tokens = 1.0;
    seen_load.concurrency = static_cast<std::int64_t>(std::llround(running));
    scenario.workload = seen_load;
    scenario.reuse = nullptr;
    const Plan result = plan(scenario);
    if (!result.throughput.decode || result.throughput.curve.empty()) return std::nullopt;
    return ServedCeiling{result.throughput.curve.back().concurrency, *seen_load.input_tokens, result.throughput.decode->value};
}

}  // namespace

StartAnalysis analyse(const StartRecord& start, const Overrides& overrides, const CatalogueOptions& catalogues, Diagnostics& diagnostics) {
    StartAnalysis result;
    result.seen = observe(start);
    result.outcome = judge(start, result.seen);
    LoggedConfiguration configuration = start.configuration;
    configuration.engine = start.engine();
    if (configuration.version.empty()) configuration.version = version_by_wording(start);
    Scenario scenario;
    result.settings_without_field = apply(configuration, scenario, diagnostics);
    // The log's own figures stand in for settings that an excerpt does not hold.
    if (!scenario.engine.context_length && result.seen.context_length) scenario.engine.context_length = result.seen.context_length;
    if (!overrides(scenario, diagnostics)) return result;
    if (scenario.hardware.gpu_name.empty()) {
        scenario.hardware.gpu_name = guessed_gpu(result.seen, catalogues);
        result.gpu_is_guessed = !scenario.hardware.gpu_name.empty();
        if (result.gpu_is_guessed) scenario.origin["gpu"] = "guessed from the memory in the log";
    }
    if (!resolve_any(scenario, catalogues, result.not_planned)) return result;
    result.scenario = scenario;
    result.comparison = compare(scenario, start, result.seen);
    name_request_table(result);
    result.ceiling = served_ceiling(start, result.seen, scenario);
    if (!result.outcome.code.empty() && result.outcome.code != "incomplete") result.remedy = remedy_for(result);
    return result;
}

}  // namespace kvplan::logs
