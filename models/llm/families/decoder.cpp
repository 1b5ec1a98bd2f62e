#include "models/llm/families/decoder.hpp"

#include <algorithm>

#include "models/llm/keys.hpp"

namespace kvplan::families {

Dimensions read_dimensions(const Build& build) {
    Dimensions d = read_dimensions(build, 0, 0);
    d.vocab = build.facts.required(keys::kVocab);
    return d;
}

Dimensions read_dimensions(const Build& build, std::int64_t layers, std::int64_t vocab_default) {
    const ModelFacts& facts = build.facts;
    Dimensions d;
    d.layers = layers > 0 ? layers : facts.required(keys::kLayers);
    if (d.layers > kMaxLayers) {
        facts.fault(facts.value(keys::kLayers), "value.range", "there are more layers than any model has",
                    "at most " + std::to_string(kMaxLayers));
        d.layers = 1;
    }
    d.hidden = facts.required(keys::kHidden);
    d.heads = facts.required(keys::kHeads);
    d.kv_heads = facts.count(keys::kKvHeads).value_or(d.heads);
    d.head_dim = facts.count(keys::kHeadDim).value_or(std::max<std::int64_t>(1, d.hidden / d.heads));
    d.vocab = facts.count(keys::kVocab).value_or(vocab_default);
    return d;
}

GroupedAttention grouped(const Dimensions& d, std::optional<std::int64_t> window) {
    GroupedAttention attention;
    attention.query_heads = d.heads;
    attention.kv_heads = d.kv_heads;
    attention.head_dim = d.head_dim;
    attention.v_head_dim = d.head_dim;
    attention.window = window;
    return attention;
}

std::optional<std::vector<bool>> windowed_layers(const Build& build, std::int64_t layers) {
    const std::vector<std::string> types = build.facts.words(keys::kLayerTypes);
    if (types.empty()) return std::nullopt;
    std::vector<bool> windowed(static_cast<std::size_t>(layers), false);
    for (std::size_t i = 0; i < windowed.size() && i < types.size(); ++i)
        windowed[i] = types[i] == "sliding_attention" || types[i] == "chunked_attention";
    if (types.size() < windowed.size())
        build.facts.fault(build.facts.value(keys::kLayerTypes), "value.range",
                          "layer_types has fewer entries than there are layers", "one entry a layer");
    return windowed;
}

MoeFfn read_moe(const Build& build) {
    const ModelFacts& facts = build.facts;
    MoeFfn moe;
    moe.experts = facts.required(keys::kExperts);
    if (moe.experts > kMaxExperts) {
        facts.fault(facts.value(keys::kExperts), "value.range", "there are more experts than any model has",
                    "at most " + std::to_string(kMaxExperts));
        moe.experts = 1;
    }
    moe.top_k = facts.required(keys::kTopK);
    moe.intermediate = facts.count(keys::kExpertFfn).value_or(0);
    if (moe.intermediate == 0) moe.intermediate = facts.required(keys::kFfn);
    moe.shared_experts = facts.count_or(keys::kSharedExperts, 0);
    moe.shared_intermediate = facts.count_or(keys::kSharedFfn, 0);
    if (moe.shared_intermediate > 0 && moe.shared_experts == 0) moe.shared_experts = 1;
    if (moe.shared_experts > 0 && moe.shared_intermediate == 0)
        moe.shared_intermediate = moe.shared_experts * moe.intermediate;
    return moe;
}

std::vector<bool> moe_layers(const Build& build, std::int64_t layers) {
    const ModelFacts& facts = build.facts;
    std::vector<bool> moe(static_cast<std::size_t>(layers), true);
    if (const auto types = facts.words({"mlp_layer_types"}); !types.empty()) {
        for (std::size_t i = 0; i < moe.size() && i < types.size(); ++i) moe[i] = types[i] == "sparse";
        return moe;
    }
    const std::int64_t first = facts.count_or(keys::kDenseFirst, 0);
    for (std::size_t i = 0; i < moe.size() && i < static_cast<std::size_t>(first); ++i) moe[i] = false;
    const std::vector<std::int64_t> frequency = facts.integers({"moe_layer_freq"});
    for (std::size_t i = 0; i < moe.size(); ++i) {
        if (frequency.size() > 1) {
            if (i < frequency.size()) moe[i] = frequency[i] != 0;
        } else if (frequency.size() == 1 && frequency[0] > 1 && static_cast<std::int64_t>(i) % frequency[0] != 0) {
            moe[i] = false;
        }
    }
    const std::int64_t step = std::max<std::int64_t>(1, facts.count_or({"decoder_sparse_step"}, 1));
    for (std::size_t i = 0; i < moe.size(); ++i)
        if ((static_cast<std::int64_t>(i) + 1) % step != 0) moe[i] = false;
    for (const std::int64_t i : facts.integers({"mlp_only_layers"}))
        if (i >= 0 && i < layers) moe[static_cast<std::size_t>(i)] = false;
    return moe;
}

DType state_dtype(const Build& build) {
    const std::string word =
        build.facts.word({"state_dtype", "mamba_ssm_dtype", "mamba_ssm_cache_dtype"}).value_or("float32");
    if (word == "bfloat16") return DType::bf16;
    if (word == "float16") return DType::f16;
    return DType::f32;
}

void add_pre_norms(LayerPlan& layer, std::int64_t hidden, bool bias) {
    add_norm(layer.modules, "input_layernorm", hidden, bias);
    add_norm(layer.modules, "post_attention_layernorm", hidden, bias);
}

void finish(Build& build, const Dimensions& d, OutsideOptions options) {
    if (!options.stored_head) options.stored_head = build.options.stored_lm_head;
    add_outside(build.blueprint, d.vocab, d.hidden, build.tied, options);
}

}  // namespace kvplan::families
