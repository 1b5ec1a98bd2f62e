// Gemma 4: windows and full layers of different geometry, keys that serve as values, layers that borrow the KV of
// earlier ones, embeddings for every layer, experts beside a dense MLP.
#include <algorithm>

#include "models/llm/families/decoder.hpp"
#include "models/llm/keys.hpp"

namespace kvplan::families {
namespace {

struct Gemma4 {
    Dimensions window, full;
    std::int64_t span = 0, ffn = 0, per_layer = 0, shared_from = 0;
    bool keys_are_values = false, double_wide = false;
    std::optional<MoeFfn> moe;
    std::vector<bool> windowed;
};

Gemma4 read_gemma4(const Build& build) {
    const ModelFacts& facts = build.facts;
    Gemma4 model;
    model.window = read_dimensions(build);
    model.full = model.window;
    model.full.head_dim = facts.count({"full_head_dim", "global_head_dim"}).value_or(model.window.head_dim);
    model.full.kv_heads = facts.count({"full_kv_heads", "num_global_key_value_heads"}).value_or(model.window.kv_heads);
    model.span = facts.required(keys::kWindow);
    model.ffn = facts.required(keys::kFfn);
    model.per_layer = facts.count_or({"per_layer_width", "hidden_size_per_layer_input"}, 0);
    model.shared_from = model.window.layers - facts.count_or({"kv_shared_layers", "num_kv_shared_layers"}, 0);
    model.keys_are_values = facts.flag({"keys_are_values", "attention_k_eq_v"}, false);
    model.double_wide = facts.flag({"use_double_wide_mlp"}, false);
    if (facts.flag({"enable_moe_block"}, false)) model.moe = read_moe(build);
    const auto types = windowed_layers(build, model.window.layers);
    model.windowed = types ? *types : std::vector<bool>(static_cast<std::size_t>(model.window.layers), false);
    return model;
}

void add_gemma4_experts(LayerPlan& layer, const Gemma4& model) {
    const std::int64_t hidden = model.window.hidden;
    MoeFfn moe = *model.moe;
    moe.dense_intermediate = model.ffn;
    MoeOptions options;
    options.prefix = "";
    options.router = "router.proj";
    layer.ffn = moe;
    add_moe(layer, moe, hidden, options);
    layer.modules.push_back(vector_of("router.scale", Component::router, hidden));
    layer.modules.push_back(vector_of("router.per_expert_scale", Component::router, moe.experts));
    for (const char* norm :
         {"post_feedforward_layernorm_1", "post_feedforward_layernorm_2", "pre_feedforward_layernorm_2"})
        add_norm(layer.modules, norm, hidden);
}

LayerPlan gemma4_layer(const Gemma4& model, std::int64_t index) {
    const bool windowed = model.windowed[static_cast<std::size_t>(index)];
    const bool borrows = index >= model.shared_from;
    const std::int64_t hidden = model.window.hidden;
    LayerPlan layer;
    layer.name =
        std::string(windowed ? "window" : "full") + (borrows ? ", shared KV" : "") + (model.moe ? ", moe" : "");
    for (const char* norm :
         {"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm"})
        add_norm(layer.modules, norm, hidden);
    layer.modules.push_back(vector_of("layer_scalar", Component::norms, 1));
    GroupedAttention attention = grouped(windowed ? model.window : model.full);
    if (windowed) attention.window = model.span;
    GroupedOptions options;
    options.qk_norm = QkNorm::per_head_dim;
    options.value_is_key = model.keys_are_values && !windowed;
    add_grouped(layer, attention, hidden, options);  // borrowing layers store their unused projections too
    attention.stores_kv = !borrows;
    layer.attention = attention;
    const std::int64_t width = model.ffn * (model.double_wide && borrows ? 2 : 1);
    layer.ffn = DenseFfn{width, true};
    add_dense(layer, DenseFfn{width, true}, hidden);
    if (model.moe) add_gemma4_experts(layer, model);
    if (model.per_layer > 0) {
        layer.modules.push_back(
            linear("per_layer_input_gate", Component::other, model.per_layer, hidden, Sharding::replicated));
        layer.modules.push_back(
            linear("per_layer_projection", Component::other, hidden, model.per_layer, Sharding::replicated));
        add_norm(layer.modules, "post_per_layer_input_norm", hidden);
    }
    return layer;
}

void gemma4_text(Build& build) {
    const Gemma4 model = read_gemma4(build);
    for (std::int64_t i = 0; i < model.window.layers; ++i) append_layer(build.blueprint, gemma4_layer(model, i));
    finish(build, model.window);
    if (model.per_layer == 0) return;
    const std::int64_t width = model.window.layers * model.per_layer;
    const std::int64_t vocab =
        build.facts.count_or({"per_layer_vocab", "vocab_size_per_layer_input"}, model.window.vocab);
    std::vector<Module>& outside = build.blueprint.outside;
    Module table = of_kind(linear("model.embed_tokens_per_layer", Component::embedding, vocab, width, Sharding::vocab),
                           ModuleKind::embedding);
    table.weight.is_matmul = false;
    outside.push_back(std::move(table));
    outside.push_back(of_kind(
        linear("model.per_layer_model_projection", Component::other, width, model.window.hidden, Sharding::replicated),
        ModuleKind::small));
    add_norm(outside, "model.per_layer_projection_norm", model.per_layer);
}

}  // namespace

std::vector<Family> gemma4() {
    std::vector<Family> families;
    families.push_back({"gemma4", {"gemma4_text", "gemma4"}, {}, gemma4_text, true});
    return families;
}

}  // namespace kvplan::families
