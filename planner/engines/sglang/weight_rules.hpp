#pragma once

#include "planner/engines/engine.hpp"

namespace kvplan::sglang {

/// What is split over which group and what every rank keeps whole. Layers' files under `models/` and
/// `layers/moe/fused_moe_triton`.
[[nodiscard]] WeightRules weight_rules(const Scenario& scenario);

}  // namespace kvplan::sglang
