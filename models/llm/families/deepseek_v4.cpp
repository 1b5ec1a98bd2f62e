// DeepSeek-V4: one key and value for all heads, kept for a window and compressed beyond it; low-rank output
// projections in groups; four residual streams mixed by small f32 matrices. Names are those of its own checkpoints.
#include <algorithm>

#include "models/llm/families/decoder.hpp"
#include "models/llm/keys.hpp"

namespace kvplan::families {
namespace {

struct V4 {
    Dimensions d;
    CompressedAttention attention;
    std::int64_t q_rank = 0, o_rank = 0, o_groups = 0, streams = 0, hash_layers = 0;
    MoeFfn moe;
    std::vector<std::int64_t> ratios;
};

V4 read_v4(const Build& build) {
    const ModelFacts& facts = build.facts;
    V4 model;
    model.d = read_dimensions(build);
    model.q_rank = facts.required(keys::kQRank);
    model.o_rank = facts.required({"o_rank", "o_lora_rank"});
    model.o_groups = facts.required({"o_groups"});
    model.streams = facts.count_or({"streams", "hc_mult"}, 4);
    model.hash_layers = facts.count_or({"hash_layers", "num_hash_layers"}, 0);
    model.moe = read_moe(build);
    model.ratios = facts.integers({"compress_ratios"});
    if (static_cast<std::int64_t>(model.ratios.size()) < model.d.layers)
        facts.fault(facts.value({"compress_ratios"}), "value.missing", "compress_ratios must name every layer",
                    "0, 4 or 128 for every layer");
    CompressedAttention& a = model.attention;
    a.heads = model.d.heads;
    a.head_dim = facts.required(keys::kHeadDim);
    a.rope_head_dim = facts.required(keys::kRopeDim);
    a.window = facts.required(keys::kWindow);
    a.index_heads = facts.required({"index_heads", "index_n_heads"});
    a.index_head_dim = facts.required({"index_head_dim"});
    a.index_top_k = facts.required({"index_top_k", "index_topk"});
    return model;
}

/// The pooling that makes one entry of `ratio` tokens; at ratio 4 neighbouring windows overlap, which doubles it.
void add_compressor(std::vector<Module>& modules, const std::string& prefix, std::int64_t ratio, std::int64_t width,
                    std::int64_t hidden, Component component) {
    const std::int64_t rows = width * (ratio == 4 ? 2 : 1);
    for (const char* name : {"wkv", "wgate"})
        modules.push_back(
            of_kind(linear(prefix + name, component, rows, hidden, Sharding::replicated), ModuleKind::small));
    Module positions = in_type(vector_of(prefix + "ape", component, ratio), DType::f32);
    positions.weight.cols = rows;
    modules.push_back(std::move(positions));
    add_norm(modules, prefix + "norm", width, false, component);
}

void add_v4_attention(std::vector<Module>& modules, const V4& model, std::int64_t ratio) {
    const CompressedAttention& a = model.attention;
    const std::int64_t hidden = model.d.hidden, width = a.heads * a.head_dim;
    modules.push_back(linear("attn.wq_a", Component::attention, model.q_rank, hidden, Sharding::replicated));
    add_norm(modules, "attn.q_norm", model.q_rank);
    modules.push_back(linear("attn.wq_b", Component::attention, width, model.q_rank, Sharding::query_heads, a.heads));
    modules.push_back(linear("attn.wkv", Component::attention, a.head_dim, hidden, Sharding::replicated));
    add_norm(modules, "attn.kv_norm", a.head_dim);
    modules.push_back(linear("attn.wo_a", Component::attention, model.o_groups * model.o_rank,
                             width / std::max<std::int64_t>(1, model.o_groups), Sharding::column, model.o_groups));
    modules.push_back(linear("attn.wo_b", Component::attention, hidden, model.o_groups * model.o_rank, Sharding::row,
                             model.o_groups));
    Module sinks = in_type(vector_of("attn.attn_sink", Component::attention, a.heads), DType::f32);
    sinks.weight.sharding = Sharding::query_heads;
    sinks.weight.units = a.heads;
    modules.push_back(std::move(sinks));
    if (ratio == 0) return;
    add_compressor(modules, "attn.compressor.", ratio, a.head_dim, hidden, Component::attention);
    if (ratio != 4) return;
    modules.push_back(linear("attn.indexer.wq_b", Component::indexer, a.index_heads * a.index_head_dim, model.q_rank,
                             Sharding::replicated));
    modules.push_back(
        of_kind(linear("attn.indexer.weights_proj", Component::indexer, a.index_heads, hidden, Sharding::replicated),
                ModuleKind::small));
    add_compressor(modules, "attn.indexer.compressor.", ratio, a.index_head_dim, hidden, Component::indexer);
}

/// What mixes the residual streams round one half of a layer: all in f32.
void add_streams(std::vector<Module>& modules, const std::string& name, std::int64_t rows, std::int64_t scales,
                 const V4& model) {
    Module mix = in_type(
        linear(name + "_fn", Component::other, rows, model.streams * model.d.hidden, Sharding::replicated), DType::f32);
    modules.push_back(std::move(mix));
    modules.push_back(in_type(vector_of(name + "_base", Component::other, rows), DType::f32));
    modules.push_back(in_type(vector_of(name + "_scale", Component::other, scales), DType::f32));
}

void add_v4_experts(LayerPlan& layer, const V4& model, bool hashed) {
    MoeOptions options;
    options.prefix = "ffn.";
    options.expert = options.shared_names = {"", "w1", "w3", "w2", ""};
    if (!hashed) options.correction_bias = "gate.bias";
    layer.ffn = model.moe;
    add_moe(layer, model.moe, model.d.hidden, options);
    if (!hashed) return;
    // The first layers choose experts by a table over the vocabulary.
    Module table = in_type(vector_of("ffn.gate.tid2eid", Component::router, model.d.vocab), DType::i64);
    table.weight.cols = model.moe.top_k;
    layer.modules.push_back(std::move(table));
}

LayerPlan v4_layer(const V4& model, std::int64_t ratio, bool hashed) {
    LayerPlan layer;
    layer.name = ratio == 0 ? "window" : "compressed " + std::to_string(ratio);
    if (hashed) layer.name += ", hashed";
    CompressedAttention attention = model.attention;
    attention.ratio = ratio;
    layer.attention = attention;
    add_norm(layer.modules, "attn_norm", model.d.hidden);
    add_norm(layer.modules, "ffn_norm", model.d.hidden);
    add_v4_attention(layer.modules, model, ratio);
    add_v4_experts(layer, model, hashed);
    const std::int64_t mixes = (2 + model.streams) * model.streams;
    for (const char* half : {"hc_attn", "hc_ffn"}) add_streams(layer.modules, half, mixes, 3, model);
    return layer;
}

/// `mtp.N`: a whole layer, two projections and their norms, its own final norm and stream head; the Base releases add
/// an embedding and a head.
void add_v4_draft(Build& build, const V4& model) {
    const std::int64_t layers = build.facts.count_or(keys::kDraftLayers, 0);
    if (layers == 0) return;
    const auto at = static_cast<std::size_t>(model.d.layers);
    LayerPlan draft = v4_layer(model, at < model.ratios.size() ? model.ratios[at] : 0, false);
    draft.name = "draft";
    const std::int64_t hidden = model.d.hidden;
    for (const char* name : {"e_proj", "h_proj"})
        draft.modules.push_back(linear(name, Component::mtp, hidden, hidden, Sharding::replicated));
    for (const char* norm : {"enorm", "hnorm", "norm"}) add_norm(draft.modules, norm, hidden, false, Component::mtp);
    add_streams(draft.modules, "hc_head", model.streams, 1, model);
    if (build.options.draft_own_embedding.value_or(false)) {
        Module embedding = of_kind(linear("emb.tok_emb", Component::mtp, model.d.vocab, hidden, Sharding::vocab),
                                   ModuleKind::embedding);
        embedding.weight.is_matmul = embedding.weight.resident = false;
        Module head =
            of_kind(linear("head", Component::mtp, model.d.vocab, hidden, Sharding::vocab), ModuleKind::lm_head);
        head.weight.resident = false;
        draft.modules.push_back(std::move(embedding));
        draft.modules.push_back(std::move(head));
    }
    build.blueprint.draft_layers = layers;
    build.blueprint.draft = std::move(draft);
    build.blueprint.draft_path = "mtp.0";
}

void deepseek_v4(Build& build) {
    const V4 model = read_v4(build);
    build.block_scale = DType::e8m0;
    build.blueprint.layer_prefix = "layers";
    for (std::int64_t i = 0; i < model.d.layers; ++i) {
        const auto at = static_cast<std::size_t>(i);
        append_layer(build.blueprint,
                     v4_layer(model, at < model.ratios.size() ? model.ratios[at] : 0, i < model.hash_layers));
    }
    add_v4_draft(build, model);
    OutsideOptions outside;
    outside.embedding = "embed";
    outside.norm = "norm";
    outside.head = "head";
    finish(build, model.d, outside);
    add_streams(build.blueprint.outside, "hc_head", model.streams, 1, model);
}

}  // namespace

std::vector<Family> deepseek_v4_families() {
    std::vector<Family> families;
    families.push_back({"deepseek_v4", {"deepseek_v4", "deepseek_ref"}, {"DeepseekV4ForCausalLM"}, deepseek_v4});
    return families;
}

}  // namespace kvplan::families
