// Multi-token-prediction layers as DeepSeek and those after it store them.
#pragma once

#include "models/llm/families/decoder.hpp"

namespace kvplan::families {

/// `layer` as a draft layer: two norms and a projection of [hidden state, embedding] before it, a norm after it, and
/// where `own_embedding` its own copy of the embedding and the head, which engines share with the main model's.
[[nodiscard]] LayerPlan draft_layer(const Dimensions& d, LayerPlan layer, bool own_embedding);

/// Stores `num_nextn_predict_layers` copies of it after the main layers, unless the reader was told otherwise.
void add_draft(Build& build, const Dimensions& d, const LayerPlan& layer, bool own_embedding);

}  // namespace kvplan::families
