#include <nlohmann/json.hpp>

#include "planner/compare/compare.hpp"
#include "planner/export/json.hpp"

namespace kvplan::compare {

namespace {

using Json = nlohmann::ordered_json;

// Along the curve of a plan every figure moves when one does: its ends are told by the stage's own figures.
bool is_left_out(const std::string& key) { return key == "curve" || key == "changes" || key == "bounds" || key == "values" || key == "stage_bytes"; }

// What an element of a list goes by.
constexpr const char* kKeys[] = {"name", "kind", "resource", "context_tokens"};

std::string key_in_list(const Json& element, std::size_t index) {
    for (const char* key : kKeys)
        if (element.is_object() && element.contains(key)) return element[key].is_string() ? element[key].get<std::string>() : element[key].dump();
    return std::to_string(index);
}

void add(const Json& value, const std::string& name, std::vector<Figure>& figures) {
    if (value.is_object() && value.contains("expected")) return add(value["expected"], name, figures);
    if (value.is_object()) {
        for (const auto& [key, member] : value.items())
            if (!is_left_out(key)) add(member, name + "." + key, figures);
    } else if (value.is_array()) {
        for (std::size_t i = 0; i < value.size(); ++i) {
            Json element = value[i];
            const std::string key = key_in_list(element, i);
            if (element.is_object())
                for (const char* named : kKeys) element.erase(named);
            add(element, name + "." + key, figures);
        }
    } else {
        Figure figure;
        figure.name = name;
        if (!value.is_null()) figure.text = value.is_string() ? value.get<std::string>() : value.dump();
        if (value.is_number()) figure.number = value.get<double>();
        figures.push_back(std::move(figure));
    }
}

}  // namespace

const std::vector<std::string_view>& stages() {
    static const std::vector<std::string_view> kStages{"rule_set", "weights", "kv_cache", "gpu", "capacity", "hicache", "host", "concurrency", "reuse", "throughput", "latency", "findings", "fits", "safe"};
    return kStages;
}

std::string_view stage_of(std::string_view figure) { return figure.substr(0, figure.find('.')); }

std::vector<Figure> figures_of(const Plan& plan) {
    std::vector<Figure> figures;
    for (const std::string_view stage : stages())
        if (stage != "findings") add(exporting::plan_member(plan, stage), std::string(stage), figures);
        else
            for (const Finding& finding : plan.findings) figures.push_back({"findings." + std::string(finding.code), std::string(name_of(finding.severity)), std::nullopt});
    return figures;
}

}  // namespace kvplan::compare
