#include <algorithm>
#include <array>
#include <map>

#include "planner/engines/vllm/defaults.hpp"
#include "planner/engines/vllm/kv_layout.hpp"
#include "planner/engines/vllm/versions.hpp"

// DeepSeek-V4 (models/deepseek_v4, v1/attention/backends/mla/sparse_swa.py, v1/core/kv_cache_utils.py). Blocks are of 256 tokens for
// what is kept of the whole request, and smaller where a page of the same size holds fewer tokens. A log agrees: V4-Flash on
// 2 GPUs needed 6.66 GiB for a request of 30,000 tokens with 16,384 tokens in flight (6,800 blocks of 1,051,776 B).
namespace kvplan::vllm {
namespace {

constexpr std::int64_t kBlock = 256, kWindowBlock = 64, kFourStateBlock = 4, kManyStateBlock = 8;
constexpr std::int64_t kAlignment = 576;   // of a page, FlashMLA's packing
constexpr std::int64_t kStateBytes = 4;    // fp32

struct Counts {
    std::int64_t all = 0, by4 = 0, by128 = 0;
    CompressedAttention geometry;
};

Counts count(const Scenario& scenario, const StageLayers& stage) {
    Counts n;
    for (std::int64_t i = stage.first; i < stage.first + stage.count; ++i) {
        const auto* a = std::get_if<CompressedAttention>(&scenario.model->layer(i).attention);
        if (a == nullptr) continue;
        ++n.all;
        n.by4 += a->ratio == 4 ? 1 : 0;
        n.by128 += a->ratio == 128 ? 1 : 0;
        if (n.geometry.head_dim == 0 || a->ratio == 4) n.geometry = *a;
    }
    // The MTP layer keeps a window only.
    const bool last = stage.first + stage.count == scenario.model->layers();
    if (last && draft_has_layers(scenario)) n.all += scenario.model->draft ? scenario.model->draft->layers : 1;
    return n;
}

/// The number of layers a group that wastes least when every kind is cut into groups of that many; ties prefer more.
std::int64_t best_group(const std::vector<std::int64_t>& kinds) {
    std::int64_t best = kinds.front(), least = -1;
    for (std::int64_t g = std::max<std::int64_t>(1, kinds.front()); g <= *std::max_element(kinds.begin(), kinds.end()); ++g) {
        std::int64_t waste = 0;
        for (const std::int64_t layers : kinds) waste += round_up(layers, g) - layers;
        if (least < 0 || waste <= least) {
            least = waste;
            best = g;
        }
    }
    return best;
}

}  // namespace

KvLayout compressed_layout(const Scenario& scenario, const StageLayers& stage) {
    const Counts n = count(scenario, stage);
    const CompressedAttention& a = n.geometry;
    // 448 fp8, 64 in 16 bits, 8 of scales: 584 a token; index keys 128 fp8 and one fp32 scale.
    const bool packed_tokens = kv_dtype(scenario).fp8;
    const std::int64_t token = packed_tokens ? a.head_dim + a.rope_head_dim + 8 : a.head_dim * 2;
    const std::int64_t index = a.index_head_dim + ceil_div(a.index_head_dim, 128) * 4;
    const std::int64_t four = round_up(kBlock / 4 * token, kAlignment), many = round_up(kBlock / 128 * token, kAlignment);
    const std::int64_t keys = round_up(kBlock / 4 * index, kAlignment);
    KvLayout layout;
    layout.block = kBlock;
    layout.least_block = kFourStateBlock;
    const auto add = [&](KvGroupKind kind, std::int64_t layers, std::int64_t window, std::int64_t block, std::int64_t page, std::int64_t groups) {
        if (layers <= 0) return;
        LayerSpec s;
        s.kind = kind;
        s.layers = layers;
        s.window = window;
        s.block = block;
        s.page = page;
        s.token_bytes = static_cast<double>(page) / static_cast<double>(block);
        s.groups = std::max<std::int64_t>(1, groups);
        s.same_group = groups == 0;
        layout.specs.push_back(s);
    };
    const std::int64_t tuples = std::max(n.by4, n.by128);
    std::vector<std::int64_t> kinds{std::max<std::int64_t>(1, tuples), n.all};
    if (n.by4 > 0) kinds.push_back(n.by4);
    if (n.by128 > 0) kinds.push_back(n.by128);
    const std::int64_t g = best_group(kinds);
    add(KvGroupKind::compressed, n.by4, 0, kBlock, four, 1);
    add(KvGroupKind::compressed, n.by128, 0, kBlock, many, n.by4 > 0 ? 0 : 1);
    add(KvGroupKind::indexer, n.by4, 0, kBlock, keys, 0);
    add(KvGroupKind::sliding_window, n.all, a.window, kWindowBlock, four, ceil_div(n.all, g));
    // Compressor states look back over two groups of 4, or one of 128; each takes the page of the kind it shares memory with.
    add(KvGroupKind::sliding_window, n.by4, 8, kFourStateBlock, four, ceil_div(n.by4, g));
    add(KvGroupKind::sliding_window, n.by128, 128, kManyStateBlock, four, ceil_div(n.by128, g));
    layout.groups = 1 + ceil_div(n.all, g) + (n.by4 > 0 ? ceil_div(n.by4, g) : 0) + (n.by128 > 0 ? ceil_div(n.by128, g) : 0);
    if (in_force(Change::compressed_packed, scenario.engine)) {
        const std::int64_t whole = n.by4 * (four + keys) + n.by128 * many;
        const std::int64_t windows = ceil_div(n.all, ceil_div(n.all, g)) * four, states = n.by4 * (four + keys);
        layout.block_bytes = Bytes{std::max({whole, windows, states, n.by128 * four})};
    } else {
        const std::int64_t longest = std::max(tuples, ceil_div(n.all, ceil_div(n.all, g)));
        layout.block_bytes = Bytes{checked_mul(longest, four + keys + many)};
    }
    static_assert(kStateBytes * 2 * 2 * 512 * kFourStateBlock <= 37440, "a state page fits in the page of 64 tokens");
    return layout;
}

}  // namespace kvplan::vllm
