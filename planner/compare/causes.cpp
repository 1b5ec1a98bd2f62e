#include "planner/compare/causes.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "planner/engines/engine.hpp"
#include "planner/engines/version_text.hpp"
#include "planner/fields/fields.hpp"
#include "units/quantity.hpp"

namespace kvplan::compare {

namespace {

std::optional<std::vector<Figure>> figures_of(const Scenario& scenario) {
    try {
        return compare::figures_of(plan(scenario));
    } catch (const OverflowError&) {
        return std::nullopt;
    }
}

// What a field's value has been looked up for is looked up anew.
void forget(Scenario& scenario, std::string_view field) {
    if (field == "model" || field == "quantization") scenario.model = nullptr;
    if (field == "draft_model" || field == "quantization") scenario.draft_model = nullptr;
    if (field == "workload_from") scenario.reuse = nullptr;
    if (field != "gpu") return;
    scenario.gpu = nullptr;
    scenario.free_memory = nullptr;
    if (const auto origin = scenario.origin.find("gpus_per_node"); origin != scenario.origin.end() && origin->second == "catalogue") scenario.hardware.gpus_per_node.reset();
}

// `scenario` with the field's value of `source`; nothing when that cannot be set (unset values cannot) or planned.
std::optional<std::vector<Figure>> with_field(Scenario scenario, const FieldSpec& field, const Scenario& source, const CatalogueOptions& catalogues) {
    const std::string value = text_of(field.get(source));
    if (value.empty() || set_field(scenario, field, value, "comparison")) return std::nullopt;
    forget(scenario, field.name);
    Diagnostics diagnostics;
    if (!resolve(scenario, catalogues, diagnostics)) return std::nullopt;
    return figures_of(scenario);
}

void finish(Cause& cause) { cause.arises = cause.moves.empty() ? std::string_view{} : stage_of(cause.moves.front()); }

Cause field_cause(const FieldSpec& field, const Side& first, const Side& other, std::size_t side, const CatalogueOptions& catalogues) {
    Cause cause;
    cause.side = side;
    cause.name = std::string(field.name);
    cause.from = text_of(field.get(first.scenario));
    cause.to = text_of(field.get(other.scenario));
    auto base = compare::figures_of(first.plan);
    auto changed = with_field(first.scenario, field, other.scenario, catalogues);
    if (!changed) {
        // From the other side: its plan with the first side's value.
        base = compare::figures_of(other.plan);
        changed = with_field(other.scenario, field, first.scenario, catalogues);
    }
    cause.tried = changed.has_value();
    if (changed) cause.moves = moved(base, *changed);
    finish(cause);
    return cause;
}

// Days after `after` up to `last` on which rules begin or end, with these rules.
std::map<RuleDate, std::vector<const EngineRule*>> changes_between(const Engine& engine, RuleDate after, RuleDate last) {
    std::map<RuleDate, std::vector<const EngineRule*>> days;
    for (const EngineRule& rule : engine.rules())
        for (const RuleDate day : {rule.from, rule.until})
            if (day > after && day <= last) days[day].push_back(&rule);
    return days;
}

// From the older version to the newer, one day of changes after the other, all else as on the first side.
std::vector<Cause> rule_causes(const Side& first, const Side& other, std::size_t side) {
    const Engine& engine = engine_of(first.scenario.engine);
    const auto a = engine.rule_date(first.scenario.engine), b = engine.rule_date(other.scenario.engine);
    std::vector<Cause> causes;
    if (first.scenario.engine.kind != other.scenario.engine.kind || !a || !b) return causes;
    Scenario scenario = first.scenario;
    scenario.engine.version_text = iso(std::min(*a, *b));
    auto before = figures_of(scenario);
    for (const auto& [day, rules] : changes_between(engine, std::min(*a, *b), std::max(*a, *b))) {
        scenario.engine.version_text = iso(day);
        auto after = figures_of(scenario);
        Cause cause;
        cause.side = side;
        cause.is_rule = true;
        cause.to = iso(day);
        for (const EngineRule* rule : rules) {
            cause.name += (cause.name.empty() ? "" : ", ") + std::string(rule->id);
            cause.note += (cause.note.empty() ? "" : " ") + std::string(rule->until == day ? "No longer: " : "") + std::string(rule->note);
        }
        cause.tried = before && after;
        if (cause.tried) cause.moves = moved(*before, *after);
        cause.moves.erase(std::remove(cause.moves.begin(), cause.moves.end(), "rule_set"), cause.moves.end());
        finish(cause);
        if (!cause.moves.empty() || !cause.tried) causes.push_back(std::move(cause));
        before = std::move(after);
    }
    return causes;
}

}  // namespace

std::vector<std::string> moved(const std::vector<Figure>& a, const std::vector<Figure>& b) {
    std::map<std::string_view, const Figure*> others;
    for (const Figure& figure : b) others[figure.name] = &figure;
    std::vector<std::string> names;
    for (const Figure& figure : a) {
        const auto other = others.find(figure.name);
        if ((other == others.end() ? std::string{} : other->second->text) != figure.text) names.push_back(figure.name);
        if (other != others.end()) others.erase(other);
    }
    for (const Figure& figure : b)
        if (others.count(figure.name) > 0 && !figure.text.empty()) names.push_back(figure.name);
    const auto rank = [](const std::string& name) { return std::find(stages().begin(), stages().end(), stage_of(name)) - stages().begin(); };
    std::stable_sort(names.begin(), names.end(), [&](const std::string& x, const std::string& y) { return rank(x) < rank(y); });
    return names;
}

std::vector<Cause> causes_between(const Side& first, const Side& other, std::size_t side, const CatalogueOptions& catalogues) {
    std::vector<Cause> causes;
    for (const FieldSpec& field : scenario_fields()) {
        if (text_of(field.get(first.scenario)) == text_of(field.get(other.scenario))) continue;
        if (field.name == "engine" && first.scenario.engine.kind == other.scenario.engine.kind) {
            std::vector<Cause> rules = rule_causes(first, other, side);
            causes.insert(causes.end(), std::make_move_iterator(rules.begin()), std::make_move_iterator(rules.end()));
        } else {
            causes.push_back(field_cause(field, first, other, side, catalogues));
        }
    }
    return causes;
}

}  // namespace kvplan::compare
