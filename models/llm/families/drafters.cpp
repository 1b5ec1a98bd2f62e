// Small models that draft for a large one: EAGLE and EAGLE-3, P-EAGLE, and the block drafters DFlash, DSpark, Domino.
// They borrow the large model's embedding, and all but EAGLE-3 its head.
#include "models/llm/families/dense_style.hpp"
#include "models/llm/keys.hpp"

namespace kvplan::families {
namespace {

/// Embedding and head of the target stand in the plan, unstored and not resident, so that a vocabulary is known.
void borrow(Module& module) { module.weight.stored = module.weight.resident = false; }

Module mixing(std::string name, std::int64_t rows, std::int64_t cols, bool bias = false) {
    return with_bias(
        of_kind(linear(std::move(name), Component::mtp, rows, cols, Sharding::replicated), ModuleKind::small), bias);
}

std::int64_t target_width(const Build& build, const Dimensions& d) {
    return build.facts.count_or({"target_hidden", "target_hidden_size"}, d.hidden);
}

/// EAGLE 1 and 2: one Llama layer without its first norm, fed by token and hidden state side by side; qkv_bias as of a
/// Qwen2 target.
void eagle(Build& build) {
    const Dimensions d = read_dimensions(build);
    GroupedOptions options;
    options.qkv_bias = build.facts.flag({"qkv_bias"}, false);
    const DenseFfn ffn{build.facts.required(keys::kFfn), true};
    for (std::int64_t i = 0; i < d.layers; ++i) {
        LayerPlan layer;
        layer.name = "draft";
        layer.attention = grouped(d);
        layer.ffn = ffn;
        if (i > 0) add_norm(layer.modules, "input_layernorm", d.hidden);
        add_norm(layer.modules, "post_attention_layernorm", d.hidden);
        add_grouped(layer, grouped(d), d.hidden, options);
        add_dense(layer, ffn, d.hidden);
        append_layer(build.blueprint, std::move(layer));
    }
    finish(build, d);
    borrow(build.blueprint.outside[2]);
    build.blueprint.outside[1].weight.stored = build.blueprint.outside[1].weight.resident = false;  // no final norm
    build.blueprint.outside.push_back(mixing("fc", d.hidden, 2 * d.hidden, build.facts.flag({"bias"}, true)));
}

/// EAGLE-3: the first layer attends over [token, hidden state]; `fc` folds three of the target's layers into one.
void eagle3(Build& build, bool mask_token) {
    const Dimensions d = read_dimensions(build);
    const DenseFfn ffn{build.facts.required(keys::kFfn), true};
    GroupedOptions options;
    options.qkv_bias = options.o_bias = build.facts.flag(keys::kAttentionBias, false);
    for (std::int64_t i = 0; i < d.layers; ++i) {
        LayerPlan layer;
        layer.name = "draft";
        layer.attention = grouped(d);
        layer.ffn = ffn;
        add_pre_norms(layer, d.hidden);
        add_grouped(layer, grouped(d), d.hidden, options);
        if (i == 0) {
            add_norm(layer.modules, "hidden_norm", d.hidden);
            for (Module& module : layer.modules) {
                const std::string& name = module.weight.name;
                if (name == "self_attn.q_proj" || name == "self_attn.k_proj" || name == "self_attn.v_proj")
                    module.weight.cols *= 2;
            }
        }
        add_dense(layer, ffn, d.hidden);
        append_layer(build.blueprint, std::move(layer));
    }
    finish(build, d);
    std::vector<Module>& outside = build.blueprint.outside;
    borrow(outside[0]);
    const std::int64_t wide = 3 * target_width(build, d);
    outside.push_back(mixing("fc", d.hidden, wide));
    if (build.facts.flag({"fc_norm"}, false)) add_norm(outside, "fc_norm", wide);
    if (mask_token) outside.push_back(vector_of("mask_hidden", Component::mtp, wide));
    // P-EAGLE has a head of its own in any case, over the whole vocabulary when the config tells no smaller one.
    const std::int64_t drafted = build.facts.count_or({"draft_vocab", "draft_vocab_size"}, mask_token ? d.vocab : 0);
    if (drafted == 0) {
        borrow(outside[2]);  // without a vocabulary of its own it borrows the head too
        return;
    }
    outside[2].weight.rows = drafted;
    outside.push_back(in_type(vector_of("d2t", Component::mtp, drafted), DType::i64));
    outside.push_back(in_type(vector_of("t2d", Component::mtp, d.vocab), DType::i8));
}

/// Facts of the block stand in dflash_config, those of early DSpark configs beside it.
const ModelFacts& holder(const ModelFacts& block, const Build& build, json::Names key) {
    return block.has(key) ? block : build.facts;
}

/// Newer SpecForge writes drafters of latent and of linear attention too; their layers are none of these.
void reject_other_attention(const Build& build, const ModelFacts& block) {
    std::vector<std::string> modes;
    if (block.has({"attention_modes"})) modes = block.words({"attention_modes"});
    if (block.has({"attention_mode"})) modes.push_back(block.word({"attention_mode"}).value_or("gqa"));
    for (const std::string& mode : modes) {
        if (mode == "gqa" || mode == "mha") continue;
        build.facts.fault(block.value({"attention_mode", "attention_modes"}), "value.unknown",
                          "a block drafter of " + mode + " attention is not known", "gqa or mha");
        return;
    }
}

/// DFlash and its kin: Qwen3 layers fed by a projection of chosen layers of the target.
Dimensions block_drafter(Build& build) {
    DenseStyle style;
    style.qkv_bias = style.o_bias = Bias::by_key;
    style.qk_norm = QkNorm::per_head_dim;
    style.windows = build.facts.has(keys::kLayerTypes) ? Windows::by_types : Windows::by_flag;
    dense_decoder(build, style);
    const Dimensions d = read_dimensions(build);
    std::vector<Module>& outside = build.blueprint.outside;
    borrow(outside[0]);
    borrow(outside[2]);
    const ModelFacts block = build.facts.section({"block_drafter", "dflash_config"});
    reject_other_attention(build, block);
    auto taken = static_cast<std::int64_t>(block.integers({"target_layers", "target_layer_ids"}).size());
    // Without the list, as many layers of the target as the drafter has, spread over num_target_layers.
    if (taken == 0 && build.facts.has({"num_target_layers"})) taken = d.layers;
    if (taken == 0)
        build.facts.fault(build.facts.value({"dflash_config"}), "value.missing",
                          "which layers of the target are read is missing", "dflash_config.target_layer_ids");
    outside.push_back(mixing("fc", d.hidden, taken * target_width(build, d)));
    add_norm(outside, "hidden_norm", d.hidden);
    return d;
}

void dflash(Build& build) { static_cast<void>(block_drafter(build)); }

/// DSpark adds a low-rank bias by the token before, and a predictor of acceptance.
void dspark(Build& build) {
    const Dimensions d = block_drafter(build);
    const ModelFacts block = build.facts.section({"block_drafter", "dflash_config"});
    const std::int64_t rank = holder(block, build, {"markov_rank"}).count_or({"markov_rank"}, 0);
    std::vector<Module>& outside = build.blueprint.outside;
    if (rank > 0) {
        Module table = of_kind(linear("markov_head.markov_w1", Component::mtp, d.vocab, rank, Sharding::vocab),
                               ModuleKind::embedding);
        table.weight.is_matmul = false;
        outside.push_back(std::move(table));
        outside.push_back(of_kind(linear("markov_head.markov_w2", Component::mtp, d.vocab, rank, Sharding::vocab),
                                  ModuleKind::small));
    }
    const std::string kind = holder(block, build, {"markov_head_type"}).word({"markov_head_type"}).value_or("vanilla");
    if (rank > 0 && kind == "gated") outside.push_back(mixing("markov_head.gate_proj", rank, d.hidden + rank, true));
    if (rank > 0 && kind == "rnn")
        outside.push_back(mixing("markov_head.joint_proj", 3 * rank, 2 * rank + d.hidden, true));
    if (!holder(block, build, {"enable_confidence_head"}).flag({"enable_confidence_head"}, false)) return;
    const bool with_markov =
        holder(block, build, {"confidence_head_with_markov"}).flag({"confidence_head_with_markov"}, true);
    outside.push_back(mixing("confidence_head.proj", 1, d.hidden + (with_markov ? rank : 0), true));
}

/// Domino corrects the logits with a small recurrent net.
void domino(Build& build) {
    const Dimensions d = block_drafter(build);
    const ModelFacts block = build.facts.section({"block_drafter", "dflash_config"});
    const std::int64_t width = block.required({"emb_dim"}), state = block.required({"gru_hidden_dim"});
    std::vector<Module>& outside = build.blueprint.outside;
    outside.push_back(mixing("prefix_gru.weight_ih_l0", 3 * state, d.hidden));
    outside.push_back(mixing("prefix_gru.weight_hh_l0", 3 * state, state));
    outside.push_back(mixing("embed_proj.0", width, d.hidden + state));
    outside.push_back(
        of_kind(linear("embed_proj.2", Component::mtp, d.vocab, width, Sharding::vocab), ModuleKind::small));
}

}  // namespace

std::vector<Family> drafters() {
    constexpr std::string_view kSpecForge =
        "sgl-project/SpecForge specforge/modeling/draft/ (llama3_eagle.py at 89241ea0, peagle.py at 1cfba970, "
        "dflash.py at "
        "0354ed80, dspark.py at 1c2c647c, dspark_heads.py at 87abca18, domino.py at 40f8587a)";
    std::vector<Family> families;
    families.push_back({"eagle3",
                        {},
                        {"LlamaForCausalLMEagle3", "Eagle3LlamaForCausalLM"},
                        [](Build& build) { eagle3(build, false); },
                        false,
                        false,
                        kSpecForge});
    families.push_back(
        {"peagle", {}, {"PEagleDraftModel"}, [](Build& build) { eagle3(build, true); }, false, false, kSpecForge});
    families.push_back({"dflash", {}, {"DFlashDraftModel"}, dflash, false, false, kSpecForge});
    families.push_back({"dspark", {}, {"DSparkDraftModel"}, dspark, false, false, kSpecForge});
    families.push_back({"domino", {}, {"DominoDraftModel"}, domino, false, false, kSpecForge});
    families.push_back({"eagle",
                        {"eagle"},
                        {"LlamaForCausalLMEagle"},
                        eagle,
                        false,
                        false,
                        "SafeAILab/EAGLE eagle/model/cnets1.py at 2174a790"});
    return families;
}

}  // namespace kvplan::families
