#include "planner/trace/workload.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace kvplan::trace {

namespace {

double real(std::int64_t x) { return static_cast<double>(x); }

LengthFacts length_facts(std::vector<std::uint32_t> lengths) {
    LengthFacts facts;
    if (lengths.empty()) return facts;
    std::sort(lengths.begin(), lengths.end());
    const auto count = static_cast<double>(lengths.size());
    double sum = 0.0;
    for (const std::uint32_t length : lengths) sum += length;
    facts.mean = sum / count;
    double squares = 0.0;
    for (const std::uint32_t length : lengths) squares += (length - facts.mean) * (length - facts.mean);
    if (facts.mean > 0.0) facts.cv2 = squares / count / (facts.mean * facts.mean);
    const auto quantile = [&](double share) {
        const auto rank = static_cast<std::size_t>(std::ceil(share * count));
        return std::int64_t{lengths[std::min(std::max<std::size_t>(rank, 1), lengths.size()) - 1]};
    };
    facts.min = lengths.front();
    facts.p50 = quantile(0.50);
    facts.p90 = quantile(0.90);
    facts.p95 = quantile(0.95);
    facts.p99 = quantile(0.99);
    facts.max = lengths.back();
    return facts;
}

/// Whole blocks from the front that more than half of the requests have in common: a majority is one branch only, so it
/// is followed from the root.
std::int64_t common_prefix(const Trace& trace) {
    std::vector<std::uint32_t> uses(trace.forest.size(), 0);
    std::vector<PrefixForest::Stretch> memory;
    for (const Request& request : trace.requests) {
        // Only the front matters, and only as far as most requests could still agree.
        for (const auto [first, last] : trace.forest.path(request.leaf, memory))
            for (Block block = first; block <= last; ++block) ++uses[block];
    }
    std::int64_t blocks = 0;
    for (const std::uint32_t count : uses) blocks += 2 * std::size_t{count} > trace.requests.size() ? 1 : 0;
    return blocks * trace.block_tokens;
}

}  // namespace

WorkloadFacts workload_facts(const Trace& trace, std::optional<double> unlimited) {
    WorkloadFacts facts;
    facts.requests = static_cast<std::int64_t>(trace.requests.size());
    std::vector<std::uint32_t> inputs, outputs;
    inputs.reserve(trace.requests.size());
    outputs.reserve(trace.requests.size());
    double first_moment = 0.0, second_moment = 0.0, product = 0.0;
    std::int64_t first_time = trace.requests.front().time_us, last_time = first_time;
    for (const Request& request : trace.requests) {
        inputs.push_back(request.input);
        outputs.push_back(request.output);
        facts.input_tokens += request.input;
        facts.output_tokens += request.output;
        const double i = request.input, o = request.output;
        product += i * o;
        first_moment += i * o + o * o / 2.0;
        second_moment += i * i * o + i * o * o + o * o * o / 3.0;
        first_time = std::min(first_time, request.time_us);
        last_time = std::max(last_time, request.time_us);
    }
    facts.input = length_facts(std::move(inputs));
    facts.output = length_facts(std::move(outputs));
    facts.covariance = product / real(facts.requests) - facts.input.mean * facts.output.mean;
    const double spread = facts.input.mean * facts.output.mean * std::sqrt(facts.input.cv2 * facts.output.cv2);
    if (spread > 0.0) facts.correlation = facts.covariance / spread;
    if (facts.output_tokens > 0) {
        facts.mean_footprint = first_moment / real(facts.output_tokens);
        const double variance = second_moment / real(facts.output_tokens) - facts.mean_footprint * facts.mean_footprint;
        facts.footprint_deviation = std::sqrt(std::max(0.0, variance));
    }
    if (trace.has_times) {
        facts.span_seconds = real(last_time - first_time) / 1e6;
        if (last_time > first_time) facts.requests_per_second = real(facts.requests - 1) / *facts.span_seconds;
    }
    if (trace.has_blocks()) {
        facts.reusable_share = unlimited;
        facts.common_prefix_tokens = common_prefix(trace);
        facts.distinct_blocks = trace.forest.size();
    }
    if (trace.cached_tokens && facts.input_tokens > 0)
        facts.logged_hit_rate = real(*trace.cached_tokens) / real(facts.input_tokens);
    return facts;
}

void use_as_workload(const WorkloadFacts& facts, Scenario& scenario) {
    Workload& workload = scenario.workload;
    const auto note = [&](const char* field) { scenario.origin[field] = "trace"; };
    const auto from_trace = [&](const char* field) {
        const auto origin = scenario.origin.find(field);
        return origin != scenario.origin.end() && origin->second == "trace";
    };
    if (!workload.input_tokens && !workload.request_tokens) {
        workload.input_tokens = facts.input.mean;
        workload.input_cv2 = facts.input.cv2;
        note("input_tokens");
    }
    if (!workload.output_tokens && !workload.request_tokens) {
        workload.output_tokens = facts.output.mean;
        workload.output_cv2 = facts.output.cv2;
        note("output_tokens");
    }
    if (from_trace("input_tokens") && from_trace("output_tokens")) workload.length_covariance = facts.covariance;
    if (workload.shared_prefix_tokens == 0.0 && facts.common_prefix_tokens.value_or(0) > 0) {
        workload.shared_prefix_tokens = real(*facts.common_prefix_tokens);
        note("shared_prefix_tokens");
    }
    if (!workload.request_rate && !workload.concurrency && facts.requests_per_second) {
        workload.request_rate = facts.requests_per_second;
        note("request_rate");
    }
}

}  // namespace kvplan::trace
