#include "planner/engines/vllm/kv_layout.hpp"

#include <algorithm>
#include <cmath>

#include "planner/engines/vllm/defaults.hpp"
#include "planner/engines/vllm/layer_specs.hpp"
#include "planner/engines/vllm/stages.hpp"
#include "planner/engines/vllm/versions.hpp"

namespace kvplan::vllm {
namespace {

std::int64_t page_of(const LayerSpec& spec) { return ceil_bytes(static_cast<double>(spec.block) * spec.token_bytes).count(); }

/// States beside attention: the attention's block is raised until its page holds a state; then both pages are equal.
void raise_for_states(std::vector<LayerSpec>& specs, std::int64_t configured) {
    std::int64_t state = 0;
    double least = 0;
    bool latent = false;
    for (const LayerSpec& s : specs) {
        state = std::max(state, s.state.count());
        latent = latent || s.kind == KvGroupKind::latent;
        if (s.kind != KvGroupKind::linear_state) least = std::max(least, s.token_bytes);
    }
    if (state == 0 || least <= 0) return;
    const std::int64_t step = latent ? std::max<std::int64_t>(128, configured) : configured;
    const auto needed = static_cast<std::int64_t>(std::ceil(static_cast<double>(state) / (static_cast<double>(step) * least)));
    for (LayerSpec& s : specs)
        if (s.kind != KvGroupKind::linear_state) s.block = std::max(configured, step * std::max<std::int64_t>(1, needed));
}

/// Every page becomes as large as the largest: smaller ones take more tokens, and padding where that is not even.
void unify_pages(std::vector<LayerSpec>& specs) {
    std::int64_t largest = 0;
    for (const LayerSpec& s : specs) largest = std::max(largest, s.page);
    for (LayerSpec& s : specs) {
        if (s.page > 0 && s.kind != KvGroupKind::linear_state) s.block *= largest / s.page;
        s.page = largest;
    }
}

/// Layers of one group: as many as the kind with fewest has, or the most of all when that is not much more.
std::int64_t layers_per_group(const std::vector<LayerSpec>& specs, const Scenario& scenario) {
    std::int64_t least = specs.front().layers, most = least;
    for (const LayerSpec& s : specs) {
        least = std::min(least, s.layers);
        most = std::max(most, s.layers);
    }
    const double limit = in_force(Change::hybrid_padding_150, scenario.engine) ? 1.5 : in_force(Change::hybrid_padding_125, scenario.engine) ? 1.25 : 0.0;
    return static_cast<double>(most) < limit * static_cast<double>(least) ? most : least;
}

/// Groups are made over all stages, so that the same place of a pattern is in the same group everywhere.
void make_groups(KvLayout& layout, const Scenario& scenario) {
    std::vector<LayerSpec> all = layer_specs(scenario, {0, scenario.model->layers()});
    const std::int64_t per_group = layers_per_group(all, scenario);
    std::int64_t on_stage = 0;
    layout.groups = 0;
    for (LayerSpec& s : layout.specs) {
        const auto same = std::find_if(all.begin(), all.end(), [&](const LayerSpec& a) { return a.kind == s.kind && a.window == s.window && a.token_bytes == s.token_bytes; });
        const std::int64_t layers = same == all.end() ? s.layers : same->layers;
        s.groups = ceil_div(layers, per_group);
        layout.groups += s.groups;
        on_stage = std::max(on_stage, ceil_div(s.layers, s.groups));
    }
    for (const LayerSpec& s : layout.specs) layout.padding_layers += s.groups * on_stage - s.layers;
    layout.block_bytes = Bytes{checked_mul(layout.specs.front().page, on_stage)};
}

std::int64_t blocks_of(const LayerSpec& spec, const Scenario& scenario, std::int64_t tokens) {
    const std::int64_t inflight = inflight_tokens(scenario);
    if (spec.kind == KvGroupKind::linear_state) return state_blocks_per_request(scenario);
    if (spec.kind == KvGroupKind::chunked) return ceil_div(std::min(spec.window + inflight, tokens), spec.block);
    if (spec.window > 0) return ceil_div(std::min(spec.window - 1 + inflight, tokens), spec.block) + 1;
    return ceil_div(ceil_div(tokens, std::max<std::int64_t>(1, scenario.engine.decode_context_parallel)), spec.block);
}

}  // namespace

KvLayout kv_layout(const Scenario& scenario, const StageLayers& stage) {
    if (is_compressed(*scenario.model)) return compressed_layout(scenario, stage);
    KvLayout layout;
    layout.specs = layer_specs(scenario, stage);
    layout.block = configured_block(scenario);
    if (layout.specs.empty()) return layout;
    for (LayerSpec& s : layout.specs) s.block = layout.block;
    raise_for_states(layout.specs, layout.block);
    bool whole = true;
    for (LayerSpec& s : layout.specs) {
        s.page = s.kind == KvGroupKind::linear_state ? s.state.count() : page_of(s);
        whole = whole && s.whole_request();
    }
    if (whole || layout.specs.size() == 1) {
        for (LayerSpec& s : layout.specs) {
            layout.block_bytes += Bytes{checked_mul(s.page, s.layers)};
            s.same_group = &s != &layout.specs.front();
        }
    } else {
        unify_pages(layout.specs);
        make_groups(layout, scenario);
    }
    bool first = true;
    for (const LayerSpec& s : layout.specs) {
        if (s.kind == KvGroupKind::linear_state) continue;
        if (first || s.whole_request()) layout.block = s.block;
        layout.least_block = first ? s.block : std::min(layout.least_block, s.block);
        first = false;
    }
    return layout;
}

std::int64_t blocks_per_request(const KvLayout& layout, const Scenario& scenario, std::int64_t tokens) {
    std::int64_t blocks = 0;
    for (const LayerSpec& s : layout.specs)
        if (!s.same_group) blocks += checked_mul(blocks_of(s, scenario, std::max<std::int64_t>(1, tokens)), s.groups);
    return blocks;
}

std::int64_t blocks_in(const KvLayout& layout, Bytes available) {
    return layout.block_bytes.count() <= 0 || available.count() <= 0 ? 0 : available.count() / layout.block_bytes.count();
}

std::int64_t longest_request(const KvLayout& layout, const Scenario& scenario, std::int64_t blocks, std::int64_t limit) {
    std::int64_t good = 0, bad = limit + 1;
    while (bad - good > 1) {
        const std::int64_t middle = good + (bad - good) / 2;
        (blocks_per_request(layout, scenario, middle) <= blocks ? good : bad) = middle;
    }
    return good;
}

Tokens printed_tokens(const KvLayout& layout, const Scenario& scenario, std::int64_t blocks) {
    const std::int64_t dcp = std::max<std::int64_t>(1, scenario.engine.decode_context_parallel);
    if (blocks <= 0 || layout.specs.empty()) return Tokens{0};
    if (!in_force(Change::derived_token_line, scenario.engine)) return Tokens{checked_mul(blocks / layout.groups, layout.least_block * dcp)};
    const std::int64_t length = max_model_len(scenario);
    const double concurrency = static_cast<double>(blocks) / static_cast<double>(blocks_per_request(layout, scenario, length));
    return Tokens{floor_bytes(concurrency * static_cast<double>(length)).count()};
}

KvCachePlan kv_cache(const Scenario& scenario) {
    KvLayout most;
    for (const StageLayers& stage : stages(scenario)) {
        KvLayout layout = kv_layout(scenario, stage);
        if (layout.block_bytes > most.block_bytes) most = std::move(layout);
    }
    const Parallelism ranks = parallelism(scenario);
    const auto dcp = static_cast<double>(std::max<std::int64_t>(1, scenario.engine.decode_context_parallel));
    KvCachePlan plan;
    for (const LayerSpec& s : most.specs) {
        KvGroup group;
        group.kind = s.kind;
        group.layers = Layers{s.layers};
        group.own_window_pool = s.window > 0;
        group.bytes_per_token = BytesPerToken{s.token_bytes * static_cast<double>(s.layers) / dcp};
        group.bytes_per_slot = s.state * s.layers;
        plan.state_bytes_per_slot += group.bytes_per_slot;
        if (s.whole_request()) plan.bytes_per_token = plan.bytes_per_token + group.bytes_per_token;
        plan.groups.push_back(group);
    }
    const auto length = static_cast<double>(max_model_len(scenario));
    const auto block_bytes = static_cast<double>(most.block_bytes.count());
    const bool derived = in_force(Change::derived_token_line, scenario.engine);
    plan.budget_bytes_per_token = BytesPerToken{derived ? block_bytes * static_cast<double>(blocks_per_request(most, scenario, max_model_len(scenario))) / length
                                                        : block_bytes * static_cast<double>(most.groups) / (static_cast<double>(most.least_block) * dcp)};
    plan.dtype = kv_dtype(scenario).name;
    plan.page_size = Tokens{checked_mul(most.block, std::max<std::int64_t>(1, scenario.engine.decode_context_parallel))};
    plan.latent = is_latent(*scenario.model) || is_compressed(*scenario.model);
    for (const LayerClass& c : scenario.model->classes) {
        const auto* grouped = std::get_if<GroupedAttention>(&c.attention);
        if (grouped != nullptr && grouped->kv_heads > 0)
            plan.kv_head_replication = std::max(plan.kv_head_replication, ranks.attention_tp / std::min(grouped->kv_heads, ranks.attention_tp));
    }
    return plan;
}

}  // namespace kvplan::vllm
