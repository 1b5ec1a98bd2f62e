#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/context.hpp"
#include "cli/scenario_options.hpp"
#include "planner/explain/explain.hpp"

namespace kvplan::cli {

namespace {

constexpr const char* kExample =
    "Example:\n"
    "  kvplan explain gpu.kv_pool_bytes --model kimi-k2.5 --gpu h200 --tp 8\n"
    "    prints what the figure means, its formula, the engine's rule behind it and the numbers put in. Without a\n"
    "    scenario the numbers are left out; without a name all names are listed.";

exporting::Report report_of(const Explanation& e) {
    exporting::Report report{e.name, e.value, exporting::Tone::good, {}};
    exporting::ReportSection section;
    section.sentences.push_back(e.meaning);
    if (!e.formula.empty()) section.sentences.push_back("= " + e.formula);
    if (!e.with_numbers.empty()) section.sentences.push_back("= " + e.with_numbers);
    if (!e.basis.empty()) section.sentences.push_back("Known by: " + e.basis + ".");
    report.sections.push_back(std::move(section));
    if (!e.inputs.empty()) {
        exporting::ReportSection inputs{"Inputs", {{"name", "value"}, {}}, {}};
        for (const ExplainedInput& input : e.inputs) inputs.table.rows.push_back({{input.name, input.value}, 0, false});
        report.sections.push_back(std::move(inputs));
    }
    if (!e.sources.empty()) report.sections.push_back({"Source", {}, e.sources});
    return report;
}

nlohmann::ordered_json json_of(const Explanation& e) {
    nlohmann::ordered_json inputs = nlohmann::ordered_json::array();
    for (const ExplainedInput& input : e.inputs) inputs.push_back({{"name", input.name}, {"value", input.value}});
    return {{"name", e.name}, {"meaning", e.meaning}, {"formula", e.formula}, {"with_numbers", e.with_numbers}, {"value", e.value},
            {"basis", e.basis}, {"sources", e.sources}, {"inputs", inputs}};
}

void list_names(Context& context) {
    exporting::ReportSection fields{"Plan fields", {{"name", "meaning"}, {}}, {}}, codes{"Finding codes", {{"code", "meaning"}, {}}, {}};
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const FieldRule& rule : field_rules()) {
        fields.table.rows.push_back({{std::string(rule.field), std::string(rule.meaning)}, 0, false});
        list.push_back({{"name", rule.field}, {"meaning", rule.meaning}});
    }
    for (const CodeRule& rule : code_rules()) {
        codes.table.rows.push_back({{std::string(rule.code), std::string(rule.meaning)}, 0, false});
        list.push_back({{"name", rule.code}, {"meaning", rule.meaning}});
    }
    write_formatted(context, {{"names", list}}, {"What can be explained", "", exporting::Tone::good, {fields, codes}});
}

void run_explain(const std::string& name, const ScenarioOptions& options, Context& context) {
    if (name.empty()) return list_names(context);
    const bool with_plan = !options.values.empty() || !options.scenario_file.empty();
    std::optional<Scenario> scenario;
    std::optional<Plan> made;
    if (with_plan) {
        scenario = build_scenario(options, context);
        if (!scenario) return;
        made = plan(*scenario);
    }
    const auto answer = explain(name, scenario ? &*scenario : nullptr, made ? &*made : nullptr);
    if (!answer) {
        Diagnostics diagnostics;
        Diagnostic unknown;
        unknown.code = "explain.unknown";
        unknown.pointer = "explain";
        unknown.message = with_plan ? "no field of a plan and no code of a finding has this name" : "no field with a formula and no code of a finding has this name";
        unknown.found = name;
        unknown.hint = did_you_mean(nearest_names(name, explainable_names()));
        diagnostics.add(std::move(unknown));
        return fail(context, diagnostics);
    }
    write_formatted(context, json_of(*answer), report_of(*answer));
}

}  // namespace

void add_explain_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("explain", "A finding's code, or any field of a plan: meaning, formula, source, inputs, value");
    command->footer(kExample);
    const auto name = std::make_shared<std::string>();
    command->add_option("name", *name, "Dotted name of a plan field (gpu.kv_pool_bytes), or a finding's code")->type_name("WHAT");
    const auto options = add_scenario_options(*command, context);
    command->callback([name, options, &context] { run_explain(*name, *options, context); });
}

}  // namespace kvplan::cli
