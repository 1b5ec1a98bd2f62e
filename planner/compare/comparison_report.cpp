#include "planner/compare/comparison_report.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "planner/export/csv.hpp"
#include "units/format.hpp"

namespace kvplan::compare {

namespace {

using Json = nlohmann::ordered_json;

bool ends_with(const std::string& text, std::string_view end) { return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0; }

bool is_size(const std::string& name) {
    if (name.find("bytes_per_token") != std::string::npos) return false;
    return name.find("bytes") != std::string::npos;
}

std::string shown(const Figure& figure) {
    if (figure.text.empty()) return "-";
    if (!figure.number) return figure.text == "true" ? "yes" : figure.text == "false" ? "no" : figure.text;
    if (is_size(figure.name) && std::abs(*figure.number) < 9e18) return binary_size(Bytes{static_cast<std::int64_t>(*figure.number)});
    if (ends_with(figure.name, "_seconds")) return duration(*figure.number);
    return shortest(*figure.number, std::abs(*figure.number) < 10.0 ? 4 : 1);
}

std::optional<double> change(const Figure& first, const Figure& other) {
    if (!first.number || !other.number || *first.number == 0.0) return std::nullopt;
    return *other.number / *first.number - 1.0;
}

std::string change_text(const Figure& first, const Figure& other) {
    const auto relative = change(first, other);
    if (!relative || !std::isfinite(*relative)) return "";
    return (*relative >= 0.0 ? "+" : "") + percent(*relative);
}

// Where its causes come into the plan; of several the earliest.
std::string_view arises(const Comparison& comparison, const Difference& difference) {
    for (const std::string_view stage : stages())
        for (const std::size_t cause : difference.causes)
            if (comparison.causes[cause].arises == stage) return stage;
    return {};
}

// Rules by their day, which the table of causes has as well.
std::string causes_text(const Comparison& comparison, const Difference& difference) {
    if (difference.stage == "rule_set") return "version";
    std::vector<std::string> names;
    for (const std::size_t index : difference.causes) {
        const Cause& cause = comparison.causes[index];
        const std::string name = cause.is_rule ? "rules of " + cause.to : cause.name;
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    if (names.empty()) return "several together";
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    const std::string_view from = arises(comparison, difference);
    return from.empty() || from == difference.stage ? text : text + " (from " + std::string(from) + ")";
}

exporting::ReportSection cause_section(const Comparison& comparison) {
    exporting::ReportSection section{"What differs, and where it arises", {}, {}};
    const bool several = comparison.sides.size() > 2;
    section.table.header = {"cause", "change", "arises in", "moves"};
    for (const Cause& cause : comparison.causes) {
        const std::string values = cause.is_rule ? cause.to : (cause.from.empty() ? "(unset)" : cause.from) + " -> " + (cause.to.empty() ? "(unset)" : cause.to);
        const std::string stage = !cause.tried ? "cannot be tried alone" : cause.arises.empty() ? "nowhere" : std::string(cause.arises);
        section.table.rows.push_back({{(several ? comparison.sides[cause.side].label + ": " : "") + cause.name, values, stage, std::to_string(cause.moves.size()) + " figures"}});
        if (cause.is_rule) section.sentences.push_back(cause.name + " (" + cause.to + "): " + cause.note);
    }
    return section;
}

exporting::ReportSection stage_section(const Comparison& comparison, std::string_view stage) {
    exporting::ReportSection section{std::string(stage), {}, {}};
    const bool two = comparison.sides.size() == 2;
    section.table.header = {"figure"};
    for (const Side& side : comparison.sides) section.table.header.push_back(side.label);
    if (two) section.table.header.emplace_back("change");
    section.table.header.emplace_back("because of");
    for (const Difference& difference : comparison.differences) {
        if (difference.stage != stage) continue;
        const std::size_t dot = difference.name.find('.');
        exporting::ReportRow row{{dot == std::string::npos ? difference.name : difference.name.substr(dot + 1)}};
        for (const Figure& value : difference.values) row.cells.push_back(shown(value));
        if (two) row.cells.push_back(change_text(difference.values.front(), difference.values.back()));
        row.cells.push_back(causes_text(comparison, difference));
        section.table.rows.push_back(std::move(row));
    }
    return section;
}

Json value_json(const Figure& figure) {
    if (figure.text.empty()) return nullptr;
    const Json parsed = Json::parse(figure.text, nullptr, false);
    return parsed.is_number() || parsed.is_boolean() ? parsed : Json(figure.text);
}

}  // namespace

Json comparison_json(const Comparison& comparison) {
    Json sides = Json::array(), causes = Json::array(), differences = Json::array();
    for (const Side& side : comparison.sides) sides.push_back({{"label", side.label}, {"rule_set", side.plan.rule_set}, {"fits", side.plan.fits}, {"safe", side.plan.safe ? Json(*side.plan.safe) : Json(nullptr)}});
    for (const Cause& cause : comparison.causes)
        causes.push_back({{"side", cause.side}, {"kind", cause.is_rule ? "rule" : "field"}, {"name", cause.name}, {"from", cause.from}, {"to", cause.to}, {"note", cause.note}, {"tried", cause.tried}, {"arises", cause.arises.empty() ? Json(nullptr) : Json(cause.arises)}, {"moves", cause.moves}});
    for (const Difference& difference : comparison.differences) {
        Json values = Json::array(), relative = Json::array(), names = Json::array();
        for (const Figure& value : difference.values) {
            values.push_back(value_json(value));
            const auto share = change(difference.values.front(), value);
            relative.push_back(share && std::isfinite(*share) ? Json(*share) : Json(nullptr));
        }
        for (const std::size_t cause : difference.causes) names.push_back(comparison.causes[cause].name);
        const std::string_view from = arises(comparison, difference);
        differences.push_back({{"name", difference.name}, {"stage", difference.stage}, {"arises", from.empty() ? Json(nullptr) : Json(from)}, {"values", values}, {"change", relative}, {"causes", names}});
    }
    return {{"sides", sides}, {"figures", comparison.figures}, {"same", comparison.figures - comparison.differences.size()}, {"causes", causes}, {"differences", differences}};
}

exporting::Report comparison_report(const Comparison& comparison) {
    exporting::Report report;
    for (const Side& side : comparison.sides) report.title += (report.title.empty() ? "" : " | ") + side.label;
    if (comparison.differences.empty()) {
        report.verdict = "the plans are the same: all " + std::to_string(comparison.figures) + " figures";
        return report;
    }
    report.verdict = std::to_string(comparison.differences.size()) + " of " + std::to_string(comparison.figures) + " figures differ";
    if (!comparison.causes.empty()) report.sections.push_back(cause_section(comparison));
    for (const std::string_view stage : stages()) {
        exporting::ReportSection section = stage_section(comparison, stage);
        if (!section.table.rows.empty()) report.sections.push_back(std::move(section));
    }
    for (const Side& side : comparison.sides)
        if (!side.plan.fits || side.plan.safe == false) report.tone = exporting::Tone::bad;
    return report;
}

std::string comparison_csv(const Comparison& comparison) {
    std::string text = "figure,stage,arises";
    for (const Side& side : comparison.sides) text += "," + exporting::csv_quoted(side.label);
    text += ",causes\n";
    for (const Difference& difference : comparison.differences) {
        text += exporting::csv_quoted(difference.name) + "," + std::string(difference.stage) + "," + std::string(arises(comparison, difference));
        for (const Figure& value : difference.values) text += "," + exporting::csv_quoted(value.text);
        std::string names;
        for (const std::size_t cause : difference.causes) names += (names.empty() ? "" : ", ") + comparison.causes[cause].name;
        text += "," + exporting::csv_quoted(names) + "\n";
    }
    return text;
}

}  // namespace kvplan::compare
