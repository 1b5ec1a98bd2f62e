#include "planner/trace/analysis.hpp"

#include <algorithm>

namespace kvplan::trace {

namespace {

/// 1, 2, 5, 10 … times 10^k tokens, from where something can fit to where nothing more is gained.
std::vector<std::optional<std::int64_t>> series(const HitCurve& curve, std::int64_t block_tokens, double share) {
    const std::int64_t last = static_cast<std::int64_t>(static_cast<double>(std::max<std::int64_t>(1, curve.last_useful()) * block_tokens) / share);
    std::vector<std::optional<std::int64_t>> capacities;
    for (std::int64_t unit = 1; unit <= last; unit *= 10)
        for (const std::int64_t step : {1, 2, 5})
            if (step * unit >= block_tokens && step * unit >= last / 2000 && step * unit < last) capacities.emplace_back(step * unit);
    capacities.emplace_back(last);
    capacities.emplace_back();
    return capacities;
}

/// A sample's points as the whole trace's.
void scale_to_whole(const Trace& trace, double warmup_share, Analysis& result) {
    result.sample = trace.sample;
    std::vector<Capacity> capacities;
    for (const CurvePoint& point : result.points) capacities.push_back(point.blocks);
    const std::vector<SampledRate> rates = sampled_rates(trace, capacities, warmup_share);
    const double scale = result.curve->input_tokens > 0
                             ? static_cast<double>(trace.sample->input_tokens) / static_cast<double>(result.workload.input_tokens)
                             : 0.0;
    for (std::size_t i = 0; i < rates.size(); ++i) {
        HitPoint& hits = result.points[i].hits;
        hits = result.curve->at(rates[i].sample_blocks);
        hits.tokens = static_cast<std::int64_t>(static_cast<double>(hits.tokens) * scale);
        hits.blocks = static_cast<std::int64_t>(static_cast<double>(hits.blocks) * scale);
        result.points[i].error = rates[i].error;
    }
}

}  // namespace

Analysis analyse(const Trace& trace, const AnalysisOptions& options) {
    Analysis result;
    result.reading = trace.reading;
    result.block_tokens = trace.block_tokens;
    result.source_block_tokens = trace.source_block_tokens;
    if (!trace.has_blocks()) {
        result.workload = workload_facts(trace, std::nullopt);
        return result;
    }
    result.distinct_blocks = trace.forest.size();
    result.curve = hit_curve(trace, options.warmup_share);
    result.workload = workload_facts(trace, result.curve->at({}).token_rate);
    const auto capacities = options.capacities.empty() ? series(*result.curve, trace.block_tokens, trace.sample ? trace.sample->share : 1.0) : options.capacities;
    for (const auto& tokens : capacities) {
        CurvePoint point;
        point.tokens = tokens;
        if (tokens) point.blocks = *tokens / trace.block_tokens;
        point.hits = result.curve->at(point.blocks);
        result.points.push_back(point);
    }
    if (trace.sample) scale_to_whole(trace, options.warmup_share, result);
    if (options.device_tokens) {
        result.policy = options.policy;
        for (const CurvePoint& point : result.points) {
            TierSizes sizes{*options.device_tokens / trace.block_tokens, point.blocks.value_or(result.distinct_blocks), options.storage, {}};
            if (options.storage_tokens) sizes.storage_blocks = *options.storage_tokens / trace.block_tokens;
            result.tiers.push_back({sizes, simulate_tiers(trace, options.policy, sizes, options.warmup_share)});
        }
    }
    result.recommendation = recommend(trace, *result.curve);
    return result;
}

}  // namespace kvplan::trace
