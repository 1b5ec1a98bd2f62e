#include "planner/throughput/throughput.hpp"

#include <algorithm>
#include <cmath>

#include "planner/concurrency/concurrency.hpp"
#include "planner/engines/engine.hpp"
#include "planner/throughput/step_time.hpp"

namespace kvplan {
namespace {

constexpr std::string_view kAdmission = "admission";
constexpr std::string_view kOffered = "offered";
// One more request counts as raising the ceiling when it brings at least this share of what a request brings on average.
constexpr double kStillRises = 0.1;
// Nine of ten measurements of models that the fit had not seen lie between these multiples (docs/accuracy-throughput.md).
constexpr double kExpectedLow = 0.57, kExpectedHigh = 1.69;
constexpr double kAnyNumber = 1e6, kNearlyAll = 0.9;
constexpr int kCrossingRounds = 8, kLittleRounds = 50;

/// Output rate of a deployment of equal replicas at a concurrency.
struct Curve {
    const StepTimer& timer;
    double replicas = 1.0, output = 1.0;

    [[nodiscard]] Seconds seconds(double concurrency) const { return timer.requests(std::max(1.0, concurrency / replicas)); }
    [[nodiscard]] double requests(double concurrency) const {
        const double total = seconds(concurrency).total;
        return total > 0.0 ? concurrency / total : 0.0;
    }
    [[nodiscard]] double tokens(double concurrency) const { return requests(concurrency) * output; }
};

struct Drafts {
    double given_out = 1.0, verified = 1.0;
};

/// A step gives out one token and the accepted drafts, and computes all it verifies. Unset counts as the largest default
/// of the engines: 5 steps.
Drafts drafts_of(const SpeculativeOptions& options) {
    if (options.algorithm.empty()) return {};
    const auto verified = static_cast<double>(options.num_draft_tokens.value_or(options.num_steps.value_or(5) + 1));
    const auto steps = static_cast<double>(options.num_steps.value_or(static_cast<std::int64_t>(verified) - 1));
    return {std::max(1.0, steps + 1.0), std::max(1.0, verified)};
}

ServedRequest served(const Scenario& scenario, const RequestShape& shape) {
    const StepRules rules = engine_of(scenario.engine).step_rules(scenario);
    const Drafts drafts = drafts_of(scenario.engine.speculative);
    ServedRequest request{.input = shape.input, .output = shape.output, .tokens_per_step = drafts.given_out, .verified_per_step = drafts.verified,
                          .mixed = rules.mixed, .two_batches = rules.two_batches};
    request.uncached = shape.input * (1.0 - scenario.workload.hit_rate.value_or(0.0));
    if (scenario.engine.disaggregation_mode == "decode") request.uncached = 0.0;  // prompts are computed elsewhere
    if (scenario.engine.disaggregation_mode == "prefill") request.output = 1.0;
    return request;
}

struct ServedWork {
    StepWork work;
    ServedRequest request;
};

/// What is served, and what a step of it takes; nothing where lengths or the GPU's rates are not known or nothing fits.
std::optional<ServedWork> served_work(const Scenario& scenario, const Plan& plan) {
    const std::optional<RequestShape> shape = request_shape(scenario.workload);
    if (!shape || !scenario.gpu || !plan.fits || !scenario.gpu->dense.half()) return std::nullopt;
    return ServedWork{count_work(scenario, engine_of(scenario.engine).weight_rules(scenario), plan.kv_cache.dtype), served(scenario, *shape)};
}

/// Requests in flight that nothing planned so far forbids: what the pool holds on average, and the one that just came in.
double largest_concurrency(const Scenario& scenario, const Plan& plan) {
    const double workers = static_cast<double>(plan.parallelism.replicas * plan.parallelism.dp_attention);
    double most = std::max(plan.concurrency.steady_state.value_or(0.0), plan.concurrency.admission.value_or(0.0)) + workers;
    const auto cap = static_cast<double>(plan.capacity.max_running_requests.count());
    if (cap > 0.0) most = std::min(most, cap * workers);
    if (scenario.workload.concurrency) most = std::min(most, static_cast<double>(*scenario.workload.concurrency));
    return most;
}

std::string_view limit_at(const Curve& curve, double concurrency) {
    const double more = concurrency + std::max(1.0, concurrency / 100.0);
    const double rise = std::log(curve.tokens(more) / curve.tokens(concurrency)) / std::log(more / concurrency);
    return rise > kStillRises ? kAdmission : name_of(curve.seconds(concurrency).largest());
}

struct Timers {
    StepTimer bound, expected;
    double bound_prefill = 0.0, expected_prefill = 0.0;   // the same at every concurrency
};

ThroughputPoint point_at(const Timers& timers, const Curve& bound, const Curve& expected, double concurrency) {
    ThroughputPoint point;
    const double batch = std::max(1.0, concurrency / bound.replicas);
    const Seconds seconds = bound.seconds(concurrency);
    point.concurrency = concurrency;
    point.output_tokens_per_second = TokensPerSecond{seconds.total > 0.0 ? concurrency / seconds.total * bound.output : 0.0};
    point.limited_by = name_of(seconds.largest());
    point.step_seconds = timers.bound.decode_step(batch).total;
    point.itl_seconds = point.step_seconds / timers.bound.tokens_per_step();
    point.ttft_seconds = timers.bound_prefill;
    point.expected_output_tokens_per_second = std::min(expected.tokens(concurrency), point.output_tokens_per_second.value);
    const double step = timers.expected.decode_step(batch).total;
    point.expected_itl_seconds = std::max(step / timers.expected.tokens_per_step(), point.itl_seconds);
    point.expected_ttft_seconds = std::max(timers.expected_prefill + step, point.ttft_seconds);  // a step is under way when it comes
    return point;
}

/// Doubling concurrencies up to the largest.
std::vector<ThroughputPoint> trace_curve(const Timers& timers, const Curve& bound, const Curve& expected, double largest) {
    std::vector<ThroughputPoint> points;
    for (double n = 1.0; n < largest; n *= 2.0) points.push_back(point_at(timers, bound, expected, n));
    points.push_back(point_at(timers, bound, expected, largest));
    return points;
}

std::vector<ThroughputChange> changes_along(const std::vector<ThroughputPoint>& points, const Curve& bound) {
    std::vector<ThroughputChange> changes;
    for (std::size_t i = 1; i < points.size(); ++i) {
        const ThroughputPoint &before = points[i - 1], &after = points[i];
        if (before.limited_by == after.limited_by) continue;
        double low = before.concurrency, high = after.concurrency;
        for (int round = 0; round < kCrossingRounds; ++round) {
            const double middle = (low + high) / 2.0;
            (name_of(bound.seconds(middle).largest()) == before.limited_by ? low : high) = middle;
        }
        changes.push_back({high, before.limited_by, after.limited_by});
    }
    return changes;
}

std::vector<Ceiling> ceilings_at(const Curve& bound, double concurrency) {
    std::vector<Ceiling> ceilings;
    const Seconds seconds = bound.seconds(concurrency);
    for (std::size_t r = 0; r < kResources; ++r)
        if (seconds.of[r] > 0.0)
            ceilings.push_back({name_of(static_cast<Resource>(r)), TokensPerSecond{concurrency / seconds.of[r] * bound.output}});
    ceilings.push_back({kAdmission, TokensPerSecond{bound.tokens(concurrency)}});
    return ceilings;
}

HardwareLimit hardware_limit(const Curve& bound) {
    const double most = kAnyNumber * bound.replicas, all = bound.tokens(most);
    double low = 1.0, high = most;  // the rate rises with the concurrency
    for (int round = 0; round < kLittleRounds && high - low > 1.0; ++round) {
        const double middle = std::sqrt(low * high);
        (bound.tokens(middle) < kNearlyAll * all ? low : high) = middle;
    }
    return {TokensPerSecond{all}, std::ceil(high), name_of(bound.seconds(most).largest())};
}

/// All hits loaded from the host tier, against no hits at all.
std::optional<HostTierEffect> host_tier_effect(const Scenario& scenario, const Plan& plan, const StepWork& work, ServedRequest request,
                                               const Costs& costs, double concurrency) {
    if (!plan.hicache.enabled || !scenario.workload.hit_rate || !host_rate(*scenario.gpu)) return std::nullopt;
    const auto replicas = static_cast<double>(plan.parallelism.replicas);
    request.from_host = request.input - request.uncached;
    const StepTimer with(work, *scenario.gpu, request, costs);
    request.from_host = 0.0;
    request.uncached = request.input;
    const StepTimer without(work, *scenario.gpu, request, costs);
    const Curve loaded{with, replicas, request.output}, computed{without, replicas, request.output};
    // What one more request costs the server, at the running batch.
    const double batch = std::max(1.0, concurrency / replicas);
    HostTierEffect effect;
    effect.host_link_seconds = with.host_seconds();
    effect.prefill_seconds_saved = without.requests(batch)[Resource::compute] / batch - with.requests(batch)[Resource::compute] / batch;
    effect.output_change_per_second = loaded.tokens(concurrency) - computed.tokens(concurrency);
    return effect;
}

}  // namespace

std::optional<double> offered_concurrency(const Scenario& scenario, const Plan& plan) {
    const double rate = scenario.workload.request_rate.value_or(0.0), most = plan.concurrency.admission.value_or(0.0);
    if (rate <= 0.0 || most <= 0.0) return std::nullopt;
    const auto what = served_work(scenario, plan);
    if (!what) return std::nullopt;
    const auto& [work, request] = *what;
    const StepTimer timer(work, *scenario.gpu, request, expected_costs());
    const Curve expected{timer, static_cast<double>(plan.parallelism.replicas), request.output};
    if (expected.requests(most) < rate) return std::nullopt;
    double low = 0.0, high = most;  // n / W(n) rises with n
    for (int round = 0; round < kLittleRounds; ++round) {
        const double middle = (low + high) / 2.0;
        (expected.requests(middle) < rate ? low : high) = middle;
    }
    return high;
}

Rates plan_throughput(const Scenario& scenario, const Plan& plan) {
    Rates rates;
    const auto what = served_work(scenario, plan);
    if (!what) return rates;
    const auto& [work, request] = *what;
    const Costs expected_set = expected_costs();
    Timers timers{{work, *scenario.gpu, request, bound_costs()}, {work, *scenario.gpu, request, expected_set}};
    timers.bound_prefill = timers.bound.prefill().total;
    timers.expected_prefill = timers.expected.prefill().total;
    const auto replicas = static_cast<double>(plan.parallelism.replicas);
    const Curve bound{timers.bound, replicas, request.output}, expected{timers.expected, replicas, request.output};
    const double largest = largest_concurrency(scenario, plan);
    if (largest < 1.0) return rates;

    ThroughputPlan& t = rates.throughput;
    t.curve = trace_curve(timers, bound, expected, largest);
    t.changes = changes_along(t.curve, bound);
    t.ceilings = ceilings_at(bound, largest);
    t.hardware = hardware_limit(bound);
    const ThroughputPoint& last = t.curve.back();
    double output = last.output_tokens_per_second.value;
    t.limited_by = limit_at(bound, largest);
    if (scenario.workload.request_rate && *scenario.workload.request_rate * request.output < output) {
        output = *scenario.workload.request_rate * request.output;
        t.limited_by = kOffered;
    }
    t.output = TokensPerSecond{output};
    t.requests_per_second = output / std::max(1.0, request.output);
    if (last.step_seconds > 0.0) t.decode = TokensPerSecond{largest / last.itl_seconds};
    const double prompt_seconds = timers.bound.prompt_occupancy();
    if (request.uncached > 0.0 && prompt_seconds > 0.0) t.prefill = TokensPerSecond{replicas * request.uncached / prompt_seconds};

    const double running = std::min(plan.concurrency.admission.value_or(largest), largest);
    const double likely = std::min(expected.tokens(running), output);
    t.expected_output_tokens_per_second = {likely * kExpectedLow, likely, std::min(likely * kExpectedHigh, output), Basis::assumed};
    t.host_tier = host_tier_effect(scenario, plan, work, request, expected_set, running);

    const ThroughputPoint planned = point_at(timers, bound, expected, running);
    rates.latency.itl_seconds = {planned.itl_seconds, planned.expected_itl_seconds, planned.expected_itl_seconds / kExpectedLow, Basis::assumed};
    rates.latency.ttft_seconds = {planned.ttft_seconds, planned.expected_ttft_seconds, planned.expected_ttft_seconds / kExpectedLow, Basis::assumed};
    return rates;
}

}  // namespace kvplan
