// What a trace says of its requests: lengths, rate, how they vary together, what they share.
#pragma once

#include <cstdint>
#include <optional>

#include "planner/scenario.hpp"
#include "planner/trace/hit_curve.hpp"
#include "planner/trace/trace.hpp"

namespace kvplan::trace {

/// Lengths in tokens. A quantile is the smallest length that at least this share of the requests does not exceed.
struct LengthFacts {
    double mean = 0.0;
    double cv2 = 0.0;  ///< variance / mean^2 (population); 0 when the mean is 0
    std::int64_t min = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0, max = 0;
};

struct WorkloadFacts {
    std::int64_t requests = 0;
    std::int64_t input_tokens = 0, output_tokens = 0;  ///< sums
    std::optional<double> span_seconds;                ///< first to last arrival; unset without times
    std::optional<double> requests_per_second;         ///< (requests - 1) / span; unset when the span is 0
    LengthFacts input, output;
    double covariance = 0.0;   ///< of input and output, tokens^2
    double correlation = 0.0;  ///< 0 when either does not vary
    /// Mean tokens held by a request seen at a random moment, E[I O]/E[O] + E[O^2]/(2 E[O]), nothing shared.
    double mean_footprint = 0.0;
    /// Its standard deviation: sqrt(E[I^2 O + I O^2 + O^3/3]/E[O] - f^2).
    double footprint_deviation = 0.0;
    // Sharing, only with block ids:
    std::optional<double> reusable_share;              ///< of input tokens: the hit rate without a limit
    std::optional<std::int64_t> common_prefix_tokens;  ///< whole blocks that more than half of the requests begin with
    std::int64_t distinct_blocks = 0;
    std::optional<double> logged_hit_rate;             ///< cached / input tokens where the engine logged it
};

/// `unlimited` is the token hit rate without a limit, when the trace has blocks.
[[nodiscard]] WorkloadFacts workload_facts(const Trace& trace, std::optional<double> unlimited);

/// The facts as a plan's workload: means, spreads, p95, request rate; what the user gave is kept.
void use_as_workload(const WorkloadFacts& facts, Scenario& scenario);

}  // namespace kvplan::trace
