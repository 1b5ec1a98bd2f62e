// Llama 4, whose layers see chunks of the past but every fourth, and the text side of Llama 3.2 Vision, where some
// layers look at the image instead of the text.
#include <algorithm>

#include "models/llm/families/dense_style.hpp"
#include "models/llm/keys.hpp"

namespace kvplan::families {
namespace {

/// no_rope_layers has 0 where a layer sees everything; when it is empty every fourth does.
std::vector<bool> chunked_layers(const Build& build, std::int64_t layers) {
    if (const auto types = windowed_layers(build, layers)) return *types;
    const std::vector<std::int64_t> rope = build.facts.integers({"no_rope_layers"});
    const std::int64_t interval =
        std::max<std::int64_t>(1, build.facts.count_or({"no_rope_layer_interval", "nope_layer_interval"}, 4));
    std::vector<bool> chunked(static_cast<std::size_t>(layers));
    for (std::size_t i = 0; i < chunked.size(); ++i)
        chunked[i] = i < rope.size() ? rope[i] != 0 : (static_cast<std::int64_t>(i) + 1) % interval != 0;
    return chunked;
}

std::vector<bool> llama4_experts(const Build& build, std::int64_t layers) {
    std::vector<bool> sparse(static_cast<std::size_t>(layers), false);
    if (build.facts.has({"moe_layers"})) {
        for (const std::int64_t i : build.facts.integers({"moe_layers"}))
            if (i >= 0 && i < layers) sparse[static_cast<std::size_t>(i)] = true;
        return sparse;
    }
    const std::int64_t step = std::max<std::int64_t>(1, build.facts.count_or({"interleave_moe_layer_step"}, 1));
    for (std::size_t i = 0; i < sparse.size(); ++i) sparse[i] = (static_cast<std::int64_t>(i) + 1) % step == 0;
    return sparse;
}

/// `intermediate_size` is an expert's width here, `intermediate_size_mlp` that of dense layers. One shared expert.
void llama4_text(Build& build) {
    const Dimensions d = read_dimensions(build);
    MoeFfn moe = read_moe(build);
    moe.shared_experts = 1;
    moe.shared_intermediate = moe.intermediate;
    const std::int64_t dense_width = build.facts.count_or({"dense_ffn", "intermediate_size_mlp"}, moe.intermediate);
    const std::int64_t chunk = build.facts.count_or({"window", "attention_chunk_size"}, 0);
    const std::vector<bool> chunked = chunked_layers(build, d.layers);
    const std::vector<bool> sparse = llama4_experts(build, d.layers);
    DenseStyle style;
    style.qkv_bias = style.o_bias = Bias::by_key;
    MoeOptions options;
    options.prefix = "feed_forward.";
    options.router = "router";
    options.experts = "experts.";
    options.expert = {"", "gate_proj", "up_proj", "down_proj", "gate_up_proj"};
    options.shared = "shared_expert.";
    options.stacked = true;
    DenseNames dense_names;
    dense_names.prefix = "feed_forward.";
    for (std::size_t i = 0; i < sparse.size(); ++i) {
        GroupedAttention attention = grouped(d);
        const bool here = chunked[i] && chunk > 0;
        if (here) attention.window = chunk;
        attention.chunked = here;
        LayerPlan layer = attention_layer(build, style, d, attention);
        layer.name = std::string(sparse[i] ? "moe" : "dense") + (here ? ", chunked" : "");
        if (sparse[i]) {
            layer.ffn = moe;
            add_moe(layer, moe, d.hidden, options);
        } else {
            layer.ffn = DenseFfn{dense_width, true};
            add_dense(layer, DenseFfn{dense_width, true}, d.hidden, dense_names);
        }
        append_layer(build.blueprint, std::move(layer));
    }
    finish(build, d);
}

/// Cross-attention layers keep keys and values of image tokens only. The embedding has 8 rows more than the head.
void mllama_text(Build& build) {
    constexpr std::int64_t kImageTokenRows = 8;
    const Dimensions d = read_dimensions(build);
    const DenseFfn ffn{build.facts.required(keys::kFfn), true};
    std::vector<bool> cross(static_cast<std::size_t>(d.layers), false);
    for (const std::int64_t i : build.facts.integers({"cross_attention_layers"}))
        if (i >= 0 && i < d.layers) cross[static_cast<std::size_t>(i)] = true;
    for (std::size_t i = 0; i < cross.size(); ++i) {
        LayerPlan layer;
        layer.name = cross[i] ? "cross-attention" : "dense";
        add_pre_norms(layer, d.hidden);
        GroupedAttention attention = grouped(d);
        attention.image_only = cross[i];
        GroupedOptions options;
        if (cross[i]) {
            options.names.prefix = "cross_attn.";
            options.qk_norm = QkNorm::per_head_dim;
            for (const char* gate : {"cross_attn_attn_gate", "cross_attn_mlp_gate"}) add_norm(layer.modules, gate, 1);
        }
        layer.attention = attention;
        add_grouped(layer, attention, d.hidden, options);
        layer.ffn = ffn;
        add_dense(layer, ffn, d.hidden);
        append_layer(build.blueprint, std::move(layer));
    }
    finish(build, d);
    build.blueprint.outside.front().weight.rows += kImageTokenRows;
}

}  // namespace

std::vector<Family> llama4() {
    std::vector<Family> families;
    families.push_back({"llama4", {"llama4_text", "llama4"}, {}, llama4_text});
    families.push_back({"mllama", {"mllama_text_model", "mllama"}, {}, mllama_text});
    for (Family& family : families) family.active = ActiveConvention::with_head_and_embedding;
    return families;
}

}  // namespace kvplan::families
