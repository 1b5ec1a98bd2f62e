// The prefix hit rate at every cache capacity, from one pass over a trace.
//
// A request's hit is the longest run of its leading blocks that were resident before it; afterwards its blocks are the
// most recent ones, the first block foremost, and the cache keeps the C most recent. A parent is then always more recent
// than its children, so the cache of capacity C is the C foremost blocks of one stack (Mattson et al. 1970), and a block
// hits at every capacity that reaches its depth. docs/method-trace.md has the derivation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/trace/trace.hpp"

namespace kvplan::trace {

/// Capacity in blocks; unset is without limit.
using Capacity = std::optional<std::int64_t>;

struct HitPoint {
    std::int64_t blocks = 0;        ///< hit blocks
    std::int64_t tokens = 0;        ///< hit tokens
    double token_rate = 0.0;        ///< hit tokens / input tokens
    double block_rate = 0.0;        ///< hit blocks / blocks
    double request_rate = 0.0;      ///< mean over requests of hit blocks / blocks of the request
};

class HitCurve {
public:
    /// Hits with a cache of `capacity` blocks; 0 or less hits nothing.
    HitPoint at(Capacity capacity) const;

    /// The smallest capacity beyond which nothing more hits.
    std::int64_t last_useful() const { return static_cast<std::int64_t>(hit_blocks_.size()) - 1; }

    std::int64_t requests = 0;      ///< counted ones (after the warm-up)
    std::int64_t blocks = 0;        ///< block references of them
    std::int64_t input_tokens = 0;  ///< of them
    std::int64_t warmup_requests = 0;

private:
    friend HitCurve hit_curve(const Trace& trace, double warmup_share);
    std::vector<std::int64_t> hit_blocks_{0}, hit_tokens_{0};  // by capacity in blocks
    std::vector<double> request_share_{0.0};
};

/// The exact curve. The first floor(warmup_share x requests) requests fill the cache and are not counted.
HitCurve hit_curve(const Trace& trace, double warmup_share = 0.0);

/// A sample's answer at one capacity of the whole trace.
struct SampledRate {
    std::int64_t sample_blocks = 0;  ///< the capacity that the sample's own stack has for it
    double token_rate = 0.0;
    double error = 0.0;              ///< half the width of a 95 % interval
};

/// The token hit rate of the whole trace at `capacities` from a sample: the common front is there in full, the rest by its
/// share, so the sample's stack is common + share x (capacity - common) deep. The error is that of a ratio of sums over
/// kSampleGroups groups of trees (2.13 standard errors: Student's t, 15 degrees of freedom).
[[nodiscard]] std::vector<SampledRate> sampled_rates(const Trace& trace, const std::vector<Capacity>& capacities, double warmup_share = 0.0);

/// One stretch of a request's leading blocks whose depths in the stack are consecutive: block i of the stretch lay at
/// depth `depth + i`, 1 being the most recent block.
struct DepthStretch {
    std::int64_t depth = 0;
    std::uint32_t blocks = 0;
};

/// The stack itself, for whoever needs depths request by request.
class ReuseStack {
public:
    /// `requests` is how many will be pushed at most.
    ReuseStack(const PrefixForest& forest, std::size_t requests);

    /// The depths of the request's leading blocks before it, then makes it the most recent one. What follows the
    /// stretches was never seen before. Valid until the next call.
    std::span<const DepthStretch> push(const Request& request);

private:
    std::int64_t more_recent_than(std::uint32_t request) const;
    void change(std::uint32_t request, std::int64_t blocks);

    const PrefixForest* forest_;
    std::vector<std::uint32_t> last_;   // by block: 1 + index of the last request that had it; 0: never
    std::vector<std::uint32_t> live_;   // Fenwick tree by request: blocks that it was the last to have
    std::uint32_t pushed_ = 0;
    std::int64_t total_ = 0;
    std::vector<PrefixForest::Stretch> path_;
    std::vector<DepthStretch> found_;
};

}  // namespace kvplan::trace
