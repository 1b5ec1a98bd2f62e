#pragma once

#include <vector>

#include "planner/engines/engine.hpp"

namespace kvplan::sglang {

/// Layers of each pipeline stage: layers / pp each; the remainder goes to the last stages, one each (before 2025-11-26:
/// all to the last). SGLANG_PP_LAYER_PARTITION overrides when its counts fit.
[[nodiscard]] std::vector<StageLayers> stages(const Scenario& scenario);

/// The counts of "15,15,15,16"; empty when the text is not a list of positive whole numbers.
[[nodiscard]] std::vector<std::int64_t> layer_partition(std::string_view text);

}  // namespace kvplan::sglang
