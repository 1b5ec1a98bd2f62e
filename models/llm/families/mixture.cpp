// Mixtures of experts that are no larger family's: Mixtral, gpt-oss.
#include <algorithm>

#include "models/llm/families/dense_style.hpp"
#include "models/llm/keys.hpp"

namespace kvplan::families {
namespace {

void mixtral(Build& build) {
    DenseStyle style;
    style.windows = Windows::all;
    MoeOptions options;
    options.prefix = "block_sparse_moe.";
    options.expert = {"", "w1", "w3", "w2", ""};
    moe_decoder(build, style, options);
}

/// Biases on every projection, one sink a head, experts stacked in one tensor with gate and up side by side.
void gpt_oss(Build& build) {
    DenseStyle style;
    style.qkv_bias = style.o_bias = Bias::always;
    style.windows = Windows::by_types;
    style.pattern = 2;
    MoeOptions options;
    options.router = "router";
    options.router_bias = true;
    options.experts = "experts.";
    options.expert = {"", "gate_proj", "up_proj", "down_proj", "gate_up_proj"};
    options.expert_bias = true;
    options.stacked = true;
    moe_decoder(build, style, options);
    for (LayerPlan& plan : build.blueprint.plans) {
        const auto& attention = std::get<GroupedAttention>(plan.attention);
        Module sinks = vector_of("self_attn.sinks", Component::attention, attention.query_heads);
        sinks.weight.sharding = Sharding::query_heads;
        sinks.weight.units = attention.query_heads;
        plan.modules.push_back(std::move(sinks));
    }
}

/// Layer norms with biases, and with attention_bias one on every projection of attention and on the head.
void phimoe(Build& build) {
    DenseStyle style;
    style.norm_bias = true;
    style.qkv_bias = style.o_bias = Bias::by_key;
    style.windows = Windows::all;
    style.outside.norm_bias = true;
    style.outside.head_bias = build.facts.flag({"lm_head_bias"}, false);
    MoeOptions options;
    options.prefix = "block_sparse_moe.";
    options.expert = {"", "w1", "w3", "w2", ""};
    moe_decoder(build, style, options);
}

/// OLMoE norms queries and keys over their full width.
void olmoe(Build& build) {
    DenseStyle style;
    style.qk_norm = QkNorm::full_width;
    style.qkv_bias = style.o_bias = Bias::by_key;
    moe_decoder(build, style, {});
}

/// Granite's experts are stacked, gate and up in one tensor.
void granitemoe(Build& build) {
    DenseStyle style;
    style.qkv_bias = style.o_bias = Bias::by_key;
    MoeOptions options;
    options.prefix = "block_sparse_moe.";
    options.router = "router.layer";
    options.experts = "";
    options.expert = {"", "input_linear", "input_linear", "output_linear", "input_linear"};
    options.shared = "";
    options.stacked = true;
    moe_decoder(build, style, options);
}

/// DBRX keeps its facts in attn_config and ffn_config, and its experts stacked.
void dbrx(Build& build) {
    Dimensions d = read_dimensions(build);
    const ModelFacts attention = build.facts.section({"attn_config"});
    const ModelFacts ffn = build.facts.section({"ffn_config"});
    if (attention.exists()) d.kv_heads = attention.required(keys::kKvHeads);
    MoeFfn moe;
    const ModelFacts& experts = ffn.exists() ? ffn : build.facts;
    moe.experts = experts.required(keys::kExperts);
    moe.top_k = experts.required(keys::kTopK);
    moe.intermediate = experts.required(keys::kFfn);
    LayerPlan layer;
    layer.name = "moe";
    layer.ffn = moe;
    layer.attention = grouped(d);
    add_norm(layer.modules, "norm_attn_norm.norm_1", d.hidden);
    add_norm(layer.modules, "norm_attn_norm.norm_2", d.hidden);
    GroupedOptions options;
    options.names.prefix = "norm_attn_norm.attn.";
    options.names.fused = "Wqkv";
    options.names.o = "out_proj";
    add_grouped(layer, grouped(d), d.hidden, options);
    MoeOptions how;
    how.prefix = "ffn.";
    how.router = "router.layer";
    how.experts = "experts.mlp.";
    how.expert = {"", "w1", "v1", "w2", ""};
    how.stacked = true;
    add_moe(layer, moe, d.hidden, how);
    build.blueprint.layer_prefix = "transformer.blocks";
    for (std::int64_t i = 0; i < d.layers; ++i) append_layer(build.blueprint, layer);
    OutsideOptions outside;
    outside.embedding = "transformer.wte";
    outside.norm = "transformer.norm_f";
    finish(build, d, outside);
}

/// Hunyuan's experts and the shared one are as wide as moe_intermediate_size, or intermediate_size without it; facts
/// may be lists with one entry a layer. The router is f32.
void hunyuan_moe(Build& build) {
    const ModelFacts& facts = build.facts;
    const Dimensions d = read_dimensions(build);
    DenseStyle style;
    style.qkv_bias = style.o_bias = Bias::by_key;
    if (facts.flag({"use_qk_norm"}, true)) style.qk_norm = QkNorm::per_head_dim;
    style.attention.q_norm = "query_layernorm";
    style.attention.k_norm = "key_layernorm";
    MoeOptions options;
    options.router = "gate.wg";
    options.router_type = DType::f32;
    options.shared = "shared_mlp.";
    // Cross-layer attention: groups of layers read the keys and values of their first.
    const std::int64_t sharing = facts.flag({"use_cla"}, false) ? facts.small_or({"cla_share_factor"}, 1) : 1;
    for (std::int64_t i = 0; i < d.layers; ++i) {
        MoeFfn moe;
        moe.experts = facts.of_layer(keys::kExperts, i).value_or(1);
        moe.top_k = facts.of_layer(keys::kTopK, i).value_or(1);
        moe.intermediate = facts.of_layer(keys::kExpertFfn, i).value_or(0);
        if (moe.intermediate == 0) moe.intermediate = facts.required(keys::kFfn);
        moe.shared_experts = facts.of_layer(keys::kSharedExperts, i).value_or(1);
        moe.shared_intermediate = moe.shared_experts * facts.required(keys::kFfn);
        GroupedAttention attention = grouped(d);
        attention.stores_kv = i % sharing == 0;
        LayerPlan layer = attention_layer(build, style, d, attention);
        layer.name = "moe";
        layer.ffn = moe;
        add_moe(layer, moe, d.hidden, options);
        append_layer(build.blueprint, std::move(layer));
    }
    finish(build, d);
}

/// ERNIE 4.5: experts from moe_layer_start_index to moe_layer_end_index in every moe_layer_interval-th layer, an f32
/// router.
void ernie45_moe(Build& build) {
    const ModelFacts& facts = build.facts;
    const Dimensions d = read_dimensions(build);
    const MoeFfn moe = read_moe(build);
    const DenseFfn dense{facts.required(keys::kFfn), true};
    const bool bias = facts.flag({"use_bias"}, false);
    DenseStyle style;
    if (bias) style.qkv_bias = style.o_bias = Bias::always;
    MoeOptions options;
    options.router_type = DType::f32;
    options.correction_bias = "moe_statics.e_score_correction_bias";
    options.expert_bias = bias;
    const std::int64_t first = facts.count_or({"moe_layer_start_index"}, 0),
                       last = facts.count_or({"moe_layer_end_index"}, d.layers - 1);
    const std::int64_t interval = std::max<std::int64_t>(1, facts.count_or({"moe_layer_interval"}, 1));
    for (std::int64_t i = 0; i < d.layers; ++i) {
        LayerPlan layer = attention_layer(build, style, d, grouped(d));
        if (i >= first && i <= last && (i + 1) % interval == 0) {
            layer.name = "moe";
            layer.ffn = moe;
            add_moe(layer, moe, d.hidden, options);
        } else {
            layer.name = "dense";
            layer.ffn = dense;
            add_dense(layer, dense, d.hidden, {}, bias);
        }
        append_layer(build.blueprint, std::move(layer));
    }
    OutsideOptions outside;
    outside.head_bias = bias;
    finish(build, d, outside);
}

/// Grok: four norms a layer; Grok-2 has an MLP beside the experts (residual_moe).
void grok(Build& build) {
    const Dimensions d = read_dimensions(build);
    MoeFfn moe = read_moe(build);
    const bool residual = build.facts.flag({"residual_moe"}, false);
    if (residual) moe.dense_intermediate = build.facts.required(keys::kFfn);
    LayerPlan layer;
    layer.name = "moe";
    layer.attention = grouped(d);
    layer.ffn = moe;
    for (const char* norm : {"pre_attn_norm", "post_attn_norm", "pre_moe_norm", "post_moe_norm"})
        add_norm(layer.modules, norm, d.hidden);
    add_grouped(layer, grouped(d), d.hidden);
    MoeOptions options;
    options.prefix = "block_sparse_moe.";
    options.expert = {"", "w1", "w3", "w2", ""};
    add_moe(layer, moe, d.hidden, options);
    if (residual) add_dense(layer, DenseFfn{moe.dense_intermediate, true}, d.hidden);
    for (std::int64_t i = 0; i < d.layers; ++i) append_layer(build.blueprint, layer);
    finish(build, d);
}

}  // namespace

std::vector<Family> mixture() {
    std::vector<Family> families;
    families.push_back({"mixtral", {"mixtral"}, {}, mixtral});
    families.push_back({"gpt_oss", {"gpt_oss"}, {}, gpt_oss});
    families.push_back({"phimoe", {"phimoe"}, {"PhiMoEForCausalLM"}, phimoe});
    families.push_back({"olmoe",
                        {"olmoe"},
                        {},
                        olmoe,
                        false,
                        false,
                        "huggingface/transformers src/transformers/models/olmoe/modeling_olmoe.py at 00dcc6dd and "
                        "configuration_olmoe.py at 008e5743"});
    families.push_back({"granitemoe", {"granitemoe"}, {}, granitemoe});
    families.push_back({"dbrx", {"dbrx"}, {"DbrxForCausalLM"}, dbrx});
    families.push_back({"grok", {"grok-1", "grok"}, {"Grok1ForCausalLM", "Grok1ModelForCausalLM"}, grok});
    families.push_back(
        {"hunyuan_moe",
         {"hunyuan_v1_moe", "hunyuan"},
         {},
         hunyuan_moe,
         true,
         false,
         "huggingface/transformers src/transformers/models/hunyuan_v1_moe/modular_hunyuan_v1_moe.py at 05bf8f64"});
    families.push_back(
        {"ernie4_5_moe",
         {"ernie4_5_moe"},
         {},
         ernie45_moe,
         true,
         false,
         "huggingface/transformers src/transformers/models/ernie4_5_moe/modular_ernie4_5_moe.py at 01187e21"});
    return families;
}

}  // namespace kvplan::families
