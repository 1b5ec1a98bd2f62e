#include "planner/trace/analysis.hpp"

#include <algorithm>

namespace kvplan::trace {

namespace {

/// 1, 2, 5, 10 … times 10^k tokens, from where something can fit to where nothing more is gained.
std::vector<std::optional<std::int64_t>> series(const HitCurve& curve, std::int64_t block_tokens) {
    const std::int64_t last = std::max<std::int64_t>(1, curve.last_useful()) * block_tokens;
    std::vector<std::optional<std::int64_t>> capacities;
    for (std::int64_t unit = 1; unit <= last; unit *= 10)
        for (const std::int64_t step : {1, 2, 5})
            if (step * unit >= block_tokens && step * unit >= last / 2000 && step * unit < last) capacities.emplace_back(step * unit);
    capacities.emplace_back(last);
    capacities.emplace_back();
    return capacities;
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
    const auto capacities = options.capacities.empty() ? series(*result.curve, trace.block_tokens) : options.capacities;
    for (const auto& tokens : capacities) {
        CurvePoint point{tokens, std::nullopt, {}};
        if (tokens) point.blocks = *tokens / trace.block_tokens;
        point.hits = result.curve->at(point.blocks);
        result.points.push_back(point);
    }
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
