#pragma once

#include "planner/engines/engine.hpp"

namespace kvplan::vllm {

/// How weights lie on the ranks. Heads over tp, KV heads replicated beyond their number; projections into a latent whole on
/// every rank, with 16-bit copies of its absorbed form; experts over tp x dp, whole ones with --enable-expert-parallel;
/// vocabulary padded to 64. `vllm/model_executor/layers/`.
[[nodiscard]] WeightRules weight_rules(const Scenario& scenario);

}  // namespace kvplan::vllm
