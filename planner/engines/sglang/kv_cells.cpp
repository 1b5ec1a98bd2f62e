#include "planner/engines/sglang/kv_cells.hpp"

#include <algorithm>
#include <cmath>

#include "planner/engines/linear_state.hpp"
#include "planner/engines/sglang/compressed.hpp"
#include "planner/engines/sglang/defaults.hpp"
#include "planner/engines/sglang/draft.hpp"
#include "planner/engines/sglang/gpu_facts.hpp"
#include "planner/engines/sglang/kv_dtype.hpp"
#include "planner/engines/sglang/stages.hpp"
#include "planner/engines/sglang/versions.hpp"
#include "planner/engines/sglang/window_pools.hpp"

namespace kvplan::sglang {
namespace {

double d(std::int64_t n) { return static_cast<double>(n); }

std::int64_t heads_per_rank(std::int64_t heads, std::int64_t ranks) { return std::max<std::int64_t>(1, heads / ranks); }

/// fp8 sparse latents: 512 elements, a scale of 4 bytes per 128, the rope part in 16 bits (flashmla kernels). The
/// trtllm kernels and AMD store 576 plain elements.
bool raw_sparse_latent(const Scenario& scenario) {
    const GpuFacts gpu = gpu_facts(scenario);
    const EngineOptions& engine = scenario.engine;
    if (gpu.amd) return true;
    if (engine.dsa_prefill_backend == "trtllm" || engine.dsa_decode_backend == "trtllm") return true;
    if (!engine.dsa_prefill_backend.empty() && !engine.dsa_decode_backend.empty()) return false;
    const bool glm_on_sm12 = gpu.sm_major == 12 && scenario.model->architecture.rfind("Glm", 0) == 0;
    return gpu.sm_major >= 10 && !glm_on_sm12 && in_force(Change::dsa_trtllm_default, rule_date(scenario.engine));
}

/// Adds to the group of this kind and place, so that a plan lists each kind once.
void add_group(std::vector<KvGroup>& groups, KvGroup group) {
    for (KvGroup& g : groups) {
        if (g.kind == group.kind && g.own_window_pool == group.own_window_pool) {
            g.layers += group.layers;
            g.bytes_per_token = g.bytes_per_token + group.bytes_per_token;
            g.bytes_per_slot += group.bytes_per_slot;
            return;
        }
    }
    groups.push_back(group);
}

KvGroup per_token(KvGroupKind kind, std::int64_t layers, double bytes, bool own_window_pool = false) {
    KvGroup group;
    group.kind = kind;
    group.layers = Layers{layers};
    group.bytes_per_token = BytesPerToken{bytes * d(layers)};
    group.own_window_pool = own_window_pool;
    return group;
}

/// Adds `count` layers of one class to the cells.
class Adder {
public:
    Adder(KvCells& cells, const Scenario& scenario, bool hybrid) : cells_(cells), scenario_(scenario), hybrid_(hybrid) {}

    void add(const Attention& attention, std::int64_t count) {
        count_ = count;
        std::visit([this](const auto& a) { (*this)(a); }, attention);
    }

    void operator()(const NoAttention&) {}
    void operator()(const CompressedAttention&) {}  // all of a stage's together, in compressed_cells
    void operator()(const GroupedAttention& a) {
        if (!a.stores_kv || a.image_only) return;
        const double bytes = bytes_per_token(a, scenario_);
        const KvGroupKind kind = !a.window ? KvGroupKind::full : a.chunked ? KvGroupKind::chunked : KvGroupKind::sliding_window;
        const bool own_pool = hybrid_ && a.window.has_value();
        if (own_pool) cells_.window += bytes * d(count_);
        else add_full(bytes, bytes);
        add_group(cells_.groups, per_token(kind, count_, bytes, own_pool));
    }
    void operator()(const LatentAttention& a) {
        const double bytes = bytes_per_token(a, scenario_, false), index = index_bytes(a, scenario_);
        add_full(bytes + index, bytes_per_token(a, scenario_, true) + index);
        add_group(cells_.groups, per_token(KvGroupKind::latent, count_, bytes));
        if (index > 0) add_group(cells_.groups, per_token(KvGroupKind::indexer, count_, index));
    }
    void operator()(const BlockSparseAttention& a) {
        (*this)(a.base);
        const double index = 2.0 * a.index_tensors * d(a.index_head_dim);
        add_full(index, index);
        if (index > 0) add_group(cells_.groups, per_token(KvGroupKind::sparse_index, count_, index));
    }
    void operator()(const LinearAttention& a) {
        const Bytes slot = state_bytes(a, scenario_) * count_;
        cells_.state_per_slot += slot;
        KvGroup group;
        group.kind = KvGroupKind::linear_state;
        group.layers = Layers{count_};
        group.bytes_per_slot = slot;
        add_group(cells_.groups, group);
    }

    /// One layer's keys or values in 16 bits, counted once for each token.
    void add_fp4_workspace(const StageLayers& stage) {
        for (std::int64_t i = stage.first; i < stage.first + stage.count; ++i) {
            const auto* a = std::get_if<GroupedAttention>(&scenario_.model->layer(i).attention);
            if (a == nullptr || !a->stores_kv || a->image_only) continue;
            const double bytes = 2.0 * d(heads_per_rank(a->kv_heads, parallelism(scenario_).attention_tp) * a->head_dim);
            count_ = 1;
            add_full(bytes, bytes);
            KvGroup group = per_token(a->window ? KvGroupKind::sliding_window : KvGroupKind::full, 1, bytes);
            group.layers = Layers{0};
            add_group(cells_.groups, group);
            return;
        }
    }

private:
    void add_full(double allocated, double budget) {
        cells_.full += allocated * d(count_);
        cells_.full_budget += budget * d(count_);
    }

    KvCells& cells_;
    const Scenario& scenario_;
    bool hybrid_;
    std::int64_t count_ = 0;
};

/// Before 2026-02 the tokens came from the all-layer cell and were then dealt out by layer counts; the same as one
/// divisor of (F nf + S ns)(r ns + nf) / L.
double window_budget(const KvCells& cells, std::int64_t full_layers, std::int64_t window_layers, RuleDate date) {
    if (in_force(Change::swa_ratio_pools, date)) return cells.full_budget + cells.ratio * cells.window;
    const double all = cells.full_budget + cells.window, layers = d(full_layers + window_layers);
    return all * (cells.ratio * d(window_layers) + d(full_layers)) / layers;
}

std::int64_t layers_with(const KvCells& cells, bool own_window_pool) {
    std::int64_t layers = 0;
    for (const KvGroup& g : cells.groups) {
        const bool keys = g.kind == KvGroupKind::indexer || g.kind == KvGroupKind::sparse_index || g.kind == KvGroupKind::linear_state;
        if (!keys && g.own_window_pool == own_window_pool) layers += g.layers.count();
    }
    return layers;
}

/// A rank of decode context parallelism stores one of `dcp` parts of each page.
void split_by_context(KvCells& cells, std::int64_t parts) {
    if (parts <= 1) return;
    for (double* bytes : {&cells.full, &cells.full_budget, &cells.window, &cells.target_budget, &cells.draft, &cells.draft_budget}) *bytes /= d(parts);
    for (KvGroup& g : cells.groups) g.bytes_per_token = g.bytes_per_token / d(parts);
}

}  // namespace

double bytes_per_token(const GroupedAttention& attention, const Scenario& scenario) {
    const std::int64_t heads = heads_per_rank(attention.kv_heads, parallelism(scenario).attention_tp);
    const std::int64_t values = in_force(Change::separate_v_head_dim, rule_date(scenario.engine)) ? attention.v_head_dim : attention.head_dim;
    return d(heads * (attention.head_dim + values)) * kv_dtype(scenario).bytes;
}

double bytes_per_token(const LatentAttention& attention, const Scenario& scenario, bool budget) {
    const KvDtype type = kv_dtype(scenario);
    const std::int64_t width = attention.kv_lora_rank + attention.qk_rope_head_dim;
    if (!attention.indexer || !type.fp8 || raw_sparse_latent(scenario)) return d(width) * type.bytes;
    if (budget && !in_force(Change::dsa_fp8_budget_fixed, rule_date(scenario.engine))) return d(width);
    return d(attention.kv_lora_rank) + d(attention.kv_lora_rank / 128 * 4) + d(attention.qk_rope_head_dim * 2);
}

double index_bytes(const LatentAttention& attention, const Scenario& scenario) {
    if (!attention.indexer) return 0;
    const bool keeps = attention.indexer->own || !in_force(Change::indexer_shared_layers, rule_date(scenario.engine));
    if (!keeps) return 0;
    return d(attention.indexer->head_dim) + d(ceil_div(attention.indexer->head_dim, 128)) * 4;
}

Bytes state_bytes(const LinearAttention& a, const Scenario& scenario) {
    const std::int64_t tp = parallelism(scenario).attention_tp;
    const std::string& asked = scenario.engine.mamba_ssm_dtype;
    const DType type = asked == "bfloat16" ? DType::bf16 : asked == "float16" ? DType::f16 : asked == "float32" ? DType::f32 : a.state_dtype;
    const StateElements e = state_elements(a, tp);
    return Bytes{e.convolution * 2 + e.recurrent * bits_of(type) / 8};
}

namespace {

KvCells cells_by_rule(const Scenario& scenario, const StageLayers& stage) {
    const LlmSpec& model = *scenario.model;
    const RuleDate date = rule_date(scenario.engine);
    KvCells cells;
    if (is_compressed(model)) return compressed_cells(scenario, stage);
    const bool hybrid = hybrid_window_pool(scenario);
    Adder adder(cells, scenario, hybrid);
    std::vector<std::int64_t> count(model.classes.size(), 0);
    for (std::int64_t i = stage.first; i < stage.first + stage.count; ++i) ++count[static_cast<std::size_t>(model.layer_class[static_cast<std::size_t>(i)])];
    for (std::size_t c = 0; c < count.size(); ++c)
        if (count[c] > 0) adder.add(model.classes[c].attention, count[c]);
    const KvDtype type = kv_dtype(scenario);
    if (type.fp4 && in_force(Change::fp4_dequant_token, date)) adder.add_fp4_workspace(stage);
    cells.ratio = window_ratio(scenario);
    const std::int64_t full_layers = layers_with(cells, false), window_layers = layers_with(cells, true);
    if (full_layers == 0 && window_layers > 0) {
        // One pool: the window pool is the pool, and the ratio does not count.
        cells.window_only = true;
        cells.full = cells.full_budget = cells.window;
        cells.window = 0;
        for (KvGroup& g : cells.groups) g.own_window_pool = false;
    }
    cells.target_budget = cells.window > 0 ? window_budget(cells, full_layers, window_layers, date) : cells.full_budget;
    const bool last = stage.first + stage.count == model.layers();
    if (last) add_draft(cells, scenario, full_layers + window_layers);
    split_by_context(cells, scenario.engine.decode_context_parallel);
    return cells;
}

}  // namespace

KvCells kv_cells(const Scenario& scenario, const StageLayers& stage) {
    KvCells cells = cells_by_rule(scenario, stage);
    if (!scenario.calibration || scenario.calibration->cell_ratio == 1.0) return cells;
    const double ratio = scenario.calibration->cell_ratio;
    for (double* cell : {&cells.full, &cells.full_budget, &cells.window, &cells.target_budget, &cells.draft, &cells.draft_budget}) *cell *= ratio;
    for (KvGroup& group : cells.groups) group.bytes_per_token = group.bytes_per_token * ratio;
    return cells;
}

KvCachePlan kv_cache(const Scenario& scenario) {
    KvCells most;
    bool first = true;
    for (const StageLayers& stage : stages(scenario)) {
        KvCells cells = kv_cells(scenario, stage);
        const bool more = cells.budget() > most.budget() || (cells.budget() == most.budget() && cells.state_per_slot > most.state_per_slot);
        if (first || more) most = std::move(cells);
        first = false;
    }
    const Parallelism ranks = parallelism(scenario);
    KvCachePlan plan;
    plan.bytes_per_token = BytesPerToken{most.allocated()};
    plan.budget_bytes_per_token = BytesPerToken{most.budget()};
    plan.state_bytes_per_slot = most.state_per_slot;
    // DeepSeek-V4 packs its entries in 8 bits whatever the flag says.
    plan.dtype = is_compressed(*scenario.model) ? std::string_view{"fp8_e4m3"} : kv_dtype(scenario).name;
    plan.page_size = Tokens{checked_mul(page_size(scenario), std::max<std::int64_t>(1, scenario.engine.decode_context_parallel))};
    plan.groups = std::move(most.groups);
    plan.latent = is_latent(*scenario.model) || is_compressed(*scenario.model);
    for (const LayerClass& c : scenario.model->classes) {
        const auto* grouped = std::get_if<GroupedAttention>(&c.attention);
        if (grouped != nullptr && grouped->kv_heads > 0)
            plan.kv_head_replication = std::max(plan.kv_head_replication, ranks.attention_tp / std::min(grouped->kv_heads, ranks.attention_tp));
    }
    return plan;
}

}  // namespace kvplan::sglang
