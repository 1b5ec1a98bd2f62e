#pragma once

#include <string_view>
#include <vector>

#include "planner/engines/engine.hpp"

namespace kvplan {

/// The counts of "15,15,15,16" (SGLANG_PP_LAYER_PARTITION, VLLM_PP_LAYER_PARTITION); empty when the text is not a list of
/// positive whole numbers.
[[nodiscard]] std::vector<std::int64_t> layer_partition(std::string_view text);

/// Stages that hold `counts` layers one after the other.
[[nodiscard]] std::vector<StageLayers> stages_of(const std::vector<std::int64_t>& counts);

/// The counts a user asked for when they fit the model and the number of stages; empty otherwise.
[[nodiscard]] std::vector<std::int64_t> given_partition(std::string_view text, std::int64_t stages, std::int64_t layers);

}  // namespace kvplan
