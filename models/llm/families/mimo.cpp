// Xiaomi MiMo: the 7B with its draft layer, and V2 with windows of another geometry, narrow values and sinks.
#include "models/llm/families/dense_style.hpp"
#include "models/llm/keys.hpp"

namespace kvplan::families {
namespace {

/// Qwen2's layer; the draft layer takes normed token and hidden state through a projection.
void mimo(Build& build) {
    DenseStyle style;
    style.qkv_bias = Bias::always;
    if (build.facts.has(keys::kAttentionBias)) style.qkv_bias = Bias::by_key;
    style.windows = Windows::by_flag;
    dense_decoder(build, style);
    const std::int64_t layers = build.facts.count_or(keys::kDraftLayers, 0);
    if (layers == 0 || build.blueprint.plans.empty()) return;
    const std::int64_t hidden = build.facts.required(keys::kHidden);
    LayerPlan draft = build.blueprint.plans[static_cast<std::size_t>(build.blueprint.layer_plan.back())];
    draft.name = "draft";
    for (const char* norm : {"token_layernorm", "hidden_layernorm", "final_layernorm"})
        add_norm(draft.modules, norm, hidden, false, Component::mtp);
    draft.modules.push_back(
        of_kind(linear("input_proj", Component::mtp, hidden, 2 * hidden, Sharding::replicated), ModuleKind::small));
    build.blueprint.draft_layers = layers;
    build.blueprint.draft = std::move(draft);
    build.blueprint.draft_path = "model.mtp_layers.0";
}

struct MimoV2 {
    Dimensions full, windowed;
    std::int64_t full_v = 0, windowed_v = 0, window = 0;
    bool full_sinks = false, windowed_sinks = true, fused = false;
};

MimoV2 read_mimo_v2(const Build& build) {
    const ModelFacts& facts = build.facts;
    MimoV2 model;
    model.full = read_dimensions(build);
    model.full_v = facts.count(keys::kVDim).value_or(model.full.head_dim);
    model.windowed = model.full;
    model.windowed.heads = facts.count_or({"window_heads", "swa_num_attention_heads"}, model.full.heads);
    model.windowed.kv_heads = facts.count_or({"window_kv_heads", "swa_num_key_value_heads"}, model.full.kv_heads);
    model.windowed.head_dim = facts.count_or({"window_head_dim", "swa_head_dim"}, model.full.head_dim);
    model.windowed_v = facts.count_or({"window_v_dim", "swa_v_head_dim"}, model.full_v);
    model.window = facts.required(keys::kWindow);
    model.full_sinks = facts.flag({"add_full_attention_sink_bias"}, false);
    model.windowed_sinks = facts.flag({"add_swa_attention_sink_bias"}, true);
    model.fused = facts.word({"attention_projection_layout"}).value_or("") == "fused_qkv";
    return model;
}

GroupedAttention mimo_attention(const MimoV2& model, bool windowed) {
    GroupedAttention attention = grouped(windowed ? model.windowed : model.full);
    attention.v_head_dim = windowed ? model.windowed_v : model.full_v;
    if (windowed) attention.window = model.window;
    return attention;
}

LayerPlan mimo_layer(const Build& build, const MimoV2& model, bool windowed) {
    LayerPlan layer;
    add_pre_norms(layer, model.full.hidden);
    const GroupedAttention attention = mimo_attention(model, windowed);
    layer.attention = attention;
    GroupedOptions options;
    if (model.fused) options.names.fused = "qkv_proj";
    options.qkv_bias = build.facts.flag(keys::kAttentionBias, false);
    options.sinks = windowed ? model.windowed_sinks : model.full_sinks;
    add_grouped(layer, attention, model.full.hidden, options);
    for (Module& module :
         layer.modules)  // the repacks for FP8 leave the output projection alone whatever their list says
        if (module.weight.name == "self_attn.o_proj") module.kind = ModuleKind::small;
    return layer;
}

/// hybrid_layer_pattern has 1 for a window, moe_layer_freq 1 for experts. Three dense draft layers that no key tells.
void mimo_v2(Build& build) {
    constexpr std::int64_t kDraftLayers = 3;
    const MimoV2 model = read_mimo_v2(build);
    const std::vector<std::int64_t> pattern = build.facts.integers({"windowed_layers", "hybrid_layer_pattern"});
    const MoeFfn moe = read_moe(build);
    const std::vector<bool> sparse = moe_layers(build, model.full.layers);
    const DenseFfn dense{build.facts.required(keys::kFfn), true};
    MoeOptions options;
    options.router_type = DType::f32;
    options.correction_bias = "gate.e_score_correction_bias";
    const std::int64_t hidden = model.full.hidden;
    for (std::size_t i = 0; i < sparse.size(); ++i) {
        const bool windowed = i < pattern.size() && pattern[i] == 1;
        LayerPlan layer = mimo_layer(build, model, windowed);
        layer.name = std::string(windowed ? "window" : "full") + (sparse[i] ? ", moe" : ", dense");
        if (sparse[i]) {
            layer.ffn = moe;
            add_moe(layer, moe, hidden, options);
        } else {
            layer.ffn = dense;
            add_dense(layer, dense, hidden);
        }
        append_layer(build.blueprint, std::move(layer));
    }
    LayerPlan draft = mimo_layer(build, model, true);
    draft.name = "draft";
    draft.ffn = dense;
    add_dense(draft, dense, hidden);
    for (const char* norm : {"enorm", "hnorm", "final_layernorm"})
        add_norm(draft.modules, norm, hidden, false, Component::mtp);
    draft.modules.push_back(
        of_kind(linear("eh_proj", Component::mtp, hidden, 2 * hidden, Sharding::replicated), ModuleKind::small));
    build.blueprint.draft_layers = kDraftLayers;
    build.blueprint.draft = std::move(draft);
    build.blueprint.draft_path = "model.mtp.layers.0";
    finish(build, model.full);
}

}  // namespace

std::vector<Family> mimo_families() {
    std::vector<Family> families;
    families.push_back({"mimo", {"mimo"}, {"MiMoForCausalLM"}, mimo});
    families.push_back(
        {"mimo_v2", {"mimo_v2", "mimo_v2_flash"}, {"MiMoV2ForCausalLM", "MiMoV2FlashForCausalLM"}, mimo_v2});
    return families;
}

}  // namespace kvplan::families
