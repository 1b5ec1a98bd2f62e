#include "models/llm/families/draft.hpp"

#include "models/llm/keys.hpp"

namespace kvplan::families {

LayerPlan draft_layer(const Dimensions& d, LayerPlan layer, bool own_embedding) {
    layer.name = "draft";
    add_norm(layer.modules, "enorm", d.hidden, false, Component::mtp);
    add_norm(layer.modules, "hnorm", d.hidden, false, Component::mtp);
    layer.modules.push_back(
        of_kind(linear("eh_proj", Component::mtp, d.hidden, 2 * d.hidden, Sharding::replicated), ModuleKind::small));
    add_norm(layer.modules, "shared_head.norm", d.hidden, false, Component::mtp);
    if (!own_embedding) return layer;
    Module embedding =
        of_kind(linear("embed_tokens", Component::mtp, d.vocab, d.hidden, Sharding::vocab), ModuleKind::embedding);
    embedding.weight.is_matmul = false;
    embedding.weight.resident = false;
    Module head =
        of_kind(linear("shared_head.head", Component::mtp, d.vocab, d.hidden, Sharding::vocab), ModuleKind::lm_head);
    head.weight.resident = false;
    layer.modules.push_back(std::move(embedding));
    layer.modules.push_back(std::move(head));
    return layer;
}

void add_draft(Build& build, const Dimensions& d, const LayerPlan& layer, bool own_embedding) {
    const std::int64_t layers = build.facts.count_or(keys::kDraftLayers, 0);
    if (layers == 0) return;
    Blueprint& blueprint = build.blueprint;
    blueprint.draft_layers = layers;
    blueprint.draft = draft_layer(d, layer, build.options.draft_own_embedding.value_or(own_embedding));
    blueprint.draft_path = blueprint.layer_prefix + "." + std::to_string(blueprint.layer_plan.size());
}

}  // namespace kvplan::families
