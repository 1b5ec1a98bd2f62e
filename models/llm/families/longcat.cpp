// LongCat-Flash: each numbered layer holds two attentions and two MLPs, and experts beside the first pair. The Lite
// model adds tables for groups of neighbouring tokens.
#include "models/llm/families/decoder.hpp"
#include "models/llm/keys.hpp"

namespace kvplan::families {
namespace {

struct LongCat {
    Dimensions d;
    LatentAttention attention;
    MoeFfn moe;
    std::int64_t ffn = 0, zero_experts = 0;
};

LongCat read_longcat(const Build& build) {
    const ModelFacts& facts = build.facts;
    LongCat model;
    model.d = read_dimensions(build);
    model.attention.heads = model.d.heads;
    model.attention.q_lora_rank = facts.count(keys::kQRank);
    model.attention.kv_lora_rank = facts.required(keys::kKvRank);
    model.attention.qk_nope_head_dim = facts.required(keys::kNopeDim);
    model.attention.qk_rope_head_dim = facts.required(keys::kRopeDim);
    model.attention.v_head_dim = facts.required(keys::kVDim);
    model.moe = read_moe(build);
    model.ffn = facts.required(keys::kFfn);
    model.zero_experts = facts.count_or({"zero_experts", "zero_expert_num"}, 0);
    model.moe.dense_intermediate = model.ffn;
    model.moe.zero_experts = model.zero_experts;
    return model;
}

LayerPlan longcat_half(const LongCat& model, int half, bool with_experts) {
    const std::string at = std::to_string(half);
    LayerPlan layer;
    layer.name = with_experts ? "moe" : "dense";
    layer.attention = model.attention;
    add_norm(layer.modules, "input_layernorm." + at, model.d.hidden);
    add_norm(layer.modules, "post_attention_layernorm." + at, model.d.hidden);
    add_latent(layer, model.attention, model.d.hidden, "self_attn." + at + ".");
    const std::string mlp = "mlps." + at + ".";
    DenseNames names;
    names.prefix = mlp;
    add_dense(layer, DenseFfn{model.ffn, true}, model.d.hidden, names);
    layer.ffn = DenseFfn{model.ffn, true};
    if (!with_experts) return layer;
    // Experts that only pass a token on count in the router, not in weights. Routers are f32.
    MoeOptions options;
    options.router = "router.classifier";
    options.router_rows = model.moe.experts + model.zero_experts;
    options.router_type = DType::f32;
    options.correction_bias = "router.e_score_correction_bias";
    layer.ffn = model.moe;
    add_moe(layer, model.moe, model.d.hidden, options);
    return layer;
}

/// `model.mtp`: one dense layer with a single attention, and an embedding of its own. No key tells of it.
void add_longcat_draft(Build& build, const LongCat& model) {
    const std::int64_t hidden = model.d.hidden;
    LayerPlan draft;
    draft.name = "draft";
    draft.attention = model.attention;
    draft.ffn = DenseFfn{model.ffn, true};
    add_pre_norms(draft, hidden);
    add_latent(draft, model.attention, hidden);
    add_dense(draft, DenseFfn{model.ffn, true}, hidden);
    for (const char* norm : {"enorm", "hnorm", "final_layernorm"})
        add_norm(draft.modules, norm, hidden, false, Component::mtp);
    draft.modules.push_back(
        of_kind(linear("eh_proj", Component::mtp, hidden, 2 * hidden, Sharding::replicated), ModuleKind::small));
    if (build.options.draft_own_embedding.value_or(true)) {
        Module embedding = of_kind(linear("embed_tokens", Component::mtp, model.d.vocab, hidden, Sharding::vocab),
                                   ModuleKind::embedding);
        embedding.weight.is_matmul = embedding.weight.resident = false;
        draft.modules.push_back(std::move(embedding));
    }
    build.blueprint.draft_layers = 1;
    build.blueprint.draft = std::move(draft);
    build.blueprint.draft_path = "model.mtp.layers.0";
}

/// Tables for the last 2 to `neighbours` tokens, each in `splits` parts with a vocabulary a little above ratio x vocab:
/// part k has 2k + 1 rows more, which keeps the hashes apart. Parts are hidden / count wide and projected to hidden.
void add_ngram_tables(Build& build, const LongCat& model) {
    const std::int64_t ratio = build.facts.count_or({"ngram_ratio", "ngram_vocab_size_ratio"}, 0);
    if (ratio == 0) return;
    const std::int64_t neighbours = build.facts.required({"ngram_neighbours", "emb_neighbor_num"});
    const std::int64_t splits = build.facts.required({"ngram_splits", "emb_split_num"});
    const std::int64_t tables = (neighbours - 1) * splits;
    if (tables < 1 || tables > 1000 || model.d.hidden % tables != 0) {
        build.facts.fault(build.facts.value({"emb_split_num"}), "value.range",
                          "the n-gram tables do not divide the hidden size", "a divisor of hidden_size");
        return;
    }
    const std::int64_t width = model.d.hidden / tables;
    for (std::int64_t i = 0; i < tables; ++i) {
        const std::string at = std::to_string(i);
        Module table = of_kind(linear("model.ngram_embeddings.embedders." + at, Component::embedding,
                                      ratio * model.d.vocab + 2 * i + 1, width, Sharding::vocab),
                               ModuleKind::embedding);
        table.weight.is_matmul = false;
        build.blueprint.outside.push_back(std::move(table));
    }
    Module projections = of_kind(linear("model.ngram_embeddings.post_projs.*", Component::embedding, model.d.hidden,
                                        width, Sharding::replicated),
                                 ModuleKind::small);
    projections.weight.count = tables;
    build.blueprint.outside.push_back(std::move(projections));
}

void longcat_flash(Build& build) {
    const LongCat model = read_longcat(build);
    build.blueprint.plans_per_index = 2;
    for (std::int64_t i = 0; i < model.d.layers; ++i) {
        append_layer(build.blueprint, longcat_half(model, 0, true));
        append_layer(build.blueprint, longcat_half(model, 1, false));
    }
    add_longcat_draft(build, model);
    finish(build, model.d);
    add_ngram_tables(build, model);
}

}  // namespace

std::vector<Family> longcat() {
    std::vector<Family> families;
    families.push_back({"longcat_flash",
                        {"longcat_flash", "longcat"},
                        {"LongcatFlashForCausalLM", "LongcatFlashNgramForCausalLM"},
                        longcat_flash});
    return families;
}

}  // namespace kvplan::families
