// DeepSeek V1 to V3.2, and those built on its layers: Kimi K2, GLM-4.7-Flash, GLM-5, Mistral 4.
#include "models/llm/families/dense_style.hpp"
#include "models/llm/families/draft.hpp"
#include "models/llm/keys.hpp"

namespace kvplan::families {
namespace {

struct LatentStyle {
    bool indexer = false;
    bool always_corrected = false;  // a correction bias whatever topk_method says
    bool draft_own_embedding = true;
    std::optional<DType> norm_type;
};

std::optional<LatentAttention> latent(const Build& build, const Dimensions& d) {
    const ModelFacts& facts = build.facts;
    if (!facts.flag({"use_mla"}, true) || !facts.count(keys::kKvRank)) return std::nullopt;
    LatentAttention attention;
    attention.heads = d.heads;
    attention.q_lora_rank = facts.count(keys::kQRank);
    attention.kv_lora_rank = facts.required(keys::kKvRank);
    attention.qk_nope_head_dim = facts.required(keys::kNopeDim);
    attention.qk_rope_head_dim = facts.required(keys::kRopeDim);
    attention.v_head_dim = facts.required(keys::kVDim);
    return attention;
}

/// Which layers carry an indexer of their own: "full" in indexer_types, all without the list.
std::vector<bool> own_indexers(const Build& build, std::int64_t layers) {
    std::vector<bool> own(static_cast<std::size_t>(layers), true);
    const std::vector<std::string> types = build.facts.words({"indexer_types"});
    for (std::size_t i = 0; i < own.size() && i < types.size(); ++i) own[i] = types[i] == "full";
    return own;
}

void add_ffn(const Build& build, LayerPlan& layer, const Dimensions& d, const MoeFfn* moe, const LatentStyle& style) {
    if (moe == nullptr) {
        const DenseFfn dense{build.facts.required(keys::kFfn), true};
        layer.ffn = dense;
        add_dense(layer, dense, d.hidden);
        return;
    }
    MoeOptions options;
    if (style.always_corrected || build.facts.word({"topk_method"}).value_or("") == "noaux_tc")
        options.correction_bias = "gate.e_score_correction_bias";
    layer.ffn = *moe;
    add_moe(layer, *moe, d.hidden, options);
}

void latent_decoder(Build& build, const LatentStyle& style) {
    const Dimensions d = read_dimensions(build);
    std::optional<LatentAttention> attention = latent(build, d);
    std::optional<SparseIndexer> indexer;
    if (style.indexer && attention)
        indexer = SparseIndexer{build.facts.required({"index_heads", "index_n_heads"}),
                                build.facts.required({"index_head_dim"}),
                                build.facts.required({"index_top_k", "index_topk"}), true};
    const std::vector<bool> own = own_indexers(build, d.layers);
    const bool experts = build.facts.has(keys::kExperts);
    const MoeFfn moe = experts ? read_moe(build) : MoeFfn{};
    const std::vector<bool> sparse = moe_layers(build, d.layers);

    const auto layer_of = [&](bool with_experts, bool own_indexer) {
        LayerPlan layer;
        layer.name = with_experts ? "moe" : "dense";
        add_pre_norms(layer, d.hidden);
        if (attention) {
            LatentAttention here = *attention;
            here.indexer = indexer;
            if (here.indexer) here.indexer->own = own_indexer;
            layer.attention = here;
            add_latent(layer, here, d.hidden);
        } else {
            const GroupedAttention here = grouped(d);
            layer.attention = here;
            GroupedOptions options;
            options.qkv_bias = options.o_bias = has_bias(build, Bias::by_key);
            add_grouped(layer, here, d.hidden, options);
        }
        add_ffn(build, layer, d, with_experts ? &moe : nullptr, style);
        if (style.norm_type)
            for (Module& module : layer.modules)
                if (module.kind == ModuleKind::other) module.fixed = style.norm_type;
        return layer;
    };
    for (std::size_t i = 0; i < sparse.size(); ++i)
        append_layer(build.blueprint, layer_of(experts && sparse[i], own[i]));
    add_draft(build, d, layer_of(experts, true), style.draft_own_embedding);
    finish(build, d);
}

}  // namespace

std::vector<Family> deepseek() {
    std::vector<Family> families;
    families.push_back({"deepseek_v3",
                        {"deepseek_v3", "kimi_k2", "deepseek_v2", "deepseek"},
                        {"DeepseekV3ForCausalLM", "DeepseekV2ForCausalLM", "DeepseekOCR2ForCausalLM"},
                        [](Build& build) { latent_decoder(build, {}); }});
    families.push_back({"deepseek_v32", {"deepseek_v32"}, {}, [](Build& build) {
                            LatentStyle style;
                            style.indexer = true;
                            style.norm_type = DType::f32;
                            latent_decoder(build, style);
                        }});
    families.push_back({"glm_moe_dsa", {"glm_moe_dsa"}, {}, [](Build& build) {
                            LatentStyle style;
                            style.indexer = true;
                            style.always_corrected = true;
                            style.draft_own_embedding = false;
                            latent_decoder(build, style);
                        }});
    families.back().active = ActiveConvention::layers_only;
    families.push_back({"glm4_moe_lite", {"glm4_moe_lite"}, {}, [](Build& build) {
                            LatentStyle style;
                            style.always_corrected = true;
                            latent_decoder(build, style);
                        }});
    families.push_back({"minicpm3",
                        {"minicpm3"},
                        {},
                        [](Build& build) { latent_decoder(build, {}); },
                        true,
                        false,
                        "vllm-project/vllm vllm/model_executor/models/minicpm3.py at 009ccee0"});
    families.push_back({"mistral4", {"mistral4"}, {}, [](Build& build) { latent_decoder(build, {}); }});
    return families;
}

}  // namespace kvplan::families
