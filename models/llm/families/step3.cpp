// StepFun: Step-3.5 with more heads in its windowed layers and a draft of dense layers, and Step-3 with shared queries.
#include <algorithm>

#include "models/llm/families/decoder.hpp"
#include "models/llm/families/draft.hpp"
#include "models/llm/keys.hpp"

namespace kvplan::families {
namespace {

/// Layers with experts: named in moe_layers_enum ("3,4,5"), else as moe_layers() has it.
std::vector<bool> step_experts(const Build& build, std::int64_t layers, std::int64_t first_default) {
    const std::vector<std::int64_t> named = build.facts.integers({"layers_with_experts", "moe_layers_enum"});
    if (named.empty() && !build.facts.has(keys::kDenseFirst)) {
        std::vector<bool> sparse(static_cast<std::size_t>(layers), true);
        for (std::int64_t i = 0; i < std::min(first_default, layers); ++i) sparse[static_cast<std::size_t>(i)] = false;
        return sparse;
    }
    if (named.empty()) return moe_layers(build, layers);
    std::vector<bool> sparse(static_cast<std::size_t>(layers), false);
    for (const std::int64_t i : named)
        if (i < layers) sparse[static_cast<std::size_t>(i)] = true;
    return sparse;
}

struct Step35 {
    Dimensions full, windowed;
    std::int64_t window = 0;
    std::vector<std::string> types;
    bool gate = true;

    [[nodiscard]] bool is_windowed(std::size_t layer) const {
        return layer < types.size() && types[layer] == "sliding_attention";
    }
};

Step35 read_step35(const Build& build) {
    Step35 model;
    model.full = read_dimensions(build);
    model.windowed = model.full;
    const ModelFacts other = build.facts.section({"windowed_attention", "attention_other_setting"});
    if (other.exists()) {
        model.windowed.heads = other.count(keys::kHeads).value_or(model.full.heads);
        model.windowed.kv_heads = other.count(keys::kKvHeads).value_or(model.full.kv_heads);
        model.windowed.head_dim = other.count(keys::kHeadDim).value_or(model.full.head_dim);
    }
    model.window = build.facts.required(keys::kWindow);
    model.types = build.facts.words(keys::kLayerTypes);
    model.gate = build.facts.flag({"head_gate", "use_head_wise_attn_gate"}, true);
    return model;
}

LayerPlan step35_layer(const Step35& model, std::size_t index) {
    const bool windowed = model.is_windowed(index);
    const Dimensions& d = windowed ? model.windowed : model.full;
    LayerPlan layer;
    add_pre_norms(layer, d.hidden);
    const GroupedAttention attention = grouped(d, windowed ? std::optional<std::int64_t>(model.window) : std::nullopt);
    layer.attention = attention;
    GroupedOptions options;
    options.qk_norm = QkNorm::per_head_dim;
    add_grouped(layer, attention, d.hidden, options);
    if (model.gate)
        layer.modules.push_back(
            of_kind(linear("self_attn.g_proj", Component::attention, d.heads, d.hidden, Sharding::query_heads, d.heads),
                    ModuleKind::small));
    layer.name = windowed ? "window" : "full";
    return layer;
}

/// layer_types goes on over the draft layers; each of those is dense and has a head of its own.
void step35(Build& build) {
    const Step35 model = read_step35(build);
    const MoeFfn moe = read_moe(build);
    const DenseFfn dense{build.facts.required(keys::kFfn), true};
    const std::vector<bool> sparse = step_experts(build, model.full.layers, 3);
    MoeOptions options;
    options.prefix = "";
    options.router = "moe.gate";
    options.experts = "moe.";
    options.correction_bias = "moe.router_bias";
    options.shared = "share_expert.";
    options.stacked = true;
    for (std::size_t i = 0; i < sparse.size(); ++i) {
        LayerPlan layer = step35_layer(model, i);
        layer.name += sparse[i] ? ", moe" : ", dense";
        if (sparse[i]) {
            layer.ffn = moe;
            add_moe(layer, moe, model.full.hidden, options);
        } else {
            layer.ffn = dense;
            add_dense(layer, dense, model.full.hidden);
        }
        append_layer(build.blueprint, std::move(layer));
    }
    LayerPlan draft = step35_layer(model, sparse.size());
    draft.ffn = dense;
    add_dense(draft, dense, model.full.hidden);
    add_draft(build, model.full, draft, false);
    if (build.blueprint.draft_layers > 0) {
        Module head = of_kind(linear("transformer.shared_head.output", Component::mtp, model.full.vocab,
                                     model.full.hidden, Sharding::vocab),
                              ModuleKind::lm_head);
        build.blueprint.draft.modules.push_back(std::move(head));
    }
    finish(build, model.full);
}

/// Step-3: one KV head, queries through a narrow shared projection.
void step3(Build& build) {
    Dimensions d = read_dimensions(build);
    d.kv_heads = 1;
    const std::int64_t shared_q = build.facts.count({"shared_q", "share_q_dim"}).value_or(d.head_dim);
    const MoeFfn moe = read_moe(build);
    const DenseFfn dense{build.facts.required(keys::kFfn), true};
    const std::vector<bool> sparse = step_experts(build, d.layers, 1);
    const GroupedAttention attention = grouped(d);
    for (std::size_t i = 0; i < sparse.size(); ++i) {
        LayerPlan layer;
        layer.name = sparse[i] ? "moe" : "dense";
        layer.attention = attention;
        add_pre_norms(layer, d.hidden);
        const auto add = [&](const char* name, std::int64_t rows, std::int64_t cols, Sharding sharding) {
            layer.modules.push_back(
                linear(std::string("self_attn.") + name, Component::attention, rows, cols, sharding, d.heads));
        };
        add("q_proj", shared_q, d.hidden, Sharding::replicated);
        add("k_proj", d.head_dim, d.hidden, Sharding::replicated);
        add("v_proj", d.head_dim, d.hidden, Sharding::replicated);
        add_norm(layer.modules, "self_attn.inter_norm", shared_q);
        add("wq", d.heads * d.head_dim, shared_q, Sharding::query_heads);
        add("o_proj", d.hidden, d.heads * d.head_dim, Sharding::row);
        if (sparse[i]) {
            MoeOptions options;
            options.prefix = "";
            options.router = "moe.gate";
            options.experts = "moe.";
            options.shared = "share_expert.";
            options.stacked = true;
            layer.ffn = moe;
            add_moe(layer, moe, d.hidden, options);
        } else {
            layer.ffn = dense;
            add_dense(layer, dense, d.hidden);
        }
        append_layer(build.blueprint, std::move(layer));
    }
    finish(build, d);
}

}  // namespace

std::vector<Family> step() {
    std::vector<Family> families;
    families.push_back(
        {"step3_5", {"step3p5", "step3p7", "step3_5"}, {"Step3p5ForCausalLM", "Step3p7FlashForCausalLM"}, step35});
    families.push_back({"step3",
                        {"step3_text", "step3_vl"},
                        {"Step3TextForCausalLM"},
                        step3,
                        false,
                        false,
                        "vllm-project/vllm vllm/model_executor/models/step3_text.py at 0169d396"});
    return families;
}

}  // namespace kvplan::families
