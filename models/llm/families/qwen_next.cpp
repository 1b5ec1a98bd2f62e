// Qwen3-Next and Qwen3.5/3.6: gated delta nets with full attention in every fourth layer.
#include <algorithm>

#include "models/llm/families/decoder.hpp"
#include "models/llm/keys.hpp"

namespace kvplan::families {
namespace {

struct NextStyle {
    bool fused_inputs = true;          // in_proj_qkvz and in_proj_ba; Qwen3.5 keeps qkv, z, a and b apart
    DType state_params = DType::bf16;  // of A_log and the norm
    std::int64_t draft_default = 0;    // MTP layers that no key tells
};

LinearAttention delta_net(const Build& build) {
    const ModelFacts& facts = build.facts;
    LinearAttention linear;
    linear.kind = LinearAttention::Kind::gated_delta_net;
    linear.state_dtype = state_dtype(build);
    linear.heads = facts.required({"linear_value_heads", "linear_num_value_heads"});
    linear.head_dim = facts.required({"linear_value_dim", "linear_value_head_dim"});
    linear.groups = facts.required({"linear_key_heads", "linear_num_key_heads"});
    linear.state_size = facts.required({"linear_key_dim", "linear_key_head_dim"});
    linear.conv_kernel = facts.required({"linear_conv_kernel", "linear_conv_kernel_dim"});
    linear.conv_channels = 2 * linear.groups * linear.state_size + linear.heads * linear.head_dim;
    return linear;
}

void add_delta_net(LayerPlan& layer, const LinearAttention& net, std::int64_t hidden, const NextStyle& style,
                   const ReadOptions& options) {
    const std::int64_t keys = net.groups * net.state_size;
    const std::int64_t values = net.heads * net.head_dim;
    std::vector<Module>& modules = layer.modules;
    const auto add = [&](const char* name, std::int64_t rows, ModuleKind kind = ModuleKind::linear) {
        modules.push_back(of_kind(linear(std::string("linear_attn.") + name, Component::linear_attention, rows, hidden,
                                         Sharding::column, net.groups),
                                  kind));
    };
    if (style.fused_inputs) {
        add("in_proj_qkvz", 2 * keys + 2 * values);
        add("in_proj_ba", 2 * net.heads, ModuleKind::small);
    } else {
        add("in_proj_qkv", 2 * keys + values);
        add("in_proj_z", values);
        add("in_proj_b", net.heads, ModuleKind::small);
        add("in_proj_a", net.heads, ModuleKind::small);
    }
    Module conv = of_kind(linear("linear_attn.conv1d", Component::linear_attention, net.conv_channels, net.conv_kernel,
                                 Sharding::column, net.groups),
                          ModuleKind::other);
    modules.push_back(std::move(conv));
    const DType state = options.state_param_dtype.value_or(style.state_params);
    const bool stated = state != DType::bf16;
    for (const char* name : {"linear_attn.dt_bias", "linear_attn.A_log"}) {
        Module vector = vector_of(name, Component::linear_attention, net.heads);
        vector.weight.sharding = Sharding::column;
        vector.weight.units = net.groups;
        if (stated && std::string_view(name).ends_with("A_log")) vector.fixed = state;
        modules.push_back(std::move(vector));
    }
    Module norm = vector_of("linear_attn.norm", Component::linear_attention, net.head_dim);
    if (stated) norm.fixed = state;
    modules.push_back(std::move(norm));
    modules.push_back(
        linear("linear_attn.out_proj", Component::linear_attention, hidden, values, Sharding::row, net.groups));
}

std::vector<bool> linear_layers(const Build& build, std::int64_t layers) {
    const std::vector<std::string> types = build.facts.words(keys::kLayerTypes);
    const std::int64_t interval = std::max<std::int64_t>(1, build.facts.count_or({"full_attention_interval"}, 4));
    std::vector<bool> linear(static_cast<std::size_t>(layers));
    for (std::size_t i = 0; i < linear.size(); ++i)
        linear[i] =
            i < types.size() ? types[i] == "linear_attention" : (static_cast<std::int64_t>(i) + 1) % interval != 0;
    return linear;
}

/// `mtp.*`: a projection of [embedding, hidden state] behind two norms, one full layer, a final norm.
void add_next_draft(Build& build, const Dimensions& d, LayerPlan layer, std::int64_t layers) {
    if (layers == 0) return;
    // The path of the layer's own modules is "mtp.layers.0"; those round it stand beside it.
    layer.name = "draft";
    layer.modules.push_back(
        of_kind(linear("mtp.fc", Component::mtp, d.hidden, 2 * d.hidden, Sharding::replicated), ModuleKind::small));
    for (const char* norm : {"mtp.pre_fc_norm_hidden", "mtp.pre_fc_norm_embedding", "mtp.norm"})
        add_norm(layer.modules, norm, d.hidden, false, Component::mtp);
    build.blueprint.draft_layers = layers;
    build.blueprint.draft = std::move(layer);
    build.blueprint.draft_path = "mtp.layers.0";
}

void next_decoder(Build& build, const NextStyle& style) {
    const Dimensions d = read_dimensions(build);
    const LinearAttention net = delta_net(build);
    const bool experts = build.facts.has(keys::kExperts);
    const MoeFfn moe = experts ? read_moe(build) : MoeFfn{};
    const std::vector<bool> sparse = moe_layers(build, d.layers);
    const std::vector<bool> linear = linear_layers(build, d.layers);
    const auto layer_of = [&](bool is_linear, bool with_experts) {
        LayerPlan layer;
        layer.name = std::string(is_linear ? "linear" : "full") + (with_experts ? ", moe" : ", dense");
        add_pre_norms(layer, d.hidden);
        if (is_linear) {
            layer.attention = net;
            add_delta_net(layer, net, d.hidden, style, build.options);
        } else {
            const GroupedAttention attention = grouped(d);
            layer.attention = attention;
            GroupedOptions options;
            options.q_gate = build.facts.flag({"attn_output_gate"}, true);
            options.qk_norm = QkNorm::per_head_dim;
            options.qkv_bias = options.o_bias = build.facts.flag(keys::kAttentionBias, false);
            add_grouped(layer, attention, d.hidden, options);
        }
        if (with_experts) {
            MoeOptions options;
            options.shared = "shared_expert.";
            options.shared_gate = "shared_expert_gate";
            layer.ffn = moe;
            add_moe(layer, moe, d.hidden, options);
        } else {
            const DenseFfn dense{build.facts.required(keys::kFfn), true};
            layer.ffn = dense;
            add_dense(layer, dense, d.hidden);
        }
        return layer;
    };
    for (std::size_t i = 0; i < sparse.size(); ++i)
        append_layer(build.blueprint, layer_of(linear[i], experts && sparse[i]));
    add_next_draft(build, d, layer_of(false, experts), build.facts.count_or(keys::kDraftLayers, style.draft_default));
    finish(build, d);
}

}  // namespace

std::vector<Family> qwen_next() {
    std::vector<Family> families;
    families.push_back({"qwen3_next", {"qwen3_next"}, {}, [](Build& build) {
                            NextStyle style;
                            style.draft_default = 1;
                            next_decoder(build, style);
                        }});
    families.push_back(
        {"qwen3_5", {"qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text"}, {}, [](Build& build) {
             NextStyle style;
             style.fused_inputs = false;
             style.state_params = DType::f32;
             next_decoder(build, style);
         }});
    // "80B-A3B" fits the layers alone (3.2e9; with head and embedding 3.9e9); Qwen3.5's figures count both.
    families.front().active = ActiveConvention::layers_only;
    families.back().active = ActiveConvention::with_head_and_embedding;
    return families;
}

}  // namespace kvplan::families
