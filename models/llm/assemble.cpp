#include "models/llm/assemble.hpp"

#include <map>
#include <string>
#include <utility>

namespace kvplan {
namespace {

std::string full_path(const std::string& prefix, const std::string& name) {
    std::string path = prefix.empty() ? name : prefix + "." + name;
    const std::size_t star = path.find('*');
    if (star != std::string::npos) path.replace(star, 1, "0");
    return path;
}

WeightMatrix with_format(const Module& module, const std::string& prefix, const FormatFor& format_for, DType base) {
    WeightMatrix weight = module.weight;
    weight.bias_type = module.fixed.value_or(base);
    if (module.fixed || module.kind == ModuleKind::other)
        weight.format = plain(module.fixed.value_or(base));
    else
        weight.format = format_for(full_path(prefix, weight.name), module.kind);
    return weight;
}

LayerClass with_formats(const LayerPlan& plan, const std::string& prefix, const FormatFor& format_for, DType base) {
    LayerClass layer{plan.name, plan.attention, plan.ffn, {}};
    layer.weights.reserve(plan.modules.size());
    for (const Module& module : plan.modules) layer.weights.push_back(with_format(module, prefix, format_for, base));
    return layer;
}

}  // namespace

void assemble(LlmSpec& spec, const Blueprint& blueprint, const FormatFor& format_for, DType base) {
    std::map<int, std::vector<int>> classes_of_plan;
    for (std::size_t i = 0; i < blueprint.layer_plan.size(); ++i) {
        const int plan = blueprint.layer_plan[i];
        LayerClass layer = with_formats(
            blueprint.plans[static_cast<std::size_t>(plan)],
            blueprint.layer_prefix + "." + std::to_string(i / static_cast<std::size_t>(blueprint.plans_per_index)),
            format_for, base);
        int found = -1;
        for (const int known : classes_of_plan[plan])
            if (spec.classes[static_cast<std::size_t>(known)] == layer) found = known;
        if (found < 0) {
            found = static_cast<int>(spec.classes.size());
            spec.classes.push_back(std::move(layer));
            classes_of_plan[plan].push_back(found);
        }
        spec.layer_class.push_back(found);
    }
    for (const Module& module : blueprint.outside) spec.outside.push_back(with_format(module, {}, format_for, base));
    if (blueprint.draft_layers > 0)
        spec.draft =
            DraftLayers{blueprint.draft_layers, with_formats(blueprint.draft, blueprint.draft_path, format_for, base)};
    spec.vision = blueprint.vision;
}

}  // namespace kvplan
