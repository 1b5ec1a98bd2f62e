// The encoder block that towers repeat, and the width they project to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/llm/families/registry.hpp"

namespace kvplan::families {

/// One encoder block repeated `layers` times: fused or separate qkv, a projection, an MLP, two norms.
struct VisionBlock {
    std::string prefix;  // "visual.blocks"
    std::int64_t layers = 1, hidden = 1, intermediate = 1, heads = 1;
    bool fused_qkv = true;
    bool bias = true;                    // of the MLP
    std::optional<bool> attention_bias;  // when it differs
    bool gated = false;
    bool norm_bias = true;
    std::int64_t attention_width = 0;  // of q, k and v when it is not hidden
};

/// The modules of `block`, each `layers` times.
void add_blocks(std::vector<Module>& out, const VisionBlock& block);

/// Hidden size of the text model.
[[nodiscard]] std::int64_t text_width(const Build& build);

// Towers of vision_large.cpp.
void llama4_vision(Build& build);
void mllama_vision(Build& build);
void minimax_vision(Build& build);
void gemma4_vision(Build& build);
void deepseek_ocr2_vision(Build& build);

}  // namespace kvplan::families
