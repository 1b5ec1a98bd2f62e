#pragma once

#include "models/llm/llm_spec.hpp"

namespace kvplan {

/// Bytes of the table of cosines and sines that a model keeps on each rank for its rotary embedding: positions x rotated
/// dimensions x bytes of an element (vLLM: the model's type; SGLang on CUDA: fp32). 0 for models without positions. Start-up
/// logs show it: Llama-3.1-8B has 14.9575 GiB of tensors; vLLM prints 14.9888 (+ 131,072 x 128 x 2 B), SGLang 15.02 (x 4 B).
[[nodiscard]] Bytes rope_table(const LlmSpec& model, std::int64_t element_bytes);

}  // namespace kvplan
