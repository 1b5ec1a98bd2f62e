#include "planner/engines/sglang/compressed.hpp"

#include "planner/engines/sglang/defaults.hpp"
#include "planner/engines/sglang/versions.hpp"
#include "planner/engines/sglang/window_pools.hpp"

namespace kvplan::sglang {
namespace {

double d(std::int64_t n) { return static_cast<double>(n); }
constexpr double kStateBytes = 4;  // fp32, SGLANG_DSV4_COMPRESS_STATE_DTYPE

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
    const bool last = stage.first + stage.count == scenario.model->layers();
    // The config's list of ratios has an entry for the MTP layer, which once counted as a layer.
    if (last && scenario.model->draft && !in_force(Change::v4_main_layers, rule_date(scenario.engine))) n.all += scenario.model->draft->layers;
    return n;
}

KvGroup group(KvGroupKind kind, std::int64_t layers, double bytes, bool window) {
    KvGroup g;
    g.kind = kind;
    g.layers = Layers{layers};
    g.bytes_per_token = BytesPerToken{bytes};
    g.own_window_pool = window;
    return g;
}

}  // namespace

KvCells compressed_cells(const Scenario& scenario, const StageLayers& stage) {
    const Counts n = count(scenario, stage);
    const CompressedAttention& a = n.geometry;
    const RuleDate date = rule_date(scenario.engine);
    const bool drafts = draft_has_layers(scenario);
    const double kv = d(a.head_dim - a.rope_head_dim + 2 * a.rope_head_dim + 8);
    const double index = a.index_head_dim > 0 ? d(a.index_head_dim + 4 * ceil_div(a.index_head_dim, 128)) : 0;
    const double window = d(std::max<std::int64_t>(1, a.window));
    CompressedCells c;
    c.window = kv * d(n.all);
    c.c4 = kv * d(n.by4) / 4;
    c.c128 = kv * d(n.by128) / 128;
    c.index = index * d(n.by4) / 4;
    c.state = (drafts ? 16 : 8) / window * (4 * d(a.head_dim) + 4 * d(a.index_head_dim)) * kStateBytes * d(n.by4);
    if (!in_force(Change::v4_request_state, date)) c.state += (drafts ? 256 : 128) / window * 2 * d(a.head_dim) * kStateBytes * d(n.by128);

    KvCells cells;
    cells.ratio = window_ratio(scenario);
    cells.full = cells.full_budget = c.c4 + c.c128 + c.index;
    cells.window = c.window + c.state;
    cells.target_budget = cells.full + cells.ratio * cells.window;
    const bool last = stage.first + stage.count == scenario.model->layers();
    if (drafts && last && n.all > 0) {
        // A log of 2026-05-12 with drafts divides by the target's cell alone: one more layer only since drafts are in the budget.
        if (in_force(Change::draft_in_budget, date)) cells.draft_budget = cells.target_budget / d(n.all);
        cells.window += kv;  // the MTP layer keeps a window only
    }
    if (n.by4 + n.by128 > 0) cells.groups.push_back(group(KvGroupKind::compressed, n.by4 + n.by128, c.c4 + c.c128, false));
    if (n.by4 > 0) cells.groups.push_back(group(KvGroupKind::indexer, n.by4, c.index, false));
    cells.groups.push_back(group(KvGroupKind::sliding_window, n.all + (drafts && last ? 1 : 0), cells.window, true));
    cells.compressed = c;
    return cells;
}

Bytes request_state(const Scenario& scenario, const StageLayers& stage, std::int64_t requests) {
    if (!in_force(Change::v4_request_state, rule_date(scenario.engine))) return Bytes{0};
    const Counts n = count(scenario, stage);
    const std::int64_t rows = round_up((requests + 1) * 128 + 128 + 1, 128);
    return Bytes{checked_mul(checked_mul(rows, 2 * n.geometry.head_dim * static_cast<std::int64_t>(kStateBytes)), n.by128)};
}

}  // namespace kvplan::sglang
