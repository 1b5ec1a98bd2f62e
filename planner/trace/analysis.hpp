// Everything `kvplan trace` tells, as data.
#pragma once

#include <optional>
#include <vector>

#include "planner/trace/recommend.hpp"

namespace kvplan::trace {

struct CurvePoint {
    std::optional<std::int64_t> tokens;  ///< as asked; unset: without limit
    std::optional<std::int64_t> blocks;  ///< floor(tokens / block)
    HitPoint hits;                       ///< of a sample: scaled to the whole trace
    std::optional<double> error;         ///< of hits.token_rate, only of a sample (95 %)
};

struct TierPoint {
    TierSizes sizes;
    TierResult result;
};

struct Analysis {
    ReadingFacts reading;
    std::int64_t block_tokens = 0, source_block_tokens = 0;
    std::int64_t distinct_blocks = 0;    ///< of a sample: in the sample
    std::optional<SampleFacts> sample;
    WorkloadFacts workload;
    // Only with block ids:
    std::optional<HitCurve> curve;
    std::vector<CurvePoint> points;
    std::optional<WritePolicy> policy;
    std::vector<TierPoint> tiers;
    std::optional<Recommendation> recommendation;
};

struct AnalysisOptions {
    double warmup_share = 0.0;
    /// Tokens, unset: without limit. Empty: a 1-2-5 series that covers the curve, and without limit.
    std::vector<std::optional<std::int64_t>> capacities;
    WritePolicy policy = WritePolicy::write_through;
    std::optional<std::int64_t> device_tokens;  ///< GPU tier; the capacities are then host tiers beside it
    bool storage = false;                       ///< a third tier
    std::optional<std::int64_t> storage_tokens; ///< of it; unset: without limit
};

[[nodiscard]] Analysis analyse(const Trace& trace, const AnalysisOptions& options);

}  // namespace kvplan::trace
