// Qwen 2 to 3, dense and with experts. The hybrids are in qwen_next.cpp.
#include "models/llm/families/dense_style.hpp"
#include "models/llm/keys.hpp"

namespace kvplan::families {
namespace {

/// A bias on q, k and v that no key tells.
DenseStyle qwen2_style() {
    DenseStyle style;
    style.qkv_bias = Bias::always;
    style.windows = Windows::by_flag;
    return style;
}

DenseStyle qwen3_style() {
    DenseStyle style;
    style.qkv_bias = style.o_bias = Bias::by_key;
    style.qk_norm = QkNorm::per_head_dim;
    style.windows = Windows::by_flag;
    return style;
}

void qwen2(Build& build) { dense_decoder(build, qwen2_style()); }
void qwen3(Build& build) { dense_decoder(build, qwen3_style()); }

void qwen2_moe(Build& build) {
    MoeOptions options;
    options.shared = "shared_expert.";
    options.shared_gate = "shared_expert_gate";
    DenseStyle style = qwen2_style();
    if (build.facts.has(keys::kAttentionBias)) style.qkv_bias = Bias::by_key;
    moe_decoder(build, style, options);
}

void qwen3_moe(Build& build) { moe_decoder(build, qwen3_style(), {}); }

}  // namespace

std::vector<Family> qwen() {
    std::vector<Family> families;
    families.push_back({"qwen2", {"qwen2", "qwen2_vl", "qwen2_5_vl", "qwen2_vl_text", "qwen2_5_vl_text"}, {}, qwen2});
    families.push_back({"qwen2_moe", {"qwen2_moe"}, {}, qwen2_moe});
    families.push_back({"qwen3", {"qwen3", "qwen3_vl", "qwen3_vl_text"}, {}, qwen3});
    families.push_back({"qwen3_moe", {"qwen3_moe", "qwen3_vl_moe", "qwen3_vl_moe_text"}, {}, qwen3_moe});
    for (Family& family : families) family.active = ActiveConvention::with_head_and_embedding;
    return families;
}

}  // namespace kvplan::families
