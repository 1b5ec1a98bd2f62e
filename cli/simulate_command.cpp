#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "charts/of_results.hpp"
#include "charts/picture.hpp"
#include "cli/context.hpp"
#include "cli/progress.hpp"
#include "cli/scenario_options.hpp"
#include "cli/simulate_setup.hpp"
#include "models/write_file.hpp"
#include "planner/export/simulate_export.hpp"

namespace kvplan::cli {

namespace {

constexpr const char* kExample =
    "Examples:\n"
    "  kvplan simulate --pool-tokens 116000 --input-tokens 500 --output-tokens exp:3500 --admission sglang\n"
    "    how many requests run at once, and how many are retracted, when the queue is never empty\n"
    "  kvplan simulate trace.jsonl.gz --pool-tokens 1000000 --host-tokens 5000000 --step-times 20000:80:0.01:60\n"
    "    a trace at its own arrival times through the GPU's and the host's prefix cache, with latencies";

void run_simulate(const SimulateOptions& options, const ScenarioOptions& flags, Context& context) {
    Diagnostics diagnostics;
    const SimulateNumbers numbers = numbers_of(options, diagnostics);
    if (diagnostics.has_errors()) return fail(context, diagnostics);
    Scenario scenario;
    exporting::SimulationStudy study;
    std::optional<trace::Trace> trace;
    if (!options.files.empty()) {
        trace::ReadOptions reading;
        reading.strict = options.strict;
        reading.progress = percent_line(context, "reading the trace");
        trace = trace::read_trace(options.files, reading, diagnostics);
        if (!trace) return fail(context, diagnostics);
    }
    if (!set_up(options, numbers, flags, trace, context, scenario, study)) return;
    study.options.progress = percent_line(context, "simulating");
    const auto source = requests_of(options, numbers, flags, trace, scenario, study, diagnostics);
    if (!source || diagnostics.has_errors()) return fail(context, diagnostics);
    show(context, diagnostics);
    if (!options.timeline.empty() || context.format == Format::text) study.options.timeline_points = 1000;
    study.result = simulate::simulate(*source, study.options);
    if (!options.timeline.empty()) {
        const charts::LineChart chart = charts::timeline_chart(study.result, study.options.pool_tokens, study.options.times.has_value());
        const auto chart_bytes = charts::picture(charts::draw(chart, {900, 500}, charts::theme_of(charts::Look::light)), options.timeline);
        const std::string failure = write_file(options.timeline, chart_bytes ? *chart_bytes : exporting::timeline_csv(study));
        if (!failure.empty()) {
            *context.err << "kvplan: " << escape_for_terminal(failure) << "\n";
            context.exit_code = kUsage;
            return;
        }
    }
    (void)write_formatted(context, exporting::simulation_json(study), exporting::simulation_report(study));
}

}  // namespace

void add_simulate_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("simulate", "Event simulation of a scenario, of length distributions or of a trace");
    command->footer(kExample);
    const auto options = std::make_shared<SimulateOptions>();
    command->add_option("files", options->files, "Trace files, read as one; none: --input-tokens and --output-tokens")->type_name("FILE");
    command->add_option("--pool-tokens", options->pool_tokens, "Tokens of the KV pool, instead of a model and its GPU")->type_name("N");
    command->add_option("--requests", options->requests, "Requests to simulate (200,000; of a trace: all)")->type_name("N");
    command->add_option("--admission", options->admission, "sglang; full: the whole length is reserved; free: as soon as the prompt fits; vllm")->type_name("RULE");
    command->add_option("--seed", options->seed, "Of the distributions")->type_name("N");
    command->add_option("--host-tokens", options->host_tokens, "Tokens of the host's prefix cache")->type_name("N");
    command->add_option("--step-times", options->step_times, "Microseconds A:B:C:D[:E]: a decode step of n requests takes A + B n + C (context tokens), a prefill D (+ E context) a token")->type_name("TIMES");
    command->add_option("--timeline", options->timeline, "Running, queued and token usage over time: a chart for .svg and .png, else CSV")->type_name("FILE");
    command->add_option("--warmup", options->warmup, "Share of the requests that is not measured")->type_name("SHARE");
    command->add_flag("--saturated", options->saturated, "The queue is never empty, even where a trace has times");
    command->add_flag("--no-prefixes", options->no_prefixes, "Leave a trace's block ids aside");
    command->add_flag("--strict", options->strict, "Stop at the first line of a trace that cannot be read");
    const auto scenario = add_scenario_options(*command, context);
    command->callback([options, scenario, &context] { run_simulate(*options, *scenario, context); });
}

}  // namespace kvplan::cli
