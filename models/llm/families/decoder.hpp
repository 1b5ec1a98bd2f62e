// Shared steps of the rules: the dimensions nearly every decoder has, and the usual layer.
#pragma once

#include <functional>
#include <optional>

#include "models/llm/families/registry.hpp"

namespace kvplan::families {

struct Dimensions {
    std::int64_t layers = 1, hidden = 1, heads = 1, kv_heads = 1, head_dim = 1, vocab = 1;
};

/// Required dimensions; KV heads default to heads, the head dim to hidden / heads.
[[nodiscard]] Dimensions read_dimensions(const Build& build);
/// The same where the layers are counted elsewhere (`layers` > 0) or the vocabulary has a default.
[[nodiscard]] Dimensions read_dimensions(const Build& build, std::int64_t layers, std::int64_t vocab_default);

[[nodiscard]] GroupedAttention grouped(const Dimensions& d, std::optional<std::int64_t> window = std::nullopt);

/// The window of each layer from layer_types ("sliding_attention", "chunked_attention"); nothing when there is no such
/// list.
[[nodiscard]] std::optional<std::vector<bool>> windowed_layers(const Build& build, std::int64_t layers);

/// MoE facts common to most: experts, top-k, width of an expert (`expert_ffn` or else `ffn`), shared experts.
[[nodiscard]] MoeFfn read_moe(const Build& build);
/// Layers with experts: after `first_k_dense_replace`, every `moe_layer_freq`-th or by its list of 0 and 1,
/// mlp_layer_types, mlp_only_layers with decoder_sparse_step.
[[nodiscard]] std::vector<bool> moe_layers(const Build& build, std::int64_t layers);

/// Of the recurrent state of linear layers: mamba_ssm_dtype or mamba_ssm_cache_dtype, f32 without a key as engines have
/// it.
[[nodiscard]] DType state_dtype(const Build& build);

/// Norms before attention and before the FFN, with the usual names.
void add_pre_norms(LayerPlan& layer, std::int64_t hidden, bool bias = false);

/// Embedding, norm and head with the options of the reader.
void finish(Build& build, const Dimensions& d, OutsideOptions options = {});

}  // namespace kvplan::families
