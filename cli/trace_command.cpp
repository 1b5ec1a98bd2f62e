#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "charts/of_results.hpp"
#include "cli/context.hpp"
#include "cli/plot.hpp"
#include "cli/progress.hpp"
#include "cli/scenario_options.hpp"
#include "planner/export/trace_export.hpp"
#include "planner/trace/analysis.hpp"
#include "units/parse.hpp"

namespace kvplan::cli {

namespace {

constexpr const char* kExample =
    "Formats: Mooncake and Qwen Bailian JSON Lines, Azure, BurstGPT and Vidur CSV, SGLang request logs and dumps; plain, gz, xz or zst.\n"
    "Example:\n"
    "  kvplan trace conversation_trace.jsonl.gz --capacities 116000,1000000,inf\n"
    "    the share of prompt tokens that a prefix cache of 116,000, 1,000,000 and any number of tokens finds\n"
    "  kvplan trace trace.jsonl --model kimi-k2.5 --gpu h200 --tp 8 --host-ram 2TB\n"
    "    the same for a deployment, with the --hicache-size that pays";

struct TraceOptions {
    std::vector<std::string> files;
    std::string capacities, policy, device_tokens, storage_tokens, warmup = "0", block_tokens, sample, plot;
    bool strict = false, file_order = false;
};

/// A number of tokens of at least 0; nothing for "inf". A fault is a diagnostic.
std::optional<std::int64_t> tokens(const std::string& flag, const std::string& text, Diagnostics& diagnostics) {
    if (text == "inf") return std::nullopt;
    const auto parsed = parse_integer(text);
    const auto* count = std::get_if<std::int64_t>(&parsed);
    if (count != nullptr && *count >= 0) return *count;
    flag_fault(diagnostics, flag, text, "a whole number of tokens, or inf");
    return std::nullopt;
}

trace::AnalysisOptions analysis_options(const TraceOptions& options, Diagnostics& diagnostics) {
    trace::AnalysisOptions result;
    const auto warmup = parse_real(options.warmup);
    const auto* share = std::get_if<double>(&warmup);
    if (share == nullptr || *share < 0.0 || *share >= 1.0) flag_fault(diagnostics, "--warmup", options.warmup, "a share of the requests from 0 to below 1");
    else result.warmup_share = *share;
    for (std::size_t start = 0; !options.capacities.empty() && start <= options.capacities.size();) {
        const std::size_t end = std::min(options.capacities.find(',', start), options.capacities.size());
        result.capacities.push_back(tokens("--capacities", options.capacities.substr(start, end - start), diagnostics));
        start = end + 1;
    }
    if (!options.policy.empty()) {
        if (const auto policy = trace::write_policy_named(options.policy)) result.policy = *policy;
        else flag_fault(diagnostics, "--policy", options.policy, "write_through, write_through_selective or write_back");
    }
    if (!options.device_tokens.empty()) result.device_tokens = tokens("--device-tokens", options.device_tokens, diagnostics);
    if (!options.storage_tokens.empty()) {
        result.storage = true;
        result.storage_tokens = tokens("--storage-tokens", options.storage_tokens, diagnostics);
    }
    return result;
}

void run_trace(const TraceOptions& options, const ScenarioOptions& scenario_options, Context& context) {
    if (!options.plot.empty() && !is_picture_name(context, options.plot)) return;
    Diagnostics diagnostics;
    trace::AnalysisOptions analysis = analysis_options(options, diagnostics);
    trace::ReadOptions reading;
    reading.strict = options.strict;
    reading.keep_file_order = options.file_order;
    if (!options.block_tokens.empty()) reading.block_tokens = tokens("--block-tokens", options.block_tokens, diagnostics);
    if (reading.block_tokens == 0) flag_fault(diagnostics, "--block-tokens", options.block_tokens, "at least one token");
    // The engine's page, in tokens; without a model it re-blocks the trace.
    const auto page = scenario_options.values.find("page_size");
    if (page != scenario_options.values.end()) {
        reading.page_tokens = tokens("--page-size", page->second, diagnostics);
        if (reading.page_tokens == 0) flag_fault(diagnostics, "--page-size", page->second, "at least one token");
    }
    if (!options.sample.empty()) {
        const auto parsed = parse_real(options.sample);
        const auto* share = std::get_if<double>(&parsed);
        if (share == nullptr || *share <= 0.0 || *share > 1.0) flag_fault(diagnostics, "--sample", options.sample, "a share of the prefix trees above 0, at most 1");
        else if (*share < 1.0) reading.sample_share = *share;
    }
    if (diagnostics.has_errors()) return fail(context, diagnostics);
    const bool deployment = scenario_options.values.count("model") > 0 || !scenario_options.scenario_file.empty() || !scenario_options.calibration.empty();
    std::optional<Scenario> scenario;
    if (deployment && !(scenario = build_scenario(scenario_options, context))) return;
    reading.progress = percent_line(context, "reading the trace");

    auto read = trace::read_trace(options.files, reading, diagnostics);
    if (!read) return fail(context, diagnostics);
    show(context, diagnostics);
    trace::Analysis result = trace::analyse(*read, analysis);
    if (scenario && result.curve) {
        if (options.policy.empty())
            if (const auto policy = trace::write_policy_named(scenario->engine.hicache.write_policy)) analysis.policy = *policy;
        trace::use_as_workload(result.workload, *scenario);
        result.recommendation = trace::recommend(*read, *result.curve, result.workload, *scenario, analysis.policy, analysis.warmup_share);
    }
    if (!options.plot.empty() && result.curve && !write_picture(context, charts::draw(charts::hit_rate_chart(result), {900, 500}, charts::theme_of(charts::Look::light)), options.plot)) return;
    if (context.format == Format::csv) (void)write_result(context, exporting::trace_csv(result));
    else (void)write_formatted(context, exporting::trace_json(result), exporting::trace_report(result));
}

}  // namespace

void add_trace_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("trace", "Request traces -> hit rate against capacity, and the host cache worth its RAM");
    command->footer(kExample);
    const auto options = std::make_shared<TraceOptions>();
    command->add_option("files", options->files, "Trace files, read as one; - is the standard input")->required()->type_name("FILE");
    command->add_option("--capacities", options->capacities, "Cache capacities in tokens, or inf")->type_name("N,…");
    command->add_option("--warmup", options->warmup, "Share of the requests that fill the cache and are not counted")->type_name("SHARE");
    command->add_option("--policy", options->policy, "When the host tier is written: write_through, write_through_selective, write_back")->type_name("POLICY");
    command->add_option("--device-tokens", options->device_tokens, "GPU cache; the capacities are then host caches beside it")->type_name("N");
    command->add_option("--storage-tokens", options->storage_tokens, "A third tier of this size beside --device-tokens, or inf")->type_name("N");
    command->add_option("--block-tokens", options->block_tokens, "Tokens of one block id, where the trace does not tell")->type_name("N");
    command->add_option("--sample", options->sample, "Share of the prefix trees to keep, for traces beyond memory; the error is told")->type_name("SHARE");
    command->add_option("--plot", options->plot, "The hit rate as a picture, .svg or .png")->type_name("FILE");
    command->add_flag("--strict", options->strict, "Stop at the first line that cannot be read");
    command->add_flag("--file-order", options->file_order, "Keep the order of the lines even where times go back");
    const auto scenario = add_scenario_options(*command, context);
    command->callback([options, scenario, &context] { run_trace(*options, *scenario, context); });
}

}  // namespace kvplan::cli
