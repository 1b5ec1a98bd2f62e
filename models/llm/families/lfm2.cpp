// Liquid's LFM2 with experts: gated short convolutions, attention in some layers, experts behind the first dense ones.
#include "models/llm/families/dense_style.hpp"
#include "models/llm/keys.hpp"

namespace kvplan::families {
namespace {

void add_short_conv(LayerPlan& layer, const LinearAttention& conv, std::int64_t hidden) {
    const auto part = [&](const char* name, std::int64_t rows, Sharding sharding) {
        layer.modules.push_back(
            linear(std::string("conv.") + name, Component::linear_attention, rows, hidden, sharding));
    };
    part("in_proj", 3 * hidden, Sharding::column);
    Module kernel = vector_of("conv.conv", Component::linear_attention, conv.conv_channels);
    kernel.weight.cols = conv.conv_kernel;
    kernel.weight.sharding = Sharding::column;
    layer.modules.push_back(std::move(kernel));
    part("out_proj", hidden, Sharding::row);
}

void add_ffn(const Build& build, LayerPlan& layer, const Dimensions& d, const MoeFfn* moe) {
    if (moe == nullptr) {
        const DenseFfn dense{build.facts.required(keys::kFfn), true};
        layer.ffn = dense;
        add_dense(layer, dense, d.hidden, {"feed_forward.", "w1", "w3", "w2", ""});
        return;
    }
    MoeOptions options;
    options.prefix = "feed_forward.";
    options.expert = {"", "w1", "w3", "w2", ""};
    if (build.facts.flag({"use_expert_bias"}, true)) options.correction_bias = "expert_bias";
    layer.ffn = *moe;
    add_moe(layer, *moe, d.hidden, options);
}

void lfm2_moe(Build& build) {
    const Dimensions d = read_dimensions(build);
    LinearAttention conv;
    conv.kind = LinearAttention::Kind::short_conv;
    conv.conv_kernel = build.facts.required({"conv_kernel", "conv_L_cache"});
    conv.conv_channels = d.hidden;
    const std::vector<std::string> types = build.facts.words(keys::kLayerTypes);
    if (static_cast<std::int64_t>(types.size()) < d.layers)
        build.facts.fault(build.facts.value(keys::kLayerTypes), "value.missing", "layer_types must name every layer",
                          "conv or full_attention for every layer");
    const MoeFfn moe = read_moe(build);
    const std::vector<bool> sparse = moe_layers(build, d.layers);
    for (std::size_t i = 0; i < sparse.size(); ++i) {
        const bool attends = i < types.size() && types[i] == "full_attention";
        LayerPlan layer;
        layer.name = std::string(attends ? "full" : "convolution") + (sparse[i] ? ", moe" : ", dense");
        add_norm(layer.modules, "operator_norm", d.hidden);
        add_norm(layer.modules, "ffn_norm", d.hidden);
        if (attends) {
            GroupedOptions options;
            options.names.o = "out_proj";
            options.names.q_norm = "q_layernorm";
            options.names.k_norm = "k_layernorm";
            options.qk_norm = QkNorm::per_head_dim;
            layer.attention = grouped(d);
            add_grouped(layer, grouped(d), d.hidden, options);
        } else {
            layer.attention = conv;
            add_short_conv(layer, conv, d.hidden);
        }
        add_ffn(build, layer, d, sparse[i] ? &moe : nullptr);
        append_layer(build.blueprint, std::move(layer));
    }
    OutsideOptions outside;
    outside.norm = "model.embedding_norm";
    finish(build, d, outside);
}

}  // namespace

std::vector<Family> lfm2() {
    std::vector<Family> families;
    families.push_back({"lfm2_moe", {"lfm2_moe"}, {}, lfm2_moe, true});
    return families;
}

}  // namespace kvplan::families
