#pragma once

#include <vector>

#include "planner/engines/engine.hpp"

namespace kvplan::sglang {

/// Layers of each pipeline stage: layers / pp each; the remainder goes to the last stages, one each (before 2025-11-26:
/// all to the last). SGLANG_PP_LAYER_PARTITION overrides when its counts fit.
[[nodiscard]] std::vector<StageLayers> stages(const Scenario& scenario);

}  // namespace kvplan::sglang
