#pragma once

#include "models/llm/llm_spec.hpp"

namespace kvplan::testing {

// Small specs written by hand from the models' published shapes: attention and layer kinds only, no weight matrices.
// What a planner derives from weights must be given to it.

[[nodiscard]] LlmSpec kimi_k2();
[[nodiscard]] LlmSpec deepseek_v3();
[[nodiscard]] LlmSpec deepseek_v32();
[[nodiscard]] LlmSpec glm_5();
/// 21 of its 78 layers own an indexer, the others reuse it.
[[nodiscard]] LlmSpec glm_52();
[[nodiscard]] LlmSpec llama_70b();
[[nodiscard]] LlmSpec qwen3_235b();
[[nodiscard]] LlmSpec gpt_oss_120b();
[[nodiscard]] LlmSpec qwen3_next();
[[nodiscard]] LlmSpec qwen35_9b();
[[nodiscard]] LlmSpec gemma4_12b();
[[nodiscard]] LlmSpec deepseek_v4_flash();
[[nodiscard]] LlmSpec deepseek_v4_pro();

/// `layers` equal layers of grouped attention.
[[nodiscard]] LlmSpec grouped_model(std::int64_t layers, std::int64_t query_heads, std::int64_t kv_heads, std::int64_t head_dim);

}  // namespace kvplan::testing
