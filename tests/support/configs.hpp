#pragma once

#include <string>

namespace kvplan::test {

/// A config.json with the facts of Llama-3-70B (80 layers, hidden 8192, 64 query and 8 KV heads, bf16).
[[nodiscard]] std::string llama_3_70b_config();

/// A config.json with the facts of Kimi-K2.5's language model as it is nested there (61 layers, MLA 512 + 64, 384 experts in
/// int4 with groups of 32), without its vision tower.
[[nodiscard]] std::string kimi_k2_config();

}  // namespace kvplan::test
