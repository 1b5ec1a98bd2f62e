// MiniMax M2 and M3: grouped attention with query and key norms, experts with a correction bias; M3 reads blocks of the
// past that an index picks.
#include "models/llm/families/dense_style.hpp"
#include "models/llm/keys.hpp"

namespace kvplan::families {
namespace {

MoeOptions expert_options(const Build& build) {
    MoeOptions options;
    options.prefix = "block_sparse_moe.";
    options.expert = {"", "w1", "w3", "w2", ""};
    options.router_type = DType::f32;
    if (build.facts.flag({"use_routing_bias"}, true)) options.correction_bias = "e_score_correction_bias";
    return options;
}

QkNorm qk_norm(const Build& build) {
    if (!build.facts.flag({"use_qk_norm"}, true)) return QkNorm::none;
    return build.facts.word({"qk_norm_type"}).value_or("per_layer") == "per_layer" ? QkNorm::full_width
                                                                                   : QkNorm::per_head_dim;
}

void minimax_m2(Build& build) {
    DenseStyle style;
    style.qk_norm = qk_norm(build);
    moe_decoder(build, style, expert_options(build));
}

struct SparseFacts {
    std::int64_t heads = 0, dim = 0, blocks = 0, block = 0;
    std::vector<std::int64_t> used, without_value;
};

SparseFacts read_sparse(const Build& build) {
    const ModelFacts facts = build.facts.section({"sparse_attention", "sparse_attention_config"});
    SparseFacts sparse;
    if (!facts.exists() || !facts.flag({"use_sparse_attention"}, true)) return sparse;
    sparse.heads = facts.required({"index_heads", "sparse_num_index_heads"});
    sparse.dim = facts.required({"index_dim", "sparse_index_dim"});
    sparse.blocks = facts.required({"top_k_blocks", "sparse_topk_blocks"});
    sparse.block = facts.required({"block_size", "sparse_block_size"});
    sparse.used = facts.integers({"layers_with_index", "sparse_attention_freq"});
    sparse.without_value = facts.integers({"layers_without_index_value", "sparse_disable_index_value"});
    return sparse;
}

bool entry(const std::vector<std::int64_t>& list, std::size_t i, bool fallback) {
    return i < list.size() ? list[i] != 0 : fallback;
}

/// The index beside grouped attention: queries of a few heads, one key (and where it is used one value) a token.
void add_block_index(LayerPlan& layer, const BlockSparseAttention& attention, std::int64_t hidden) {
    const std::int64_t rows = attention.index_heads * attention.index_head_dim;
    const auto add = [&](const char* name, std::int64_t size, std::int64_t cols) {
        layer.modules.push_back(
            of_kind(linear(std::string("self_attn.") + name, Component::indexer, size, cols, Sharding::replicated),
                    ModuleKind::linear));
    };
    add("index_q_proj", rows, hidden);
    add("index_k_proj", attention.index_head_dim, hidden);
    if (attention.index_tensors > 1) {
        add("index_v_proj", attention.index_head_dim, hidden);
        add("index_o_proj", hidden, rows);
    }
    for (const char* norm : {"self_attn.index_q_norm", "self_attn.index_k_norm"})
        add_norm(layer.modules, norm, attention.index_head_dim, false, Component::indexer);
}

void minimax_m3(Build& build) {
    const Dimensions d = read_dimensions(build);
    const SparseFacts sparse = read_sparse(build);
    MoeFfn moe = read_moe(build);
    const std::vector<bool> experts = moe_layers(build, d.layers);
    DenseStyle style;
    style.qk_norm = qk_norm(build);
    for (std::size_t i = 0; i < experts.size(); ++i) {
        const bool indexed = sparse.dim > 0 && entry(sparse.used, i, true);
        LayerPlan layer = attention_layer(build, style, d, grouped(d));
        layer.name = std::string(experts[i] ? "moe" : "dense") + (indexed ? ", sparse" : "");
        if (indexed) {
            BlockSparseAttention attention{grouped(d),    sparse.heads, sparse.dim,
                                           sparse.blocks, sparse.block, entry(sparse.without_value, i, true) ? 1 : 2};
            layer.attention = attention;
            add_block_index(layer, attention, d.hidden);
        }
        if (experts[i]) {
            layer.ffn = moe;
            add_moe(layer, moe, d.hidden, expert_options(build));
        } else {
            const DenseFfn dense{build.facts.required({"dense_ffn", "dense_intermediate_size"}), true};
            layer.ffn = dense;
            add_dense(layer, dense, d.hidden);
        }
        append_layer(build.blueprint, std::move(layer));
    }
    finish(build, d);
}

}  // namespace

std::vector<Family> minimax() {
    std::vector<Family> families;
    families.push_back({"minimax_m2", {"minimax_m2"}, {"MiniMaxM2ForCausalLM"}, minimax_m2});
    families.push_back(
        {"minimax_m3",
         {"minimax_m3", "minimax_m3_vl", "minimax_m3_text"},
         {"MiniMaxM3ForCausalLM", "MiniMaxM3SparseForCausalLM", "MiniMaxM3SparseForConditionalGeneration"},
         minimax_m3});
    for (Family& family : families) family.active = ActiveConvention::layers_only;
    return families;
}

}  // namespace kvplan::families
