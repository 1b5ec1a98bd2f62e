// GLM: the dense 4 series and the experts of 4.5 to 4.7.
#include "models/llm/families/dense_style.hpp"
#include "models/llm/families/draft.hpp"
#include "models/llm/keys.hpp"

namespace kvplan::families {
namespace {

/// ChatGLM2/3 and GLM-4-9B: fused qkv with a bias, a fused gate and up, ffn_hidden_size without the doubling.
void chatglm(Build& build) {
    DenseStyle style;
    style.layer_prefix = "transformer.encoder.layers";
    style.attention.prefix = "self_attention.";
    style.attention.fused = "query_key_value";
    style.attention.o = "dense";
    style.ffn.fused = "dense_h_to_4h";
    style.ffn.down = "dense_4h_to_h";
    style.qkv_bias = Bias::by_key;
    style.outside.embedding = "transformer.embedding.word_embeddings";
    style.outside.norm = "transformer.encoder.final_layernorm";
    style.outside.head = "transformer.output_layer";
    dense_decoder(build, style);
}

void glm4_moe(Build& build) {
    DenseStyle style;
    style.qkv_bias = Bias::by_key;
    if (build.facts.flag({"use_qk_norm"}, false)) style.qk_norm = QkNorm::per_head_dim;
    MoeOptions options;
    options.correction_bias = "gate.e_score_correction_bias";
    moe_decoder(build, style, options);
    if (build.blueprint.plans.empty()) return;
    // The draft layer is a layer like the last one, kept with its own embedding and head in 4.5 and 4.7.
    const LayerPlan last = build.blueprint.plans[static_cast<std::size_t>(build.blueprint.layer_plan.back())];
    add_draft(build, read_dimensions(build), last, true);
}

}  // namespace

std::vector<Family> glm() {
    std::vector<Family> families;
    families.push_back({"glm4_moe", {"glm4_moe"}, {}, glm4_moe});
    families.push_back({"chatglm", {"chatglm"}, {}, chatglm});
    for (Family& family : families) family.active = ActiveConvention::layers_only;
    return families;
}

}  // namespace kvplan::families
