#include "planner/fields/fields.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "planner/fields/builders.hpp"
#include "units/ascii.hpp"
#include "units/format.hpp"

namespace kvplan {

namespace fields {

FieldSpec field(Description description, FieldKind kind, std::string_view value_name) {
    FieldSpec spec;
    spec.name = description.name;
    spec.flags = std::move(description.flags);
    spec.group = description.group;
    spec.kind = kind;
    spec.engines = description.engines;
    spec.value_name = description.value_name.empty() ? value_name : description.value_name;
    spec.help = description.help;
    return spec;
}

std::optional<ParseFailure> outside(double value, const Range& range) {
    const bool low = range.above_min ? value <= range.min : value < range.min;
    if (!low && value <= range.max) return std::nullopt;
    const bool bounded = range.max < 9e18;
    std::string expected = range.above_min ? "a number above " : "a number of at least ";
    expected += shortest(range.min);
    if (bounded) expected += " and at most " + shortest(range.max);
    return ParseFailure{expected, ""};
}

std::optional<bool> parse_switch(std::string_view text) {
    const std::string word = lower(text);
    if (word.empty() || word == "true" || word == "1" || word == "yes" || word == "on") return true;
    if (word == "false" || word == "0" || word == "no" || word == "off") return false;
    return std::nullopt;
}

FieldSpec choice(FieldSpec text_field, std::vector<std::string_view> choices) {
    text_field.set = [set = std::move(text_field.set), choices = std::move(choices)](
                         Scenario& scenario, std::string_view value) -> std::optional<ParseFailure> {
        std::string expected = "one of";
        for (const std::string_view known : choices) {
            if (lower(known) == lower(value)) return set(scenario, known);
            expected += (expected.size() > 6 ? ", " : " ") + std::string(known);
        }
        return ParseFailure{expected, ""};
    };
    return text_field;
}

}  // namespace fields

const std::vector<FieldSpec>& scenario_fields() {
    static const std::vector<FieldSpec> all = [] {
        std::vector<FieldSpec> fields = fields::model_and_hardware_fields();
        for (auto* more : {&fields::engine_fields, &fields::vllm_fields, &fields::workload_fields})
            for (FieldSpec& field : (*more)()) fields.push_back(std::move(field));
        return fields;
    }();
    return all;
}

namespace {

std::string normalized(std::string_view name) {
    while (!name.empty() && name.front() == '-') name.remove_prefix(1);
    std::string key(name);
    std::replace(key.begin(), key.end(), '-', '_');
    return key;
}

}  // namespace

const FieldSpec* find_field(std::string_view name_or_flag) {
    static const std::unordered_map<std::string, const FieldSpec*> index = [] {
        std::unordered_map<std::string, const FieldSpec*> by_name;
        for (const FieldSpec& field : scenario_fields()) {
            by_name.emplace(std::string(field.name), &field);
            for (const std::string_view flag : field.flags) by_name.emplace(normalized(flag), &field);
        }
        return by_name;
    }();
    const auto found = index.find(normalized(name_or_flag));
    return found == index.end() ? nullptr : found->second;
}

const std::vector<std::string_view>& field_names() {
    static const std::vector<std::string_view> names = [] {
        std::vector<std::string_view> all;
        for (const FieldSpec& field : scenario_fields()) all.push_back(field.name);
        return all;
    }();
    return names;
}

std::optional<ParseFailure> set_field(Scenario& scenario, const FieldSpec& field, std::string_view text,
                                      std::string_view origin) {
    if (auto failure = field.set(scenario, text)) return failure;
    std::string& note = scenario.origin[std::string(field.name)];
    note = std::string(origin);
    // An engine's bare number has the engine's unit; with a suffix it was converted, which must be said.
    if (field.kind == FieldKind::engine_size && !text.empty() && (text.back() < '0' || text.back() > '9'))
        note += ", " + std::string(text) + " converted to " + text_of(field.get(scenario));
    return std::nullopt;
}

std::string text_of(const FieldValue& value) {
    struct Visitor {
        std::string operator()(std::monostate) const { return {}; }
        std::string operator()(bool b) const { return b ? "true" : "false"; }
        std::string operator()(std::int64_t n) const { return std::to_string(n); }
        std::string operator()(double x) const {
            std::string text = shortest(x, 9);
            text.erase(std::remove(text.begin(), text.end(), ','), text.end());
            return text;
        }
        std::string operator()(const std::string& text) const { return text; }
        std::string operator()(Bytes bytes) const {
            struct Unit {
                const char* name;
                std::int64_t size;
            };
            // The largest unit that divides the size, so that reading it back gives the same bytes.
            for (const Unit unit : {Unit{"TB", kTB}, Unit{"GB", kGB}, Unit{"GiB", kGiB}, Unit{"MiB", kMiB}, Unit{"MB", kMB}})
                if (bytes.count() > 0 && bytes.count() % unit.size == 0) return std::to_string(bytes.count() / unit.size) + unit.name;
            return std::to_string(bytes.count()) + "B";
        }
    };
    return std::visit(Visitor{}, value);
}

}  // namespace kvplan
