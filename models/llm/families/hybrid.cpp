// Models that mix full attention with layers of fixed state: Jamba, MiniMax M1, Kimi Linear and K3.
#include <algorithm>
#include <string>

#include "models/llm/families/dense_style.hpp"
#include "models/llm/families/state_layers.hpp"
#include "models/llm/keys.hpp"

namespace kvplan::families {
namespace {

/// Jamba: attention in every `period`-th layer from an offset on, experts likewise with a period of their own.
void jamba(Build& build) {
    const ModelFacts& facts = build.facts;
    const Dimensions d = read_dimensions(build);
    const std::int64_t ffn = facts.required(keys::kFfn);
    LinearAttention mamba;
    mamba.kind = LinearAttention::Kind::mamba1;
    mamba.state_dtype = state_dtype(build);
    mamba.head_dim = 1;
    mamba.heads = facts.count_or({"mamba_expand"}, 2) * d.hidden;
    mamba.groups = 1;
    mamba.state_size = facts.required({"mamba_state", "mamba_d_state"});
    mamba.conv_kernel = facts.required({"mamba_conv_kernel", "mamba_d_conv"});
    mamba.conv_channels = mamba.heads;
    MambaOptions options;
    options.prefix = "mamba.";
    options.conv_bias = facts.flag({"mamba_conv_bias"}, true);
    options.proj_bias = facts.flag({"mamba_proj_bias"}, false);
    // "auto" is hidden / 16.
    options.dt_rank =
        facts.value({"mamba_dt_rank"}).is_number() ? facts.required({"mamba_dt_rank"}) : ceil_div(d.hidden, 16);
    options.inner_norms = true;
    options.state_params = DType::f32;
    MoeFfn moe = read_moe(build);
    const auto every = [&](json::Names period, json::Names offset, std::int64_t p, std::int64_t o, std::int64_t i) {
        p = std::max<std::int64_t>(1, facts.count_or(period, p));
        return i % p == facts.count_or(offset, o) % p;
    };
    for (std::int64_t i = 0; i < d.layers; ++i) {
        const bool attends = every({"attn_layer_period"}, {"attn_layer_offset"}, 8, 4, i);
        const bool sparse = moe.experts > 1 && every({"expert_layer_period"}, {"expert_layer_offset"}, 2, 1, i);
        LayerPlan layer;
        layer.name = std::string(attends ? "attention" : "mamba") + (sparse ? ", moe" : ", dense");
        add_norm(layer.modules, "input_layernorm", d.hidden);
        add_norm(layer.modules, "pre_ff_layernorm", d.hidden);
        if (attends) {
            layer.attention = grouped(d);
            add_grouped(layer, grouped(d), d.hidden);
        } else {
            layer.attention = mamba;
            add_mamba1(layer, mamba, d.hidden, options);
        }
        if (sparse) {
            MoeOptions how;
            how.prefix = "feed_forward.";
            how.router = "router";
            layer.ffn = moe;
            add_moe(layer, moe, d.hidden, how);
        } else {
            DenseNames names;
            names.prefix = "feed_forward.";
            layer.ffn = DenseFfn{ffn, true};
            add_dense(layer, DenseFfn{ffn, true}, d.hidden, names);
        }
        append_layer(build.blueprint, std::move(layer));
    }
    OutsideOptions outside;
    outside.norm = "model.final_layernorm";
    finish(build, d, outside);
}

/// MiniMax Text-01 and M1: attn_type_list has 1 for full attention and 0 for lightning. Routers are f32.
void minimax_m1(Build& build) {
    const ModelFacts& facts = build.facts;
    const Dimensions d = read_dimensions(build);
    const MoeFfn moe = read_moe(build);
    const std::vector<std::int64_t> types = facts.integers({"attention_types", "attn_type_list"});
    if (static_cast<std::int64_t>(types.size()) < d.layers)
        facts.fault(facts.value({"attn_type_list"}), "value.range", "attn_type_list names fewer layers than there are",
                    "0 or 1 for every layer");
    LinearAttention lightning;
    lightning.kind = LinearAttention::Kind::lightning;
    lightning.heads = d.heads;
    lightning.head_dim = d.head_dim;
    lightning.groups = d.heads;
    lightning.state_size = d.head_dim;
    for (std::int64_t i = 0; i < d.layers; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const bool full = at < types.size() && types[at] == 1;
        LayerPlan layer;
        layer.name = full ? "full, moe" : "linear, moe";
        add_pre_norms(layer, d.hidden);
        if (full) {
            layer.attention = grouped(d);
            add_grouped(layer, grouped(d), d.hidden);
        } else {
            layer.attention = lightning;
            add_lightning(layer, lightning, d.hidden);
        }
        MoeOptions options;
        options.prefix = "block_sparse_moe.";
        options.expert = {"", "w1", "w3", "w2", ""};
        options.router_type = DType::f32;
        layer.ffn = moe;
        add_moe(layer, moe, d.hidden, options);
        append_layer(build.blueprint, std::move(layer));
    }
    OutsideOptions outside;
    if (build.model_type != "minimax_m1") outside.head_type = DType::f32;  // Text-01 alone
    finish(build, d, outside);
}

struct KimiLinear {
    Dimensions d;
    LatentAttention latent;
    LinearAttention delta;
    MoeFfn moe;
    KimiDeltaOptions how;
    bool latent_gate = false, latent_norm = false, residuals = false;
};

KimiLinear read_kimi_linear(const Build& build) {
    const ModelFacts& facts = build.facts;
    KimiLinear model;
    model.d = read_dimensions(build);
    model.latent.heads = model.d.heads;
    model.latent.q_lora_rank = facts.count(keys::kQRank);
    model.latent.kv_lora_rank = facts.required(keys::kKvRank);
    model.latent.qk_nope_head_dim = facts.required(keys::kNopeDim);
    model.latent.qk_rope_head_dim = facts.required(keys::kRopeDim);
    model.latent.v_head_dim = facts.required(keys::kVDim);
    const ModelFacts linear = facts.section({"linear_attention", "linear_attn_config"});
    model.delta.kind = LinearAttention::Kind::kimi_delta;
    model.delta.heads = linear.required({"heads", "num_heads"});
    model.delta.head_dim = linear.required(keys::kHeadDim);
    model.delta.groups = model.delta.heads;
    model.delta.state_size = model.delta.head_dim;
    model.delta.conv_kernel = linear.required({"conv_kernel", "short_conv_kernel_size"});
    model.delta.conv_channels = 3 * model.delta.heads * model.delta.head_dim;
    model.how.full_rank_gate = linear.flag({"use_full_rank_gate"}, false);
    if (linear.has(
            {"gate_lower_bound"})) {  // K3's bounded gate: its checkpoint pads A_log and keeps convolutions in f32
        model.how.padded_decay = true;
        model.how.conv_type = DType::f32;
    }
    model.latent_gate = facts.flag({"mla_use_output_gate"}, false);
    model.latent_norm = facts.flag({"latent_moe_use_norm"}, false);
    model.residuals = facts.count_or({"attn_res_block_size"}, 0) > 0;
    model.moe = read_moe(build);
    model.moe.width = facts.count_or({"expert_width", "routed_expert_hidden_size"}, 0);
    return model;
}

void add_kimi_experts(LayerPlan& layer, const KimiLinear& model) {
    const std::int64_t hidden = model.d.hidden, width = model.moe.width;
    MoeOptions options;
    options.prefix = "block_sparse_moe.";
    options.expert = {"", "w1", "w3", "w2", ""};
    options.correction_bias = "gate.e_score_correction_bias";
    layer.ffn = model.moe;
    add_moe(layer, model.moe, hidden, options);
    if (width == 0) return;
    // Between the model's width and the experts': kept in 16 bits though no ignore list names them.
    for (const bool down : {true, false})
        layer.modules.push_back(
            of_kind(linear(down ? "block_sparse_moe.routed_expert_down_proj" : "block_sparse_moe.routed_expert_up_proj",
                           Component::experts, down ? width : hidden, down ? hidden : width, Sharding::replicated),
                    ModuleKind::small));
    if (model.latent_norm) add_norm(layer.modules, "block_sparse_moe.routed_expert_norm", width);
}

/// Attention residuals of K3: a norm and a one-row projection that weigh the earlier blocks.
void add_residual(std::vector<Module>& modules, const std::string& name, std::int64_t hidden) {
    add_norm(modules, name + "_norm", hidden);
    modules.push_back(
        of_kind(linear(name + "_proj", Component::other, 1, hidden, Sharding::replicated), ModuleKind::small));
}

/// Kimi Linear: delta attention but in the layers that full_attn_layers names, counted from 1.
void kimi_linear(Build& build) {
    const KimiLinear model = read_kimi_linear(build);
    const std::int64_t hidden = model.d.hidden;
    std::vector<bool> full(static_cast<std::size_t>(model.d.layers), false);
    for (const std::int64_t i :
         build.facts.section({"linear_attention", "linear_attn_config"}).integers({"full_layers", "full_attn_layers"}))
        if (i >= 1 && i <= model.d.layers) full[static_cast<std::size_t>(i - 1)] = true;
    const std::vector<bool> sparse = moe_layers(build, model.d.layers);
    for (std::size_t i = 0; i < full.size(); ++i) {
        LayerPlan layer;
        layer.name = std::string(full[i] ? "full" : "linear") + (sparse[i] ? ", moe" : ", dense");
        add_pre_norms(layer, hidden);
        if (full[i]) {
            layer.attention = model.latent;
            add_latent(layer, model.latent, hidden);
            if (model.latent_gate)
                layer.modules.push_back(linear("self_attn.g_proj", Component::attention,
                                               model.latent.heads * model.latent.v_head_dim, hidden,
                                               Sharding::query_heads, model.latent.heads));
        } else {
            layer.attention = model.delta;
            add_kimi_delta(layer, model.delta, hidden, model.how);
        }
        if (sparse[i]) {
            add_kimi_experts(layer, model);
        } else {
            const DenseFfn dense{build.facts.required(keys::kFfn), true};
            layer.ffn = dense;
            add_dense(layer, dense, hidden);
        }
        if (model.residuals)
            for (const char* site : {"self_attention_res", "mlp_res"}) add_residual(layer.modules, site, hidden);
        append_layer(build.blueprint, std::move(layer));
    }
    finish(build, model.d);
    if (model.residuals) add_residual(build.blueprint.outside, "model.output_attn_res", hidden);
}

}  // namespace

std::vector<Family> hybrid() {
    std::vector<Family> families;
    families.push_back({"jamba", {"jamba"}, {}, jamba});
    families.push_back({"minimax_m1",
                        {"minimax_m1", "minimax_text_01", "minimax"},
                        {"MiniMaxM1ForCausalLM", "MiniMaxText01ForCausalLM"},
                        minimax_m1});
    families.back().active = ActiveConvention::layers_only;
    families.push_back({"kimi_linear", {"kimi_linear"}, {"KimiLinearForCausalLM"}, kimi_linear});
    return families;
}

}  // namespace kvplan::families
