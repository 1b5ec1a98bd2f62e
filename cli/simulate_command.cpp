#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "charts/of_results.hpp"
#include "charts/picture.hpp"
#include "cli/context.hpp"
#include "cli/output_file.hpp"
#include "cli/scenario_options.hpp"
#include "planner/admission.hpp"
#include "planner/concurrency.hpp"
#include "planner/engines/engine.hpp"
#include "planner/export/simulate_export.hpp"
#include "planner/trace/workload.hpp"
#include "units/parse.hpp"

namespace kvplan::cli {

namespace {

constexpr const char* kExample =
    "Examples:\n"
    "  kvplan simulate --pool-tokens 116000 --input-tokens 500 --output-tokens exp:3500 --admission sglang\n"
    "    how many requests run at once, and how many are retracted, when the queue is never empty\n"
    "  kvplan simulate trace.jsonl.gz --pool-tokens 1000000 --host-tokens 5000000 --step-times 20000:80:0.01:60\n"
    "    a trace at its own arrival times through the GPU's and the host's prefix cache, with latencies";

struct Options {
    std::vector<std::string> files;
    std::string pool_tokens, requests, admission, seed = "1", host_tokens, step_times, timeline, warmup = "0.1";
    bool saturated = false, no_prefixes = false, strict = false;
};

class Reader {
public:
    explicit Reader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

    void fault(const std::string& flag, const std::string& found, const std::string& expected) {
        Diagnostic fault;
        fault.code = "flag.value";
        fault.pointer = flag;
        fault.message = flag + " cannot be used";
        fault.found = found.empty() ? "nothing" : found;
        fault.expected = expected;
        diagnostics_.add(std::move(fault));
    }

    std::optional<std::int64_t> count(const std::string& flag, const std::string& text, std::int64_t least) {
        if (text.empty()) return std::nullopt;
        const auto parsed = parse_integer(text);
        const auto* value = std::get_if<std::int64_t>(&parsed);
        if (value != nullptr && *value >= least && *value <= (std::int64_t{1} << 50)) return *value;
        fault(flag, text, "a whole number of at least " + std::to_string(least));
        return std::nullopt;
    }

    /// Microseconds: base:per request:per context token:per prefill token[:per prefill token and context token].
    std::optional<simulate::StepTimes> step_times(const std::string& text) {
        if (text.empty()) return std::nullopt;
        std::vector<double> parts;
        for (std::size_t start = 0; start <= text.size();) {
            const std::size_t end = std::min(text.find(':', start), text.size());
            const auto parsed = parse_real(text.substr(start, end - start));
            const auto* value = std::get_if<double>(&parsed);
            parts.push_back(value != nullptr && *value >= 0.0 ? *value : -1.0);
            start = end + 1;
        }
        if (parts.size() < 4 || parts.size() > 5 || *std::min_element(parts.begin(), parts.end()) < 0.0 || parts[0] <= 0.0) {
            fault("--step-times", text, "microseconds A:B:C:D[:E], a decode step of n requests taking A + B n + C (tokens of context), a prefill D (+ E context) per token");
            return std::nullopt;
        }
        parts.resize(5, 0.0);
        return simulate::StepTimes{parts[0], parts[1], parts[2], parts[3], parts[4]};
    }

    std::optional<simulate::LengthDistribution> lengths(const std::string& flag, const std::map<std::string, std::string>& values, const std::string& field,
                                                        const std::optional<double>& mean, const std::optional<double>& p95) {
        const auto found = values.find(field);
        if (found != values.end()) {
            const auto parsed = simulate::parse_distribution(found->second);
            if (const auto* lengths = std::get_if<simulate::LengthDistribution>(&parsed)) return *lengths;
        }
        if (!mean) return fault(flag, "", "a length: 3500, exp:3500, lognormal:3500:2.0, 3500:8000 (mean:p95), or a trace file"), std::nullopt;
        if (!p95) return simulate::LengthDistribution{simulate::LengthDistribution::Kind::fixed, *mean, 0.0};
        return simulate::LengthDistribution{simulate::LengthDistribution::Kind::lognormal, *mean, cv2_from_p95(*mean, *p95)};
    }

private:
    Diagnostics& diagnostics_;
};

/// What a plan knows of the deployment, for one pool.
void use_plan(const Scenario& scenario, const Plan& planned, exporting::SimulationStudy& study) {
    simulate::Options& o = study.options;
    if (o.pool_tokens == 0) o.pool_tokens = planned.capacity.max_total_num_tokens.expected.count();
    o.page = std::max<std::int64_t>(1, planned.kv_cache.page_size.count());
    if (planned.capacity.max_running_requests.count() > 0) o.max_running = planned.capacity.max_running_requests.count();
    if (scenario.engine.hicache.enabled && o.host_tokens == 0) o.host_tokens = planned.hicache.tokens.count();
    // The ceilings' step times, as a line through their curve: nothing real is faster.
    const auto& curve = planned.throughput.curve;
    if (o.times || curve.size() < 2 || !planned.throughput.prefill || planned.throughput.prefill->value <= 0.0) return;
    const ThroughputPoint &first = curve.front(), &last = curve.back();
    if (last.concurrency <= first.concurrency || first.step_seconds <= 0.0) return;
    simulate::StepTimes times;
    times.per_request = std::max(0.0, (last.step_seconds - first.step_seconds) / (last.concurrency - first.concurrency) * 1e6);
    times.base = std::max(1.0, first.step_seconds * 1e6 - times.per_request * first.concurrency);
    times.per_prefill_token = 1e6 / planned.throughput.prefill->value;
    o.times = times;
    study.times_from = "ceilings";
}

void use_engine(const Scenario& scenario, simulate::Options& o) {
    const EngineOptions& engine = scenario.engine;
    if (engine.page_size) o.page = *engine.page_size;
    if (engine.max_running_requests) o.max_running = *engine.max_running_requests;
    if (engine.chunked_prefill_size && *engine.chunked_prefill_size > 0) o.chunk_tokens = *engine.chunked_prefill_size;
    if (engine.max_prefill_tokens) o.max_prefill_tokens = *engine.max_prefill_tokens;
    if (engine.kind == EngineKind::vllm && engine.max_num_batched_tokens) o.chunk_tokens = *engine.max_num_batched_tokens;
    o.conservativeness = engine.schedule_conservativeness;
    o.mixed_steps = engine.enable_mixed_chunk;
    if (const auto policy = trace::write_policy_named(engine.hicache.write_policy)) o.policy = *policy;
    o.concurrency = scenario.workload.concurrency;
}

void add_formulas(const RequestShape& shape, const Scenario& scenario, exporting::SimulationStudy& study) {
    const AdmissionCase c{.pool_tokens = static_cast<double>(study.options.pool_tokens), .page = static_cast<double>(study.options.page), .context_tokens = 0.0, .request = shape};
    study.full_length = full_length_concurrency(c);
    study.steady_state = steady_state_concurrency(c);
    study.retraction_free = retraction_free_concurrency(c, scenario.workload.retraction_risk);
    study.admission = engine_of(scenario.engine).admitted_requests(scenario, c);
}

/// Requests from distributions; nothing, with a fault told, when the lengths are not given.
std::unique_ptr<simulate::RequestSource> from_distributions(const ScenarioOptions& flags, const Scenario& scenario, std::int64_t requests, std::uint64_t seed, Reader& reader,
                                                            exporting::SimulationStudy& study) {
    const Workload& w = scenario.workload;
    const auto input = reader.lengths("--input-tokens", flags.values, "input_tokens", w.input_tokens, w.input_p95);
    const auto output = reader.lengths("--output-tokens", flags.values, "output_tokens", w.output_tokens, w.output_p95);
    if (!input || !output) return nullptr;
    simulate::SyntheticOptions synthetic{*input, *output, requests, study.options.pool_tokens - 1, w.max_new_tokens, std::nullopt, seed};
    if (study.options.times && w.request_rate && !w.concurrency) {
        synthetic.requests_per_second = w.request_rate;
        study.options.open_loop = true;
    }
    RequestShape shape{.input = input->mean, .output = output->mean};
    shape.input_cv2 = input->cv2;
    shape.output_cv2 = output->cv2;
    if (w.max_new_tokens) shape.max_new = std::max(static_cast<double>(*w.max_new_tokens), shape.output);
    add_formulas(shape, scenario, study);
    study.requests_from = "distributions";
    return simulate::synthetic_requests(synthetic);
}

std::unique_ptr<simulate::RequestSource> from_trace(const trace::Trace& trace, const Options& options, const Scenario& scenario, std::int64_t requests,
                                                    exporting::SimulationStudy& study) {
    simulate::TraceOptions from;
    from.max_new = scenario.workload.max_new_tokens;
    from.requests = requests;
    from.prefixes = trace.has_blocks() && !options.no_prefixes && !scenario.engine.disable_radix_cache;
    study.options.open_loop = study.options.times && trace.has_times && !options.saturated && !scenario.workload.concurrency;
    if (from.prefixes) {
        study.options.forest = &trace.forest;
        study.options.block_tokens = trace.block_tokens;
    } else {
        // With shared prefixes the forms need the resident share; without, they hold as they are.
        const trace::WorkloadFacts facts = trace::workload_facts(trace, std::nullopt);
        RequestShape shape{.input = facts.input.mean, .output = std::max(1.0, facts.output.mean)};
        shape.input_cv2 = facts.input.cv2;
        shape.output_cv2 = facts.output.cv2;
        shape.bias = facts.covariance / shape.output;
        if (scenario.workload.max_new_tokens) shape.max_new = std::max(static_cast<double>(*scenario.workload.max_new_tokens), shape.output);
        add_formulas(shape, scenario, study);
    }
    study.requests_from = "trace";
    return simulate::trace_requests(trace, from);
}

bool set_up(const Options& options, const ScenarioOptions& flags, Context& context, Scenario& scenario, exporting::SimulationStudy& study, Diagnostics& diagnostics) {
    Reader reader(diagnostics);
    simulate::Options& o = study.options;
    o.pool_tokens = reader.count("--pool-tokens", options.pool_tokens, 1).value_or(0);
    o.host_tokens = reader.count("--host-tokens", options.host_tokens, 0).value_or(0);
    o.times = reader.step_times(options.step_times);
    if (o.times) study.times_from = "given";
    const auto warmup = parse_real(options.warmup);
    if (const auto* share = std::get_if<double>(&warmup); share != nullptr && *share >= 0.0 && *share < 1.0) o.warmup_share = *share;
    else reader.fault("--warmup", options.warmup, "a share of the requests from 0 to below 1");
    const bool deployment = flags.values.count("model") > 0 || !flags.scenario_file.empty();
    if (diagnostics.has_errors()) return fail(context, diagnostics), false;
    if (deployment) {
        auto built = build_scenario(flags, context);
        if (!built) return false;
        scenario = std::move(*built);
        use_plan(scenario, plan(scenario), study);
    } else if (!apply(flags, scenario, diagnostics)) {
        return fail(context, diagnostics), false;
    }
    use_engine(scenario, o);
    o.admission = scenario.engine.kind == EngineKind::vllm ? simulate::Admission::vllm : simulate::Admission::sglang;
    if (!options.admission.empty()) {
        if (const auto admission = simulate::admission_named(options.admission)) o.admission = *admission;
        else reader.fault("--admission", options.admission, "sglang, full, free or vllm");
    }
    if (o.pool_tokens < o.page) reader.fault("--pool-tokens", options.pool_tokens, deployment ? "a model that fits, or the tokens of the pool" : "the tokens of the pool, or a model with its GPU");
    if (o.page < 1) reader.fault("--page-size", std::to_string(o.page), "at least one token");
    if (diagnostics.has_errors()) return fail(context, diagnostics), false;
    return true;
}

void run_simulate(const Options& options, const ScenarioOptions& flags, Context& context) {
    Diagnostics diagnostics;
    Reader reader(diagnostics);
    Scenario scenario;
    exporting::SimulationStudy study;
    if (!set_up(options, flags, context, scenario, study, diagnostics)) return;
    const auto requests = reader.count("--requests", options.requests, 1);
    const auto seed = reader.count("--seed", options.seed, 0);
    std::optional<trace::Trace> trace;
    std::unique_ptr<simulate::RequestSource> source;
    if (!options.files.empty()) {
        trace::ReadOptions reading;
        reading.strict = options.strict;
        trace = trace::read_trace(options.files, reading, diagnostics);
        if (trace && !diagnostics.has_errors()) {
            study.options.expected_requests = requests.value_or(static_cast<std::int64_t>(trace->requests.size()));
            source = from_trace(*trace, options, scenario, requests.value_or(0), study);
        }
    } else {
        study.options.expected_requests = requests.value_or(simulate::SyntheticOptions{}.requests);
        source = from_distributions(flags, scenario, study.options.expected_requests, static_cast<std::uint64_t>(seed.value_or(1)), reader, study);
    }
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
    const auto options = std::make_shared<Options>();
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
