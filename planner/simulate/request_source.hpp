// Where simulated requests come from: a trace, or distributions of lengths with a seed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "planner/trace/trace.hpp"
#include "units/parse.hpp"

namespace kvplan::simulate {

struct SimulatedRequest {
    std::int64_t arrival_us = 0;
    std::int64_t input = 0;              ///< prompt tokens
    std::int64_t output = 1;             ///< tokens it will generate, at least 1
    std::int64_t max_new = 1;            ///< what the client allows; at least `output`
    trace::Block leaf = trace::kNoBlock; ///< last block of the prompt in the trace's forest
    std::uint32_t blocks = 0;
    std::int64_t identified = 0;         ///< prompt tokens in these blocks
};

/// Lengths: fixed, exponential or log-normal, by mean and squared coefficient of variation.
struct LengthDistribution {
    enum class Kind { fixed, exponential, lognormal };
    Kind kind = Kind::fixed;
    double mean = 1.0;
    double cv2 = 0.0;
};

/// `3500`, `exp:3500`, `lognormal:3500:2.0` (mean and c^2).
[[nodiscard]] Parsed<LengthDistribution> parse_distribution(std::string_view text);

/// Numbers that are the same on every machine: splitmix64, and transformations of our own.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next();
    double uniform();      ///< in (0, 1)
    double normal();       ///< Box-Muller
    double draw(const LengthDistribution& lengths);

private:
    std::uint64_t state_;
    std::optional<double> spare_;
};

class RequestSource {
public:
    virtual ~RequestSource() = default;
    /// The next request; nothing at the end.
    virtual std::optional<SimulatedRequest> next() = 0;
};

struct SyntheticOptions {
    LengthDistribution input, output;
    std::int64_t requests = 200'000;
    std::int64_t longest = 0;                 ///< prompt + output is clipped to this (0: not)
    std::optional<std::int64_t> max_new;      ///< unset: just the own output
    std::optional<double> requests_per_second;///< Poisson arrivals; unset: all at time 0
    std::uint64_t seed = 1;
};
[[nodiscard]] std::unique_ptr<RequestSource> synthetic_requests(const SyntheticOptions& options);

struct TraceOptions {
    std::int64_t longest = 0;                 ///< longer requests are left out, as the engine refuses them (0: none)
    std::optional<std::int64_t> max_new;
    std::int64_t requests = 0;                ///< 0: all; more than there are: from the beginning again, times going on
    std::int64_t every = 1;                   ///< each such request, as when they are dealt to so many pools in turn
    bool prefixes = true;                     ///< use the block ids
};
/// `trace` must outlive the source. Times start at 0.
[[nodiscard]] std::unique_ptr<RequestSource> trace_requests(const trace::Trace& trace, const TraceOptions& options);

}  // namespace kvplan::simulate
