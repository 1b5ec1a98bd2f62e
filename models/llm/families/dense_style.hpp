// Decoders of plain layers - attention, then an MLP or experts - told apart by a handful of choices.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "models/llm/families/decoder.hpp"

namespace kvplan::families {

/// Whether a bias is there: never, always, or as attention_bias / mlp_bias says.
enum class Bias { never, always, by_key };

/// Which layers see a window of `sliding_window` tokens.
enum class Windows {
    none,
    all,       // every layer, when the key holds a number
    by_flag,   // only with use_sliding_window, from max_window_layers on (Qwen2)
    by_types,  // layer_types; without it every layer but each `pattern`-th, or as the letters of a pattern ("LLLG")
};

struct DenseStyle {
    GroupedNames attention = {};
    DenseNames ffn = {};
    std::vector<std::string_view> norms = {"input_layernorm", "post_attention_layernorm"};
    OutsideOptions outside = {};
    std::string_view layer_prefix = {};
    Bias qkv_bias = Bias::never;
    Bias o_bias = Bias::never;
    Bias ffn_bias = Bias::never;
    bool norm_bias = false;
    bool gated = true;
    QkNorm qk_norm = QkNorm::none;
    Windows windows = Windows::none;
    std::int64_t ffn_width_divisor = 1;     // 2: intermediate_size counts gate and up
    std::int64_t ffn_default_multiple = 0;  // of hidden, when no key tells the width; 0: one must
    std::int64_t kv_heads_default = 0;      // 0: as many as heads
    std::int64_t head_dim_default = 0;      // the Transformers class's; 0: hidden / heads
    std::int64_t vocab_default = 0;         // the Transformers class's; 0: the config must say
    std::int64_t pattern = 0;               // by_types: the default when neither list nor pattern key is there
};

/// The window of each layer.
[[nodiscard]] std::vector<std::optional<std::int64_t>> layer_windows(const Build& build, std::int64_t layers,
                                                                     Windows rule, std::int64_t pattern = 0);
[[nodiscard]] bool has_bias(const Build& build, Bias rule, bool mlp = false);
[[nodiscard]] GroupedOptions grouped_options(const Build& build, const DenseStyle& style);

/// Dimensions with this style's defaults, and the width of a layer's dense FFN (one for all, or a list).
[[nodiscard]] Dimensions style_dimensions(const Build& build, const DenseStyle& style);
[[nodiscard]] std::int64_t dense_width(const Build& build, const DenseStyle& style, const Dimensions& d,
                                       std::int64_t layer);

/// Attention and norms of a layer in this style, without its FFN.
[[nodiscard]] LayerPlan attention_layer(const Build& build, const DenseStyle& style, const Dimensions& d,
                                        const GroupedAttention& attention);

/// A whole model of such layers with one dense FFN each.
void dense_decoder(Build& build, const DenseStyle& style);
/// The same with experts in the layers that moe_layers() names.
void moe_decoder(Build& build, const DenseStyle& style, const MoeOptions& options);

}  // namespace kvplan::families
