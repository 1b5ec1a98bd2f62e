// NVIDIA's own: Nemotron-H and Nemotron 3 (one block a layer: Mamba 2, attention, MLP or experts), and the searched
// architectures of Nemotron-NAS, whose blocks differ one by one.
#include <cmath>

#include "models/llm/families/dense_style.hpp"
#include "models/llm/families/state_layers.hpp"
#include "models/llm/keys.hpp"

namespace kvplan::families {
namespace {

enum class Block { mamba, attention, mlp, experts };

std::optional<Block> block_of(std::string_view word) {
    if (word == "M" || word == "mamba") return Block::mamba;
    if (word == "*" || word == "attention") return Block::attention;
    if (word == "-" || word == "mlp") return Block::mlp;
    if (word == "E" || word == "moe") return Block::experts;
    return std::nullopt;
}

/// The blocks by a list of words or a string of letters; with neither nothing.
std::vector<Block> blocks(const Build& build, json::Names list, json::Names letters) {
    std::vector<std::string> words;
    const json::Value place =
        build.facts.value(list).has_value() ? build.facts.value(list) : build.facts.value(letters);
    if (build.facts.has(list)) {
        words = build.facts.words(list);
    } else if (const auto pattern = build.facts.word(letters)) {
        for (const char letter : *pattern) words.emplace_back(1, letter);
    }
    std::vector<Block> found;
    for (const std::string& word : words) {
        if (const auto block = block_of(word)) {
            found.push_back(*block);
            continue;
        }
        build.facts.fault(place, "value.unknown", "a layer of kind '" + word + "' is not known",
                          "M or mamba, * or attention, - or mlp, E or moe");
        return {};
    }
    return found;
}

struct NemotronH {
    Dimensions d;
    LinearAttention mamba;
    std::optional<MoeFfn> moe;
    std::int64_t ffn = 0;
};

LinearAttention read_mamba(const Build& build) {
    const ModelFacts& facts = build.facts;
    LinearAttention mamba;
    mamba.kind = LinearAttention::Kind::mamba2;
    mamba.state_dtype = state_dtype(build);
    mamba.heads = facts.required({"mamba_heads", "mamba_num_heads"});
    mamba.head_dim = facts.required({"mamba_head_dim"});
    mamba.groups = facts.required({"mamba_groups", "n_groups", "mamba_n_groups"});
    mamba.state_size = facts.required({"mamba_state", "ssm_state_size", "mamba_d_state"});
    mamba.conv_kernel = facts.required({"mamba_conv_kernel", "conv_kernel", "mamba_d_conv"});
    mamba.conv_channels = mamba.heads * mamba.head_dim + 2 * mamba.groups * mamba.state_size;
    return mamba;
}

LayerPlan nemotron_layer(const Build& build, const NemotronH& model, Block block) {
    const std::int64_t hidden = model.d.hidden;
    LayerPlan layer;
    add_norm(layer.modules, "norm", hidden);
    if (block == Block::mamba) {
        MambaOptions options;
        options.conv_bias = build.facts.flag({"use_conv_bias"}, true);
        options.proj_bias = build.facts.flag({"mamba_proj_bias"}, false);
        options.state_params = build.options.state_param_dtype;
        layer.name = "mamba";
        layer.attention = model.mamba;
        add_mamba2(layer, model.mamba, hidden, options);
    } else if (block == Block::attention) {
        GroupedOptions options;
        options.names.prefix = "mixer.";
        options.qkv_bias = options.o_bias = build.facts.flag(keys::kAttentionBias, false);
        layer.name = "attention";
        layer.attention = grouped(model.d);
        add_grouped(layer, grouped(model.d), hidden, options);
    } else if (block == Block::mlp || !model.moe) {
        const DenseFfn ffn{model.ffn, false};
        DenseNames names;
        names.prefix = "mixer.";
        layer.name = "mlp";
        layer.ffn = ffn;
        add_dense(layer, ffn, hidden, names, build.facts.flag(keys::kMlpBias, false));
    } else {
        MoeOptions options;
        options.prefix = "mixer.";
        options.correction_bias = "gate.e_score_correction_bias";
        layer.name = "moe";
        layer.ffn = *model.moe;
        add_moe(layer, *model.moe, hidden, options);
        if (model.moe->width > 0) {
            layer.modules.push_back(
                linear("mixer.fc1_latent_proj", Component::experts, model.moe->width, hidden, Sharding::replicated));
            layer.modules.push_back(
                linear("mixer.fc2_latent_proj", Component::experts, hidden, model.moe->width, Sharding::replicated));
        }
    }
    return layer;
}

/// Draft blocks side by side in one layer of the plan: their KV and weights belong to one draft step.
void add_nemotron_draft(Build& build, const NemotronH& model) {
    const std::int64_t layers = build.facts.count_or(keys::kDraftLayers, 0);
    const std::vector<Block> pattern = blocks(build, {"mtp_layers_block_type"}, {"mtp_hybrid_override_pattern"});
    if (layers == 0 || pattern.empty()) return;
    LayerPlan draft;
    draft.name = "draft";
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        LayerPlan block = nemotron_layer(build, model, pattern[i]);
        if (!std::holds_alternative<NoAttention>(block.attention)) draft.attention = block.attention;
        if (!std::holds_alternative<NoFfn>(block.ffn)) draft.ffn = block.ffn;
        for (Module& module : block.modules) draft.modules.push_back(std::move(module));
    }
    const std::int64_t hidden = model.d.hidden;
    for (const char* norm : {"enorm", "hnorm", "final_layernorm"})
        add_norm(draft.modules, norm, hidden, false, Component::mtp);
    draft.modules.push_back(
        of_kind(linear("eh_proj", Component::mtp, hidden, 2 * hidden, Sharding::replicated), ModuleKind::small));
    build.blueprint.draft_layers = layers;
    build.blueprint.draft = std::move(draft);
    build.blueprint.draft_path = "mtp.layers.0";
}

void nemotron_h(Build& build) {
    NemotronH model;
    const std::vector<Block> pattern = blocks(build, {"layers_block_type"}, {"hybrid_override_pattern"});
    const bool counted = build.facts.has(keys::kLayers);
    if (pattern.empty() || counted) {
        model.d = read_dimensions(build);
    } else {
        model.d = read_dimensions(build, static_cast<std::int64_t>(pattern.size()), build.facts.required(keys::kVocab));
    }
    if (pattern.empty())
        build.facts.fault(build.facts.text(), "value.missing",
                          "which layers are Mamba, attention or experts is missing",
                          "hybrid_override_pattern or layers_block_type");
    model.mamba = read_mamba(build);
    model.ffn = build.facts.count_or(keys::kFfn, 0);
    if (build.facts.has(keys::kExperts)) {
        MoeFfn moe = read_moe(build);
        moe.gated = false;
        moe.width = build.facts.count_or({"expert_width", "moe_latent_size"}, 0);
        // The key tells the width of one shared expert.
        if (build.facts.has(keys::kSharedFfn))
            moe.shared_intermediate = checked_mul(moe.shared_intermediate, moe.shared_experts);
        model.moe = moe;
    }
    build.blueprint.layer_prefix = "backbone.layers";
    for (std::int64_t i = 0; i < model.d.layers; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (at < pattern.size()) append_layer(build.blueprint, nemotron_layer(build, model, pattern[at]));
    }
    if (!pattern.empty() && static_cast<std::int64_t>(pattern.size()) < model.d.layers)
        build.facts.fault(build.facts.value(keys::kLayers), "value.range",
                          "the pattern names fewer layers than there are", "one letter a layer");
    add_nemotron_draft(build, model);
    OutsideOptions outside;
    outside.embedding = "backbone.embeddings";
    outside.norm = "backbone.norm_f";
    finish(build, model.d, outside);
}

/// Widths of the searched FFNs: 2/3 of four times hidden, times the block's factor, up to a multiple of 256.
std::int64_t nas_width(double multiple, std::int64_t hidden) {
    const auto raw = static_cast<std::int64_t>(2.0 * multiple * static_cast<double>(hidden) / 3.0);
    return round_up(raw, 256);
}

void add_nas_attention(LayerPlan& layer, const json::Value& block, const Dimensions& d, const Build& build) {
    const json::Value no_op = block["no_op"];
    if (no_op.boolean().value_or(false)) return;
    add_norm(layer.modules, "input_layernorm", d.hidden);
    if (block["replace_with_linear"].boolean().value_or(false)) {
        layer.modules.push_back(
            linear("self_attn.linear_attn", Component::attention, d.hidden, d.hidden, Sharding::column));
        return;
    }
    const std::int64_t group = block["n_heads_in_group"].integer().value_or(0);
    if (group < 1 || d.heads % group != 0) {
        build.facts.fault(block["n_heads_in_group"], "value.range", "n_heads_in_group does not divide the heads",
                          "a divisor of num_attention_heads");
        return;
    }
    Dimensions here = d;
    here.kv_heads = d.heads / group;
    std::optional<std::int64_t> window = block["window_length"].integer();
    const GroupedAttention attention = grouped(here, window);
    layer.attention = attention;
    add_grouped(layer, attention, d.hidden);
}

void add_nas_ffn(LayerPlan& layer, const json::Value& block, const Dimensions& d, const Build& build) {
    if (block["no_op"].boolean().value_or(false)) return;
    add_norm(layer.modules, "post_attention_layernorm", d.hidden);
    if (block["replace_with_linear"].boolean().value_or(false)) {
        layer.modules.push_back(linear("mlp.linear_mlp", Component::dense_mlp, d.hidden, d.hidden, Sharding::column));
        return;
    }
    const double multiple = block["ffn_mult"].number().value_or(0.0);
    if (!(multiple > 0.0) || multiple > 1000.0) {
        build.facts.fault(block["ffn_mult"], "value.range", "ffn_mult is missing or out of range", "a factor above 0");
        return;
    }
    const DenseFfn ffn{nas_width(multiple, d.hidden), true};
    layer.ffn = ffn;
    add_dense(layer, ffn, d.hidden);
}

void nemotron_nas(Build& build) {
    const Dimensions d = read_dimensions(build);
    const json::Value blocks = build.facts.value({"blocks", "block_configs"});
    if (!blocks.is_array() || static_cast<std::int64_t>(blocks.size()) < d.layers)
        build.facts.fault(blocks, "value.missing", "block_configs must describe every layer", "one object a layer");
    for (std::int64_t i = 0; i < d.layers; ++i) {
        const json::Value block = blocks.at(static_cast<std::size_t>(i));
        if (!block.is_object()) break;
        LayerPlan layer;
        add_nas_attention(layer, block["attention"], d, build);
        add_nas_ffn(layer, block["ffn"], d, build);
        const bool kept = !std::holds_alternative<NoAttention>(layer.attention);
        layer.name = kept ? (std::holds_alternative<NoFfn>(layer.ffn) ? "attention" : "dense") : "no attention";
        append_layer(build.blueprint, std::move(layer));
    }
    finish(build, d);
}

}  // namespace

std::vector<Family> nemotron() {
    std::vector<Family> families;
    families.push_back({"nemotron_h", {"nemotron_h"}, {}, nemotron_h});
    families.push_back({"nemotron_nas", {"nemotron-nas", "nemotron_nas", "deci"}, {"DeciLMForCausalLM"}, nemotron_nas});
    return families;
}

}  // namespace kvplan::families
