#include "planner/explain/explain.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "planner/engines/engine.hpp"
#include "planner/export/finding_text.hpp"
#include "planner/export/json.hpp"
#include "units/format.hpp"

namespace kvplan {
namespace {

using Json = nlohmann::ordered_json;

/// The member at a dotted path; null when there is none.
const Json* at(const Json& document, std::string_view path) {
    const Json* here = &document;
    while (!path.empty()) {
        const std::size_t dot = std::min(path.find('.'), path.size());
        const std::string key(path.substr(0, dot));
        if (!here->is_object() || !here->contains(key)) return nullptr;
        here = &(*here)[key];
        path.remove_prefix(std::min(dot + 1, path.size()));
    }
    return here;
}

std::string figure(const Json& value, bool bytes) {
    if (value.is_null()) return "none";
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_number()) return value.dump();
    if (bytes && value.is_number_integer()) {
        const Bytes size{value.get<std::int64_t>()};
        return with_commas(size.count()) + " B (" + binary_size(size) + ")";
    }
    return value.is_number_integer() ? with_commas(value.get<std::int64_t>()) : shortest(value.get<double>(), 4);
}

/// A field as text: an estimate by its expected value, with the interval when `wide`.
std::string text_of(const Json& value, std::string_view path, bool wide) {
    const bool bytes = path.find("bytes") != std::string_view::npos && path.find("per_token") == std::string_view::npos;
    if (!value.is_object()) return figure(value, bytes);
    if (value.contains("expected")) {
        const std::string expected = figure(value["expected"], bytes);
        if (!wide || value["low"] == value["high"]) return expected;
        return expected + ", " + figure(value["low"], bytes) + " to " + figure(value["high"], bytes);
    }
    return value.contains("value") ? figure(value["value"], bytes) : value.dump();
}

/// The names in braces, in order, each once.
std::vector<std::string> names_in(std::string_view formula) {
    std::vector<std::string> names;
    for (std::size_t open = formula.find('{'); open != std::string_view::npos; open = formula.find('{', open + 1)) {
        const std::size_t close = formula.find('}', open);
        if (close == std::string_view::npos) break;
        std::string name(formula.substr(open + 1, close - open - 1));
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
    return names;
}

template <class Replace>
std::string filled(std::string_view formula, Replace replace) {
    std::string text;
    while (!formula.empty()) {
        const std::size_t open = formula.find('{'), close = open == std::string_view::npos ? open : formula.find('}', open);
        text += formula.substr(0, open);
        if (close == std::string_view::npos) break;
        text += replace(formula.substr(open + 1, close - open - 1));
        formula.remove_prefix(close + 1);
    }
    return text;
}

/// The engine's rules among the ids of a source; of both engines when no scenario says which.
std::vector<std::string> sources_of(std::string_view ids, const Scenario* scenario) {
    std::vector<std::string> sources;
    while (!ids.empty()) {
        const std::size_t space = std::min(ids.find(' '), ids.size());
        const std::string_view id = ids.substr(0, space);
        ids.remove_prefix(std::min(space + 1, ids.size()));
        if (id.find('/') != std::string_view::npos) {
            sources.emplace_back(id);
            continue;
        }
        for (const EngineKind kind : {EngineKind::sglang, EngineKind::vllm}) {
            if (scenario != nullptr && scenario->engine.kind != kind) continue;
            EngineOptions options;
            options.kind = kind;
            for (const EngineRule& rule : engine_of(options).rules())
                if (rule.id == id) sources.push_back(std::string(rule.id) + ", " + (rule.since == "all" ? std::string("all versions") : "since " + std::string(rule.since)) + ", " + std::string(rule.file) + ": " + std::string(rule.note));
        }
    }
    return sources;
}

std::string_view formula_for(const FieldRule& rule, const Scenario* scenario) {
    const bool vllm = scenario != nullptr && scenario->engine.kind == EngineKind::vllm;
    return vllm && !rule.vllm.empty() ? rule.vllm : rule.sglang;
}

Explanation of_field(const FieldRule& rule, const Scenario* scenario, const Json* plan) {
    Explanation e;
    e.name = rule.field;
    e.meaning = rule.meaning;
    const std::string_view formula = formula_for(rule, scenario);
    e.formula = filled(formula, [](std::string_view name) { return std::string(name); });
    if (scenario == nullptr && !rule.vllm.empty()) e.formula = "SGLang: " + e.formula + "; vLLM: " + filled(rule.vllm, [](std::string_view name) { return std::string(name); });
    e.sources = sources_of(rule.source, scenario);
    if (plan == nullptr) return e;
    for (const std::string& name : names_in(formula))
        if (const Json* value = at(*plan, name)) e.inputs.push_back({name, text_of(*value, name, true)});
    e.with_numbers = filled(formula, [&](std::string_view name) {
        const Json* value = at(*plan, name);
        return value != nullptr ? text_of(*value, name, false) : std::string(name);
    });
    if (e.with_numbers == e.formula) e.with_numbers.clear();
    return e;
}

void add_value(Explanation& e, const Json& plan) {
    const Json* value = at(plan, e.name);
    if (value == nullptr) return;
    e.value = text_of(*value, e.name, true);
    if (value->is_object() && value->contains("basis")) e.basis = (*value)["basis"].get<std::string>();
}

Explanation of_code(const CodeRule& rule, const Plan* plan) {
    Explanation e;
    e.name = rule.code;
    e.meaning = rule.meaning;
    e.formula = rule.message;
    if (!rule.remedy.empty()) e.sources.push_back("What to do: " + std::string(rule.remedy));
    if (plan == nullptr) return e;
    e.value = "not in this plan";
    for (const Finding& finding : plan->findings) {
        if (finding.code != rule.code) continue;
        const exporting::FindingText text = exporting::text_of(finding);
        e.value = std::string(name_of(finding.severity));
        e.with_numbers = text.message;
        if (!text.remedy.empty()) e.sources = {"What to do: " + text.remedy};
        for (const FindingValue& v : finding.values) e.inputs.push_back({std::string(v.name), exporting::text_of(v)});
        break;
    }
    return e;
}

}  // namespace

std::vector<CodeRule> code_rules() {
    std::vector<CodeRule> rules;
    for (const exporting::FindingTemplate& t : exporting::finding_templates()) rules.push_back({t.code, t.meaning, t.message, t.remedy});
    return rules;
}

std::optional<Explanation> explain(std::string_view name, const Scenario* scenario, const Plan* plan) {
    for (const CodeRule& rule : code_rules())
        if (rule.code == name) return of_code(rule, plan);
    const bool planned = scenario != nullptr && plan != nullptr;
    const Json document = planned ? exporting::plan_json(*scenario, *plan) : Json();
    const auto& rules = field_rules();
    const auto rule = std::find_if(rules.begin(), rules.end(), [&](const FieldRule& r) { return r.field == name; });
    std::optional<Explanation> e;
    if (rule != rules.end()) {
        e = of_field(*rule, scenario, planned ? &document : nullptr);
    } else if (planned && at(document, name) != nullptr) {
        e = Explanation{};
        e->name = name;
        e->meaning = "A field of the plan.";
    }
    if (e && planned) add_value(*e, document);
    return e;
}

std::vector<std::string> explainable_names() {
    std::vector<std::string> names;
    for (const FieldRule& rule : field_rules()) names.emplace_back(rule.field);
    for (const CodeRule& rule : code_rules()) names.emplace_back(rule.code);
    return names;
}

}  // namespace kvplan
