#include "planner/engines/rope_table.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "units/quantity.hpp"

namespace kvplan {
namespace {

// Classes that rotate a part of a head only (partial_rotary_factor or rotary_dim of their public configs).
struct Partial {
    std::string_view model_type;   // its beginning
    double share;
};
constexpr std::array<Partial, 9> kPartial{{{"qwen3_next", 0.25}, {"qwen3_5", 0.25}, {"chatglm", 0.5}, {"glm4", 0.5}, {"minimax", 0.5},
                                           {"phimoe", 1.0}, {"phi3", 1.0}, {"phi4", 1.0}, {"phi", 0.4}}};
// Hybrids whose attention layers have no positions.
constexpr std::array<std::string_view, 3> kNone{"nemotron_h", "jamba", "kimi_linear"};

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

double rotated(const LlmSpec& model) {
    for (const LayerClass& c : model.classes) {
        if (const auto* a = std::get_if<LatentAttention>(&c.attention)) return static_cast<double>(a->qk_rope_head_dim);
        if (const auto* a = std::get_if<CompressedAttention>(&c.attention)) return static_cast<double>(2 * a->rope_head_dim);  // a table for each of two bases
        const auto* sparse = std::get_if<BlockSparseAttention>(&c.attention);
        const auto* a = sparse != nullptr ? &sparse->base : std::get_if<GroupedAttention>(&c.attention);
        if (a == nullptr) continue;
        const auto partial = std::find_if(kPartial.begin(), kPartial.end(), [&](const Partial& p) { return starts_with(model.model_type, p.model_type); });
        return static_cast<double>(a->head_dim) * (partial == kPartial.end() ? 1.0 : partial->share);
    }
    return 0;
}

}  // namespace

Bytes rope_table(const LlmSpec& model, std::int64_t element_bytes) {
    for (const std::string_view none : kNone)
        if (starts_with(model.model_type, none)) return Bytes{0};
    const auto dimensions = static_cast<std::int64_t>(rotated(model));
    return Bytes{checked_mul(checked_mul(model.max_position_embeddings, dimensions), element_bytes)};
}

}  // namespace kvplan
