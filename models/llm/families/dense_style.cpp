#include "models/llm/families/dense_style.hpp"

#include <algorithm>

#include "models/llm/keys.hpp"

namespace kvplan::families {
namespace {

constexpr keys::Key kPattern[] = {"sliding_window_pattern", "_sliding_window_pattern"};

std::string layer_name(bool moe, bool windowed) {
    std::string name = moe ? "moe" : "dense";
    if (windowed) name += ", window";
    return name;
}

/// "LLLG": local and global layers, repeated; the last layer is global whatever the letters say (EXAONE 4).
std::vector<bool> windows_by_letters(const std::string& letters, std::int64_t layers) {
    std::vector<bool> windowed(static_cast<std::size_t>(layers), false);
    for (std::size_t i = 0; !letters.empty() && i + 1 < windowed.size(); ++i)
        windowed[i] = letters[i % letters.size()] == 'L';
    return windowed;
}

}  // namespace

std::vector<std::optional<std::int64_t>> layer_windows(const Build& build, std::int64_t layers, Windows rule,
                                                       std::int64_t pattern) {
    const ModelFacts& facts = build.facts;
    std::vector<std::optional<std::int64_t>> windows(static_cast<std::size_t>(layers));
    const std::optional<std::int64_t> window = rule == Windows::none ? std::nullopt : facts.count(keys::kWindow);
    if (!window) return windows;
    if (rule == Windows::by_flag && !facts.flag({"use_sliding_window"}, false)) return windows;
    // A window as wide as the context never closes (Phi-3.5-MoE says 131072 of 131072).
    if (const auto context = facts.count(keys::kContext); context && *window >= *context) return windows;
    const std::int64_t from = rule == Windows::by_flag ? facts.count_or({"max_window_layers"}, layers) : 0;
    std::optional<std::vector<bool>> types;
    if (rule != Windows::all) types = windowed_layers(build, layers);
    if (rule == Windows::by_types && !types) {
        if (facts.value(kPattern).is_string())
            types = windows_by_letters(facts.word(kPattern).value_or(std::string{}), layers);
        else
            pattern = facts.count_or(kPattern, pattern);
    }
    for (std::int64_t i = 0; i < layers; ++i) {
        bool here = rule == Windows::all || (rule == Windows::by_flag && i >= from);
        if (rule == Windows::by_types) here = pattern > 0 && (i + 1) % pattern != 0;
        if (types) here = (*types)[static_cast<std::size_t>(i)];
        if (here) windows[static_cast<std::size_t>(i)] = window;
    }
    return windows;
}

bool has_bias(const Build& build, Bias rule, bool mlp) {
    if (rule != Bias::by_key) return rule == Bias::always;
    if (mlp) return build.facts.flag(keys::kMlpBias, false);
    return build.facts.flag(keys::kAttentionBias, false);
}

GroupedOptions grouped_options(const Build& build, const DenseStyle& style) {
    GroupedOptions options;
    options.names = style.attention;
    options.qkv_bias = has_bias(build, style.qkv_bias);
    options.o_bias = has_bias(build, style.o_bias);
    options.qk_norm = style.qk_norm;
    return options;
}

Dimensions style_dimensions(const Build& build, const DenseStyle& style) {
    Dimensions d = style.vocab_default > 0 ? read_dimensions(build, 0, style.vocab_default) : read_dimensions(build);
    if (style.kv_heads_default > 0 && !build.facts.has(keys::kKvHeads)) d.kv_heads = style.kv_heads_default;
    if (style.head_dim_default > 0 && !build.facts.has(keys::kHeadDim)) d.head_dim = style.head_dim_default;
    return d;
}

std::int64_t dense_width(const Build& build, const DenseStyle& style, const Dimensions& d, std::int64_t layer) {
    if (style.ffn_default_multiple > 0 && !build.facts.has(keys::kFfn)) return style.ffn_default_multiple * d.hidden;
    if (build.facts.value(keys::kFfn).is_array())
        return std::max<std::int64_t>(1, build.facts.of_layer(keys::kFfn, layer).value_or(1));
    return build.facts.required(keys::kFfn) / style.ffn_width_divisor;
}

LayerPlan attention_layer(const Build& build, const DenseStyle& style, const Dimensions& d,
                          const GroupedAttention& attention) {
    LayerPlan layer;
    layer.attention = attention;
    for (const std::string_view norm : style.norms)
        add_norm(layer.modules, std::string(norm), d.hidden, style.norm_bias);
    add_grouped(layer, attention, d.hidden, grouped_options(build, style));
    return layer;
}

void dense_decoder(Build& build, const DenseStyle& style) {
    const Dimensions d = style_dimensions(build, style);
    if (!style.layer_prefix.empty()) build.blueprint.layer_prefix = style.layer_prefix;
    std::int64_t index = 0;
    for (const auto& window : layer_windows(build, d.layers, style.windows, style.pattern)) {
        const std::int64_t intermediate = dense_width(build, style, d, index++);
        LayerPlan layer = attention_layer(build, style, d, grouped(d, window));
        layer.name = layer_name(false, window.has_value());
        const DenseFfn ffn{intermediate, style.gated};
        layer.ffn = ffn;
        add_dense(layer, ffn, d.hidden, style.ffn, has_bias(build, style.ffn_bias, true));
        append_layer(build.blueprint, std::move(layer));
    }
    finish(build, d, style.outside);
}

void moe_decoder(Build& build, const DenseStyle& style, const MoeOptions& options) {
    const Dimensions d = style_dimensions(build, style);
    const MoeFfn moe = read_moe(build);
    const std::vector<bool> sparse = moe_layers(build, d.layers);
    const bool any_dense = std::find(sparse.begin(), sparse.end(), false) != sparse.end();
    const DenseFfn dense{any_dense ? dense_width(build, style, d, 0) : 0, style.gated};
    if (!style.layer_prefix.empty()) build.blueprint.layer_prefix = style.layer_prefix;
    const auto windows = layer_windows(build, d.layers, style.windows, style.pattern);
    for (std::size_t i = 0; i < windows.size(); ++i) {
        LayerPlan layer = attention_layer(build, style, d, grouped(d, windows[i]));
        layer.name = layer_name(sparse[i], windows[i].has_value());
        if (sparse[i]) {
            layer.ffn = moe;
            add_moe(layer, moe, d.hidden, options);
        } else {
            layer.ffn = dense;
            add_dense(layer, dense, d.hidden, style.ffn, has_bias(build, style.ffn_bias, true));
        }
        append_layer(build.blueprint, std::move(layer));
    }
    finish(build, d, style.outside);
}

}  // namespace kvplan::families
