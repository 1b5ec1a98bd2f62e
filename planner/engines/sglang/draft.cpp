#include "planner/engines/sglang/draft.hpp"

#include <cmath>

#include "planner/engines/sglang/defaults.hpp"
#include "planner/engines/sglang/versions.hpp"

namespace kvplan::sglang {
namespace {

double own_bytes(const Attention& attention, const Scenario& scenario) {
    if (const auto* grouped = std::get_if<GroupedAttention>(&attention)) return bytes_per_token(*grouped, scenario);
    if (const auto* latent = std::get_if<LatentAttention>(&attention)) return bytes_per_token(*latent, scenario, false) + index_bytes(*latent, scenario);
    if (const auto* sparse = std::get_if<BlockSparseAttention>(&attention)) return bytes_per_token(sparse->base, scenario);
    return 0;
}

bool keeps_kv(const Attention& attention) {
    return std::holds_alternative<GroupedAttention>(attention) || std::holds_alternative<LatentAttention>(attention) ||
           std::holds_alternative<BlockSparseAttention>(attention);
}

/// A drafter whose geometry is not known.
std::vector<Attention> like_target(const LlmSpec& model) {
    for (auto c = model.classes.rbegin(); c != model.classes.rend(); ++c)
        if (keeps_kv(c->attention)) return {c->attention};
    return {};
}

}  // namespace

std::vector<Attention> draft_attention(const Scenario& scenario) {
    if (!draft_has_layers(scenario)) return {};
    std::vector<Attention> layers;
    if (scenario.draft_model) {
        for (std::int64_t i = 0; i < scenario.draft_model->layers(); ++i) layers.push_back(scenario.draft_model->layer(i).attention);
        return layers;
    }
    if (const auto& draft = scenario.model->draft; draft && draft->layers > 0) {
        layers.assign(static_cast<std::size_t>(draft->layers), draft->layer.attention);
        return layers;
    }
    return like_target(*scenario.model);
}

void add_draft(KvCells& cells, const Scenario& scenario, std::int64_t target_layers) {
    const RuleDate date = rule_date(scenario.engine);
    const std::string& algorithm = scenario.engine.speculative.algorithm;
    std::int64_t layers = 0;
    for (const Attention& attention : draft_attention(scenario)) {
        if (!keeps_kv(attention)) continue;
        cells.draft += own_bytes(attention, scenario);
        ++layers;
    }
    if (layers == 0) return;
    KvGroup group;
    group.kind = KvGroupKind::draft;
    group.layers = Layers{layers};
    group.bytes_per_token = BytesPerToken{cells.draft};
    cells.groups.push_back(group);
    if (!in_force(Change::draft_in_budget, date) || target_layers <= 0) return;
    const bool block_draft = algorithm == "DFLASH" || algorithm == "DSPARK";
    const double target = cells.target_budget;
    const double share = target * static_cast<double>(layers) / static_cast<double>(target_layers);
    const bool own_geometry = in_force(Change::draft_own_geometry, date) && (block_draft || is_sparse_latent(*scenario.model));
    if (own_geometry || cells.window > 0) cells.draft_budget = cells.draft;
    else cells.draft_budget = (block_draft ? std::ceil(target + share) : std::floor(target + share)) - target;
}

}  // namespace kvplan::sglang
