#include "planner/concurrency/concurrency.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "planner/engines/engine.hpp"

namespace kvplan {
namespace {

// Share of the output in a request whose split is unknown: nothing is assumed for the low end (all requests held at full
// length), and one part prompt to seven parts output, the most output-heavy traffic seen, for the high end.
constexpr double kLargestOutputShare = 7.0 / 8.0;
constexpr double kUnknownOutputShare = 0.5;   // of the table by context, when no split is known

struct Limit {
    double requests = 0.0;
    ConcurrencyLimit by = ConcurrencyLimit::none;
};

Limit smaller(Limit a, Limit b) { return b.requests < a.requests ? b : a; }

/// The widest window of layers that keep only a window: what one request holds of the window pool.
double longest_window(const LlmSpec& model) {
    std::int64_t window = 0;
    for (const LayerClass& c : model.classes) {
        if (const auto* grouped = std::get_if<GroupedAttention>(&c.attention)) window = std::max(window, grouped->window.value_or(0));
        if (const auto* compressed = std::get_if<CompressedAttention>(&c.attention)) window = std::max(window, compressed->window);
    }
    return static_cast<double>(window);
}

/// Pools of fixed size beside the KV pool, and the engine's own cap: they limit whatever the lengths are.
Limit other_limits(const Scenario& scenario, const Plan& plan, double footprint) {
    const CapacityPlan& capacity = plan.capacity;
    Limit limit{static_cast<double>(capacity.max_running_requests.count()), ConcurrencyLimit::max_running_requests};
    if (limit.requests <= 0.0) limit.requests = HUGE_VAL;  // not known
    if (capacity.state_slots) {
        const auto per_request = static_cast<double>(std::max<std::int64_t>(1, capacity.state_slots_per_request.value_or(1)));
        limit = smaller(limit, {std::floor(static_cast<double>(*capacity.state_slots) / per_request), ConcurrencyLimit::state_slots});
    }
    const double window = longest_window(*scenario.model);
    if (capacity.swa_tokens && window > 0.0) {
        // A running request keeps its window and the page that the window enters.
        const double held = std::min(footprint, window + static_cast<double>(plan.kv_cache.page_size.count()));
        if (held > 0.0) limit = smaller(limit, {static_cast<double>(capacity.swa_tokens->count()) / held, ConcurrencyLimit::swa_pool});
    }
    return limit;
}

double full_context(const Scenario& scenario, const Plan& plan) {
    const std::int64_t asked = scenario.engine.context_length.value_or(scenario.model->max_position_embeddings);
    return static_cast<double>(asked > 0 ? asked : plan.capacity.longest_request_tokens.count());
}

AdmissionCase case_of(const Scenario& scenario, const Plan& plan, const RequestShape& request) {
    return {.pool_tokens = static_cast<double>(plan.capacity.max_total_num_tokens.expected.count()),
            .page = static_cast<double>(std::max<std::int64_t>(1, plan.kv_cache.page_size.count())),
            .context_tokens = full_context(scenario, plan),
            .request = request};
}

std::vector<ConcurrencyByContext> by_context(const Scenario& scenario, const Plan& plan, double workers) {
    const Workload& w = scenario.workload;
    const double share = w.input_tokens && w.output_tokens && *w.input_tokens + *w.output_tokens > 0.0
                             ? *w.output_tokens / (*w.input_tokens + *w.output_tokens)
                             : kUnknownOutputShare;
    const auto full = static_cast<std::int64_t>(full_context(scenario, plan));
    std::vector<ConcurrencyByContext> table;
    table.reserve(5);
    for (const std::int64_t context : {std::int64_t{4096}, std::int64_t{8192}, std::int64_t{32768}, std::int64_t{131072}, full}) {
        if (context > full || context <= 0 || (!table.empty() && table.back().context_tokens.count() >= context)) continue;
        const auto length = static_cast<double>(context);
        const AdmissionCase c = case_of(scenario, plan, {.input = length * (1.0 - share), .output = length * share});
        const Limit cap = other_limits(scenario, plan, mean_footprint(c.request, c.page));
        if (length > c.pool_tokens) {  // no such request ever runs
            table.push_back({Tokens{context}, 0, 0.0});
            continue;
        }
        table.push_back({Tokens{context}, static_cast<std::int64_t>(std::floor(std::min(full_length_concurrency(c), cap.requests)) * workers),
                         std::min(steady_state_concurrency(c), cap.requests) * workers});
    }
    return table;
}

/// Only prompt + output together is known: no retraction at full length, and up to the growth of output-heavy traffic.
ConcurrencyPlan plan_range(const Scenario& scenario, const Plan& plan, double workers) {
    ConcurrencyPlan result;
    const double total = *scenario.workload.request_tokens;
    const AdmissionCase heavy = case_of(
        scenario, plan,
        {.input = total * (1.0 - kLargestOutputShare), .output = total * kLargestOutputShare, .shared_prefix = scenario.workload.shared_prefix_tokens});
    const Limit cap = other_limits(scenario, plan, total);
    const double full = std::min(full_length_concurrency(heavy), cap.requests) * workers;
    result.full_length = full;
    result.steady_state_low = full;
    result.steady_state_high = std::max(full, std::min(steady_state_concurrency(heavy), cap.requests) * workers);
    result.limited_by = full < cap.requests * workers ? ConcurrencyLimit::kv_pool : cap.by;
    return result;
}

/// `result` with this many requests running in each worker's pool, and what they leave of it.
ConcurrencyPlan with_running(const Scenario& scenario, const Plan& plan, ConcurrencyPlan result, Limit running, double workers) {
    result.admission = running.requests * workers;
    result.limited_by = running.by;
    result.per_dp_worker = running.requests;
    const std::optional<RequestShape> request = request_shape(scenario.workload);
    if (!request) return result;
    const AdmissionCase c = case_of(scenario, plan, *request);
    if (c.pool_tokens <= 0.0) return result;
    const double used = std::min(c.pool_tokens, running.requests * mean_footprint(*request, c.page) + request->shared_prefix);
    result.token_usage = used / c.pool_tokens;
    result.idle_prefix_tokens = Tokens{static_cast<std::int64_t>((c.pool_tokens - used) * workers)};
    return result;
}

}  // namespace

std::optional<RequestShape> request_shape(const Workload& w) {
    std::optional<double> input = w.input_tokens, output = w.output_tokens;
    if (w.request_tokens && input && !output) output = std::max(0.0, *w.request_tokens - *input);
    if (w.request_tokens && output && !input) input = std::max(0.0, *w.request_tokens - *output);
    if (!input || !output || *input + *output <= 0.0) return std::nullopt;
    RequestShape shape{.input = *input, .output = *output, .shared_prefix = std::min(w.shared_prefix_tokens, *input)};
    shape.input_cv2 = w.input_cv2.value_or(w.input_p95 ? cv2_from_p95(*input, *w.input_p95) : 0.0);
    shape.output_cv2 = w.output_cv2.value_or(w.output_p95 ? cv2_from_p95(*output, *w.output_p95) : 0.0);
    if (w.length_covariance && shape.output > 0.0) shape.bias = *w.length_covariance / shape.output;
    if (w.max_new_tokens) shape.max_new = std::max(static_cast<double>(*w.max_new_tokens), shape.output);
    return shape;
}

ConcurrencyPlan plan_concurrency(const Scenario& scenario, const Plan& plan) {
    const auto workers = static_cast<double>(plan.parallelism.replicas * plan.parallelism.dp_attention);
    const std::optional<RequestShape> request = request_shape(scenario.workload);
    ConcurrencyPlan result;
    if (!request && scenario.workload.request_tokens.value_or(0.0) > 0.0) result = plan_range(scenario, plan, workers);
    result.by_context = by_context(scenario, plan, workers);
    if (!request) return result;
    const AdmissionCase c = case_of(scenario, plan, *request);
    const double footprint = mean_footprint(*request, c.page);
    Limit cap = other_limits(scenario, plan, footprint);
    // The server rejects what is longer than its pool; none of it ever runs.
    if (request->input + request->output > c.pool_tokens) cap = {0.0, ConcurrencyLimit::kv_pool};
    const auto capped = [&](double n) { return std::min(n, cap.requests) * workers; };
    result.full_length = capped(full_length_concurrency(c));
    result.steady_state = capped(steady_state_concurrency(c));
    result.retraction_free = capped(retraction_free_concurrency(c, scenario.workload.retraction_risk));

    Limit running = smaller({engine_of(scenario.engine).admitted_requests(scenario, c), ConcurrencyLimit::kv_pool}, cap);
    if (scenario.workload.concurrency)
        running = smaller(running, {static_cast<double>(*scenario.workload.concurrency) / workers, ConcurrencyLimit::offered});
    return with_running(scenario, plan, std::move(result), running, workers);
}

ConcurrencyPlan at_offered_rate(const Scenario& scenario, const Plan& plan, double in_flight) {
    const auto workers = static_cast<double>(plan.parallelism.replicas * plan.parallelism.dp_attention);
    ConcurrencyPlan result = with_running(scenario, plan, plan.concurrency, {in_flight / workers, ConcurrencyLimit::offered}, workers);
    result.offered = in_flight;
    return result;
}

}  // namespace kvplan
