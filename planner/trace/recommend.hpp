// What a host cache is worth for a trace: the knee of the hit curve, and for a deployment the `--hicache-size` that pays
// inside the safe window of its host-memory plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "planner/plan.hpp"
#include "planner/trace/tiers.hpp"
#include "planner/trace/workload.hpp"

namespace kvplan::trace {

/// The capacity in blocks beyond which a doubling buys clearly less: of the curve over log2(capacity), from `from_blocks`
/// to the end, the point farthest above the chord; 0 when nothing is gained after `from_blocks`.
[[nodiscard]] std::int64_t knee_blocks(const HitCurve& curve, std::int64_t from_blocks = 1);

struct HostSize {
    std::optional<std::int64_t> hicache_size_gb;   ///< per rank; unset: without limit
    Tokens host_tokens;                            ///< target-KV slots of one rank
    double hit_rate = 0.0;                         ///< of all tiers, per token
    double gained = 0.0;                           ///< over the GPU pool alone
    double prefill_saved_tokens = 0.0;             ///< per request, over the GPU pool alone
    double loaded_bytes = 0.0;                     ///< host to GPU, per rank and request
    std::optional<double> link_seconds;            ///< of that, per request, at the link's rate
    std::optional<double> prefill_saved_seconds;   ///< per request, at the prefill ceiling: a lower bound of what is saved
    /// link_seconds - prefill_saved_seconds: the reload overlaps with prefill layer by layer, so at worst this.
    std::optional<double> ttft_change_seconds;
    bool safe = false;                             ///< within the host-memory plan; false also when it is unknown
};

/// Codes: "recommended", "no_gain" (the GPU pool alone gives all), "no_room" (no safe size beyond the GPU pool),
/// "small_gain" (below kWorthwhileGain at the largest safe size), "host_unknown", "no_scenario".
struct Recommendation {
    std::string_view reason = "no_scenario";
    std::int64_t knee_tokens = 0;
    double knee_rate = 0.0;
    double unlimited_rate = 0.0;
    // With a scenario only.
    WritePolicy policy = WritePolicy::write_through;
    std::optional<Tokens> device_tokens;       ///< GPU slots that hold prompts: the pool less what is being generated
    std::optional<double> device_rate_low;     ///< when running requests share nothing: the pool less all they hold
    std::optional<double> in_flight_requests;  ///< of one KV pool
    std::optional<double> device_rate;
    std::optional<HostSize> largest_safe;
    std::optional<HostSize> recommended;
    std::vector<HostSize> sizes;               ///< rising
};

/// A gain below this at the largest safe size is not worth host RAM: it is inside the error of the model (whole-node
/// eviction alone moves chat by 0.3 points, agentic traffic by up to 2.4).
inline constexpr double kWorthwhileGain = 0.01;
/// Share of the gain at the largest safe size that the recommended size must reach.
inline constexpr double kShareOfGain = 0.95;

/// Without a deployment: only the curve's own facts.
[[nodiscard]] Recommendation recommend(const Trace& trace, const HitCurve& curve);

/// For a deployment. `scenario` is planned with HiCache on at several sizes; its workload should be the trace's.
[[nodiscard]] Recommendation recommend(const Trace& trace, const HitCurve& curve, const WorkloadFacts& facts,
                                       Scenario scenario, WritePolicy policy, double warmup_share);

}  // namespace kvplan::trace
