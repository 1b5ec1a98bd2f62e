#pragma once

#include <vector>

#include "planner/engines/vllm/kv_layout.hpp"

namespace kvplan::vllm {

/// The specs of a stage's layers, one a kind and geometry, before pages are made equal. The draft's layers count on the
/// last stage, among those of their kind.
[[nodiscard]] std::vector<LayerSpec> layer_specs(const Scenario& scenario, const StageLayers& stage);

/// Tokens of a block when nothing raises it: --block-size, else what the attention backend of this model and GPU asks.
[[nodiscard]] std::int64_t configured_block(const Scenario& scenario);

/// Bytes of one linear layer's state for one request on one rank: convolution rows (kernel - 1 + draft tokens) in the
/// model's type, recurrent state in fp32 where the model or the flag says so, else in the model's type.
[[nodiscard]] Bytes state_bytes(const LinearAttention& attention, const Scenario& scenario);

}  // namespace kvplan::vllm
