#include "charts/of_results.hpp"

#include <algorithm>

#include "units/ascii.hpp"

namespace kvplan::charts {
namespace {

constexpr std::size_t kMostPoints = 240;

/// Beyond the sizes that were planned, up to the knee: copies made on the way in hit as the curve at the host's capacity.
void add_up_to_knee(const trace::Analysis& analysis, double tokens_a_gb, double planned_gb, Series& series) {
    constexpr int kSteps = 48;
    const trace::Recommendation& advice = *analysis.recommendation;
    const double end_gb = 1.25 * static_cast<double>(advice.knee_tokens) / tokens_a_gb;
    if (!analysis.curve || analysis.block_tokens <= 0 || advice.policy == trace::WritePolicy::write_back || end_gb <= planned_gb) return;
    for (int i = 1; i <= kSteps; ++i) {
        const double gb = planned_gb + (end_gb - planned_gb) * i / kSteps;
        const double rate = analysis.curve->at(static_cast<std::int64_t>(gb * tokens_a_gb) / analysis.block_tokens).token_rate;
        series.points.push_back({gb, std::max(rate, advice.device_rate.value_or(0.0))});
    }
}

LineChart host_chart(const trace::Analysis& analysis) {
    const trace::Recommendation& advice = *analysis.recommendation;
    LineChart chart{"Prompt tokens found, by host pool", {"--hicache-size, GB a rank", Unit::plain, false, 0.0, {}}, {"share of prompt tokens", Unit::share, false, 0.0, 1.0}, {}, {}, {}};
    Series all{"GPU and host", {}, false};
    if (advice.device_rate) all.points.push_back({0.0, *advice.device_rate});
    double tokens_a_gb = 0.0;  // by the largest size, where rounding to pages matters least
    for (const trace::HostSize& size : advice.sizes) {
        if (!size.hicache_size_gb || *size.hicache_size_gb <= 0) continue;
        const auto gb = static_cast<double>(*size.hicache_size_gb);
        all.points.push_back({gb, size.hit_rate});
        tokens_a_gb = static_cast<double>(size.host_tokens.count()) / gb;
    }
    if (tokens_a_gb > 0.0) add_up_to_knee(analysis, tokens_a_gb, all.points.back().x, all);
    const double most = all.points.empty() ? 0.0 : all.points.back().x;
    chart.series.push_back(std::move(all));
    if (advice.device_rate) chart.series.push_back({"GPU alone", {{0.0, *advice.device_rate}, {most, *advice.device_rate}}, true});
    chart.series.push_back({"no limit", {{0.0, advice.unlimited_rate}, {most, advice.unlimited_rate}}, true});
    if (tokens_a_gb > 0.0 && advice.device_tokens) chart.markers.push_back({static_cast<double>(advice.device_tokens->count()) / tokens_a_gb, "GPU pool"});
    if (advice.largest_safe && advice.largest_safe->hicache_size_gb) {
        const auto safe = static_cast<double>(*advice.largest_safe->hicache_size_gb);
        chart.markers.push_back({safe, "largest safe " + std::to_string(*advice.largest_safe->hicache_size_gb) + " GB"});
        if (most > safe) chart.ranges.push_back({safe, most, "not safe", true});
    }
    if (tokens_a_gb > 0.0 && advice.knee_tokens > 0) chart.markers.push_back({static_cast<double>(advice.knee_tokens) / tokens_a_gb, "knee of the curve"});
    if (advice.recommended && advice.recommended->hicache_size_gb)
        chart.markers.push_back({static_cast<double>(*advice.recommended->hicache_size_gb), "recommended " + std::to_string(*advice.recommended->hicache_size_gb) + " GB"});
    return chart;
}

}  // namespace

LineChart hit_rate_chart(const trace::Analysis& analysis) {
    if (analysis.recommendation && !analysis.recommendation->sizes.empty()) return host_chart(analysis);
    LineChart chart{"Prompt tokens found, by cache capacity", {"tokens in the cache", Unit::plain, true, {}, {}}, {"share of prompt tokens", Unit::share, false, 0.0, 1.0}, {}, {}, {}};
    Series tokens{"of tokens", {}, false}, requests{"mean over requests", {}, true};
    for (const trace::CurvePoint& point : analysis.points) {
        if (!point.tokens || *point.tokens <= 0) continue;
        tokens.points.push_back({static_cast<double>(*point.tokens), point.hits.token_rate});
        requests.points.push_back({static_cast<double>(*point.tokens), point.hits.request_rate});
    }
    chart.series = {std::move(tokens), std::move(requests)};
    if (analysis.recommendation && analysis.recommendation->knee_tokens > 0) chart.markers.push_back({static_cast<double>(analysis.recommendation->knee_tokens), "knee"});
    return chart;
}

namespace {

/// At most kMostPoints, each the mean of as many neighbours.
std::vector<Point> smoothed(const std::vector<Point>& points) {
    const std::size_t together = points.size() / kMostPoints + 1;
    std::vector<Point> means;
    for (std::size_t first = 0; first < points.size(); first += together) {
        const std::size_t end = std::min(points.size(), first + together);
        Point sum;
        for (std::size_t i = first; i < end; ++i) sum.x += points[i].x, sum.y += points[i].y;
        means.push_back({sum.x / static_cast<double>(end - first), sum.y / static_cast<double>(end - first)});
    }
    return means;
}

}  // namespace

LineChart timeline_chart(const simulate::Result& result, std::int64_t pool_tokens, bool timed) {
    LineChart chart{"Simulation over time, means of neighbouring moments", {timed ? "seconds" : "steps", timed ? Unit::seconds : Unit::plain, false, {}, {}}, {"requests, or per cent of the pool", Unit::plain, false, 0.0, {}}, {}, {}, {}};
    Series running{"running", {}, false}, queued{"queued", {}, false}, usage{"token usage, %", {}, true};
    for (const simulate::TimelinePoint& p : result.timeline) {
        const double x = timed ? static_cast<double>(p.time_us) / 1e6 : static_cast<double>(p.step);
        running.points.push_back({x, static_cast<double>(p.running)});
        queued.points.push_back({x, static_cast<double>(p.queued)});
        usage.points.push_back({x, pool_tokens > 0 ? 100.0 * static_cast<double>(p.used_tokens) / static_cast<double>(pool_tokens) : 0.0});
    }
    for (Series* series : {&running, &queued, &usage}) series->points = smoothed(series->points);
    chart.series = {std::move(running), std::move(queued), std::move(usage)};
    return chart;
}

namespace {

// The stretches of the curve between changes of the binding resource; none where one binds all along.
std::vector<Range> binding_ranges(const ThroughputPlan& throughput) {
    std::vector<Range> ranges;
    if (throughput.changes.empty()) return ranges;
    const double first = throughput.curve.front().concurrency, last = throughput.curve.back().concurrency;
    double from = first;
    for (const ThroughputChange& change : throughput.changes) {
        ranges.push_back({from, change.concurrency, "bound by " + as_words(change.from), false});
        from = change.concurrency;
    }
    ranges.push_back({from, last, "bound by " + as_words(throughput.curve.back().limited_by), false});
    return ranges;
}

}  // namespace

LineChart throughput_chart(const Plan& plan) {
    const ThroughputPlan& throughput = plan.throughput;
    LineChart chart{"Output tokens per second of the deployment", {"requests at once", Unit::plain, true, {}, {}}, {"output tokens/s", Unit::plain, true, {}, {}}, {}, {}, {}};
    Series bound{"upper bound", {}, false}, expected{"expected", {}, false};
    if (throughput.changes.empty() && !throughput.curve.empty()) bound.name += ", by " + as_words(throughput.curve.front().limited_by);
    for (const ThroughputPoint& point : throughput.curve) {
        bound.points.push_back({point.concurrency, point.output_tokens_per_second.value});
        expected.points.push_back({point.concurrency, point.expected_output_tokens_per_second});
    }
    if (throughput.curve.empty()) return chart;
    const double first = throughput.curve.front().concurrency, last = throughput.curve.back().concurrency;
    chart.series = {std::move(bound), std::move(expected)};
    for (const Ceiling& ceiling : throughput.ceilings)
        chart.series.push_back({as_words(ceiling.resource) + " ceiling", {{first, ceiling.tokens_per_second.value}, {last, ceiling.tokens_per_second.value}}, true});
    chart.ranges = binding_ranges(throughput);
    if (plan.concurrency.admission && *plan.concurrency.admission > 0) chart.markers.push_back({*plan.concurrency.admission, "operating point"});
    return chart;
}

BarChart concurrency_chart(const Plan& plan) {
    const ConcurrencyPlan& c = plan.concurrency;
    BarChart chart{"Requests at once, whole deployment", {"requests", Unit::plain, false, 0.0, {}}, {}, {}};
    const auto bar = [&](const char* name, const std::optional<double>& value) {
        if (value) chart.bars.push_back({name, {{"requests", *value, false}}});
    };
    bar("all at full length", c.full_length);
    bar("retraction-free", c.retraction_free);
    bar("admission", c.admission);
    bar("steady state", c.steady_state);
    if (c.offered) chart.limits.push_back({*c.offered, "offered"});
    return chart;
}

LineChart context_chart(const Plan& plan) {
    LineChart chart{"Requests at once by context", {"tokens of context", Unit::plain, true, {}, {}}, {"requests", Unit::plain, true, {}, {}}, {}, {}, {}};
    Series full{"all at full length", {}, false}, steady{"steady state", {}, true};
    for (const ConcurrencyByContext& at : plan.concurrency.by_context) {
        if (at.full_length > 0) full.points.push_back({static_cast<double>(at.context_tokens.count()), static_cast<double>(at.full_length)});
        if (at.steady_state > 0) steady.points.push_back({static_cast<double>(at.context_tokens.count()), at.steady_state});
    }
    chart.series = {std::move(full), std::move(steady)};
    return chart;
}

}  // namespace kvplan::charts
