#pragma once

#include <cstdint>
#include <optional>

#include "planner/scenario.hpp"
#include "units/tokens.hpp"

namespace kvplan::sglang {

/// `--max-running-requests`, or the default that some models and drafts have (48 with drafts, 256 for DeepSeek-V4).
[[nodiscard]] std::optional<std::int64_t> asked_requests(const Scenario& scenario);

/// The request pool's estimate: clamp(int(T / context_len * 512), 2048, 4096).
[[nodiscard]] std::int64_t estimated_requests(Tokens tokens, std::int64_t context_length);

/// Requests that one DP worker runs at once, and the rows of its request table (each of context_len + 4 + drafts int32).
struct RequestLimits {
    std::int64_t running = 0;
    std::int64_t rows = 0;
};
[[nodiscard]] RequestLimits request_limits(const Scenario& scenario, Tokens tokens, std::optional<std::int64_t> state_slots);
[[nodiscard]] Bytes request_table(const Scenario& scenario, const RequestLimits& limits);

/// State slots that one running request holds: 1 without a radix cache; else 3, 2 more with an extra buffer under overlap
/// scheduling, 1 more when it is lazy or there is no overlap.
[[nodiscard]] std::int64_t state_slots_per_request(const EngineOptions& engine);

}  // namespace kvplan::sglang
