#pragma once

#include <string_view>
#include <vector>

#include "planner/scenario.hpp"

namespace kvplan::sglang {

/// An architecture whose window layers get a pool of their own, and when.
struct WindowPoolRule {
    std::string_view architecture;  // the beginning of the class name
    RuleDate from;                  // inclusive
    RuleDate until;                 // exclusive; 0: still so
};
[[nodiscard]] const std::vector<WindowPoolRule>& window_pool_rules();

/// Whether this model's window layers have their own pool: version, flags, backend. Otherwise they are sized like full
/// attention. `configs/model_config.py`, is_hybrid_swa_model.
[[nodiscard]] bool hybrid_window_pool(const Scenario& scenario);

/// Slots of the window pool per slot of the full pool (--swa-full-tokens-ratio, 0.8; DeepSeek-V4 0.1).
[[nodiscard]] double window_ratio(const Scenario& scenario);

/// The window of the layers in the pool, in tokens; 0 without one.
[[nodiscard]] std::int64_t window_tokens(const LlmSpec& model);

}  // namespace kvplan::sglang
