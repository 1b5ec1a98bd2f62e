#pragma once

#include <vector>

#include "planner/engines/engine.hpp"

namespace kvplan::vllm {

/// Layers of each pipeline stage: layers / pp each; the remainder goes one each to the stages before the last, from the back
/// (the last has the norm and the head). VLLM_PP_LAYER_PARTITION overrides. `vllm/distributed/utils.py`, get_pp_indices.
[[nodiscard]] std::vector<StageLayers> stages(const Scenario& scenario);

}  // namespace kvplan::vllm
