#include "cli/simulate_setup.hpp"

#include <algorithm>
#include <cmath>

#include "models/hardware/gpu_spec.hpp"
#include "planner/concurrency/admission.hpp"
#include "planner/concurrency/concurrency.hpp"
#include "planner/engines/engine.hpp"
#include "planner/trace/workload.hpp"
#include "units/parse.hpp"

namespace kvplan::cli {

namespace {

std::optional<std::int64_t> count(const std::string& flag, const std::string& text, std::int64_t least, Diagnostics& diagnostics) {
    if (text.empty()) return std::nullopt;
    const auto parsed = parse_integer(text);
    const auto* value = std::get_if<std::int64_t>(&parsed);
    if (value != nullptr && *value >= least && *value <= (std::int64_t{1} << 50)) return *value;
    flag_fault(diagnostics, flag, text, "a whole number of at least " + std::to_string(least));
    return std::nullopt;
}

/// Microseconds: base:per request:per context token:per prefill token[:per prefill token and context token].
std::optional<simulate::StepTimes> step_times(const std::string& text, Diagnostics& diagnostics) {
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
        flag_fault(diagnostics, "--step-times", text, "microseconds A:B:C:D[:E], a decode step of n requests taking A + B n + C (tokens of context), a prefill D (+ E context) per token");
        return std::nullopt;
    }
    parts.resize(5, 0.0);
    return simulate::StepTimes{parts[0], parts[1], parts[2], parts[3], parts[4]};
}

std::optional<simulate::LengthDistribution> lengths(const std::string& flag, const std::map<std::string, std::string>& values, const std::string& field, const std::optional<double>& mean,
                                                    const std::optional<double>& p95, Diagnostics& diagnostics) {
    const auto found = values.find(field);
    if (found != values.end()) {
        const auto parsed = simulate::parse_distribution(found->second);
        if (const auto* lengths = std::get_if<simulate::LengthDistribution>(&parsed)) return *lengths;
    }
    if (!mean) return flag_fault(diagnostics, flag, "", "a length: 3500, exp:3500, lognormal:3500:2.0, 3500:8000 (mean:p95), or a trace file"), std::nullopt;
    if (!p95) return simulate::LengthDistribution{simulate::LengthDistribution::Kind::fixed, *mean, 0.0};
    return simulate::LengthDistribution{simulate::LengthDistribution::Kind::lognormal, *mean, cv2_from_p95(*mean, *p95)};
}

/// The ceilings' step times, as a line through their curve: nothing real is faster. The curve is of the deployment, in
/// which `pools` pools step side by side with an equal share of its requests.
std::optional<simulate::StepTimes> ceiling_times(const Plan& planned, double pools) {
    const auto& curve = planned.throughput.curve;
    if (curve.size() < 2 || !planned.throughput.prefill || planned.throughput.prefill->value <= 0.0) return std::nullopt;
    const ThroughputPoint &first = curve.front(), &last = curve.back();
    if (last.concurrency <= first.concurrency || first.step_seconds <= 0.0) return std::nullopt;
    const double per_request = std::max(0.0, (last.step_seconds - first.step_seconds) / (last.concurrency - first.concurrency) * 1e6);
    simulate::StepTimes times;
    times.base = std::max(1.0, first.step_seconds * 1e6 - per_request * first.concurrency);
    times.per_request = per_request * pools;
    times.per_prefill_token = 1e6 * pools / planned.throughput.prefill->value;
    return times;
}

/// What a plan knows of one KV pool of the deployment.
void use_plan(const Scenario& scenario, const Plan& planned, exporting::SimulationStudy& study) {
    simulate::Options& o = study.options;
    study.pools = std::max<std::int64_t>(1, planned.parallelism.replicas * planned.parallelism.dp_attention);
    if (o.pool_tokens == 0) o.pool_tokens = planned.capacity.max_total_num_tokens.expected.count();
    o.page = std::max<std::int64_t>(1, planned.kv_cache.page_size.count());
    if (planned.capacity.max_running_requests.count() > 0) o.max_running = planned.capacity.max_running_requests.count();
    if (scenario.engine.hicache.enabled) {
        if (o.host_tokens == 0) o.host_tokens = planned.hicache.tokens.count();
        if (planned.hicache.tokens.count() > 0)
            o.host_bytes_per_token = static_cast<double>(planned.hicache.bytes_per_rank.count()) / static_cast<double>(planned.hicache.tokens.count());
        if (scenario.gpu)
            if (const auto rate = host_rate(*scenario.gpu)) o.host_bytes_per_second = rate->value.value;
    }
    if (o.times) return;
    o.times = ceiling_times(planned, static_cast<double>(study.pools));
    if (o.times) study.times_from = "ceilings";
}

void use_engine(const Scenario& scenario, bool deployment, exporting::SimulationStudy& study) {
    simulate::Options& o = study.options;
    const EngineOptions& engine = scenario.engine;
    const StepRules rules = engine_of(engine).step_rules(scenario);
    if (!deployment) {
        if (engine.page_size) o.page = *engine.page_size;
        if (engine.max_running_requests) o.max_running = *engine.max_running_requests;
    }
    o.chunk_tokens = rules.chunk_tokens;
    o.max_prefill_tokens = rules.prefill_tokens;
    o.conservativeness = rules.conservativeness;
    o.mixed_steps = rules.mixed;
    o.eviction = rules.evicts_nodes ? simulate::Eviction::nodes : simulate::Eviction::blocks;
    if (const auto policy = trace::write_policy_named(engine.hicache.write_policy)) o.policy = *policy;
    if (scenario.workload.concurrency) o.concurrency = std::max<std::int64_t>(1, *scenario.workload.concurrency / study.pools);
    o.admission = engine.kind == EngineKind::vllm ? simulate::Admission::vllm : simulate::Admission::sglang;
}

void add_formulas(const RequestShape& shape, const Scenario& scenario, exporting::SimulationStudy& study) {
    const AdmissionCase c{.pool_tokens = static_cast<double>(study.options.pool_tokens), .page = static_cast<double>(study.options.page), .context_tokens = 0.0, .request = shape};
    study.full_length = full_length_concurrency(c);
    study.steady_state = steady_state_concurrency(c);
    study.retraction_free = retraction_free_concurrency(c, scenario.workload.retraction_risk);
    study.admission = engine_of(scenario.engine).admitted_requests(scenario, c);
}

std::unique_ptr<simulate::RequestSource> from_distributions(const SimulateNumbers& numbers, const ScenarioOptions& flags, const Scenario& scenario, exporting::SimulationStudy& study,
                                                            Diagnostics& diagnostics) {
    const Workload& w = scenario.workload;
    const auto input = lengths("--input-tokens", flags.values, "input_tokens", w.input_tokens, w.input_p95, diagnostics);
    const auto output = lengths("--output-tokens", flags.values, "output_tokens", w.output_tokens, w.output_p95, diagnostics);
    if (!input || !output) return nullptr;
    const std::int64_t requests = numbers.requests.value_or(simulate::SyntheticOptions{}.requests);
    simulate::SyntheticOptions synthetic{*input, *output, requests, study.options.pool_tokens - 1, w.max_new_tokens, std::nullopt, static_cast<std::uint64_t>(numbers.seed.value_or(1))};
    if (study.options.times && w.request_rate && !w.concurrency) {
        synthetic.requests_per_second = *w.request_rate / static_cast<double>(study.pools);
        study.options.open_loop = true;
    }
    RequestShape shape{.input = input->mean, .output = output->mean};
    shape.input_cv2 = input->cv2;
    shape.output_cv2 = output->cv2;
    if (w.max_new_tokens) shape.max_new = std::max(static_cast<double>(*w.max_new_tokens), shape.output);
    add_formulas(shape, scenario, study);
    study.options.expected_requests = requests;
    study.requests_from = "distributions";
    return simulate::synthetic_requests(synthetic);
}

std::unique_ptr<simulate::RequestSource> from_trace(const trace::Trace& trace, const SimulateOptions& options, const SimulateNumbers& numbers, const Scenario& scenario,
                                                    exporting::SimulationStudy& study) {
    simulate::TraceOptions from;
    from.max_new = scenario.workload.max_new_tokens;
    from.requests = numbers.requests.value_or(0);
    from.every = study.pools;
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
    study.options.expected_requests = numbers.requests.value_or((static_cast<std::int64_t>(trace.requests.size()) + study.pools - 1) / study.pools);
    study.requests_from = "trace";
    return simulate::trace_requests(trace, from);
}

}  // namespace

SimulateNumbers numbers_of(const SimulateOptions& options, Diagnostics& diagnostics) {
    SimulateNumbers numbers;
    numbers.pool_tokens = count("--pool-tokens", options.pool_tokens, 1, diagnostics);
    numbers.host_tokens = count("--host-tokens", options.host_tokens, 0, diagnostics);
    numbers.requests = count("--requests", options.requests, 1, diagnostics);
    numbers.seed = count("--seed", options.seed, 0, diagnostics);
    numbers.times = step_times(options.step_times, diagnostics);
    const auto warmup = parse_real(options.warmup);
    if (const auto* share = std::get_if<double>(&warmup); share != nullptr && *share >= 0.0 && *share < 1.0) numbers.warmup = *share;
    else flag_fault(diagnostics, "--warmup", options.warmup, "a share of the requests from 0 to below 1");
    if (!options.admission.empty() && !(numbers.admission = simulate::admission_named(options.admission)))
        flag_fault(diagnostics, "--admission", options.admission, "sglang, full, free or vllm");
    return numbers;
}

bool set_up(const SimulateOptions& options, const SimulateNumbers& numbers, const ScenarioOptions& flags, const std::optional<trace::Trace>& trace, Context& context, Scenario& scenario,
            exporting::SimulationStudy& study) {
    Diagnostics diagnostics;
    simulate::Options& o = study.options;
    o.pool_tokens = numbers.pool_tokens.value_or(0);
    o.host_tokens = numbers.host_tokens.value_or(0);
    o.times = numbers.times;
    o.warmup_share = numbers.warmup;
    if (o.times) study.times_from = "given";
    const bool deployment = flags.values.count("model") > 0 || !flags.scenario_file.empty() || !flags.calibration.empty();
    if (deployment) {
        auto built = build_scenario(flags, context);
        if (!built) return false;
        scenario = std::move(*built);
        // The plan's step times need lengths; the simulation itself takes each request's own.
        Scenario planned = scenario;
        if (trace) trace::use_as_workload(trace::workload_facts(*trace, std::nullopt), planned);
        use_plan(scenario, plan(planned), study);
    } else if (!apply(flags, scenario, diagnostics)) {
        return fail(context, diagnostics), false;
    }
    use_engine(scenario, deployment, study);
    if (numbers.admission) o.admission = *numbers.admission;
    if (o.page < 1) flag_fault(diagnostics, "--page-size", std::to_string(o.page), "at least one token");
    else if (o.pool_tokens < o.page) flag_fault(diagnostics, "--pool-tokens", options.pool_tokens, deployment ? "a model that fits, or the tokens of the pool" : "the tokens of the pool, or a model with its GPU");
    if (diagnostics.has_errors()) return fail(context, diagnostics), false;
    return true;
}

std::unique_ptr<simulate::RequestSource> requests_of(const SimulateOptions& options, const SimulateNumbers& numbers, const ScenarioOptions& flags, const std::optional<trace::Trace>& trace,
                                                     const Scenario& scenario, exporting::SimulationStudy& study, Diagnostics& diagnostics) {
    return trace ? from_trace(*trace, options, numbers, scenario, study) : from_distributions(numbers, flags, scenario, study, diagnostics);
}

}  // namespace kvplan::cli
