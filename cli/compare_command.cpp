#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/context.hpp"
#include "cli/scenario_options.hpp"
#include "planner/compare/comparison_report.hpp"
#include "planner/sweep/axis.hpp"

namespace kvplan::cli {

namespace {

constexpr const char* kExample =
    "Examples:\n"
    "  kvplan compare --engine sglang@0.5.6,sglang@2026-08-22 --model kimi-k2.5 --gpu h200 --tp 8 --enable-hierarchical-cache\n"
    "    the upgrade check: which figures the new version moves, and by which of its rules\n"
    "  kvplan compare a.json b.json --context-length 32768\n"
    "    two scenario files; flags override both. Any flag may have several values: --tp 4,8 --gpu h100,h200 are four sides.";

constexpr std::size_t kMostSides = 12;

struct Variant {
    std::string label;
    ScenarioOptions options;
};

Diagnostic fault(std::string pointer, std::string message, std::string hint) {
    Diagnostic diagnostic;
    diagnostic.code = "compare.sides";
    diagnostic.pointer = std::move(pointer);
    diagnostic.message = std::move(message);
    diagnostic.hint = std::move(hint);
    return diagnostic;
}

// Every side with every value of the list.
std::vector<Variant> multiplied(const std::vector<Variant>& sides, const sweep::Axis& axis) {
    std::vector<Variant> all;
    for (const Variant& side : sides)
        for (std::int64_t i = 0; i < axis.size(); ++i) {
            Variant variant = side;
            const std::string name(axis.field->name), value = axis.value(i);
            variant.options.values[name] = value;
            const bool plain = name == "engine" || name == "model" || name == "gpu";
            variant.label += (variant.label.empty() ? "" : ", ") + (plain ? value : name + " " + value);
            all.push_back(std::move(variant));
        }
    return all;
}

std::vector<Variant> variants(const std::vector<std::string>& files, const ScenarioOptions& options, Diagnostics& diagnostics) {
    std::vector<Variant> sides;
    for (const std::string& file : files) {
        Variant variant{std::filesystem::path(file).filename().string(), options};
        variant.options.scenario_file = file;
        sides.push_back(std::move(variant));
    }
    if (sides.empty()) sides.push_back({"", options});
    for (const auto& [name, text] : options.values) {
        if (text.find(',') == std::string::npos) continue;
        const auto axis = sweep::parse_axis(name + "=" + text, diagnostics);
        if (axis && sides.size() * static_cast<std::size_t>(axis->size()) <= kMostSides) sides = multiplied(sides, *axis);
        else if (axis) diagnostics.add(fault("--" + name, "more than " + std::to_string(kMostSides) + " scenarios", "kvplan sweep goes through many"));
    }
    if (sides.size() < 2) diagnostics.add(fault("compare", "there is one scenario only", "name two scenario files, or give a flag two values: --tp 4,8"));
    return sides;
}

bool write(Context& context, const compare::Comparison& comparison) {
    if (context.format == Format::csv) return write_result(context, comparison_csv(comparison));
    return write_formatted(context, comparison_json(comparison), comparison_report(comparison));
}

void run_compare(const std::vector<std::string>& files, const ScenarioOptions& options, Context& context) {
    Diagnostics diagnostics;
    std::vector<compare::Side> sides;
    const std::vector<Variant> wanted = variants(files, options, diagnostics);
    for (const Variant& variant : wanted) {
        if (diagnostics.has_errors()) break;
        Scenario scenario;
        if (!apply(variant.options, scenario, diagnostics) || !resolve(scenario, context.catalogues, diagnostics)) break;
        Plan planned = plan(scenario);
        sides.push_back({variant.label, std::move(scenario), std::move(planned)});
    }
    if (diagnostics.has_errors()) return fail(context, diagnostics);
    show(context, diagnostics);
    (void)write(context, compare::compare(std::move(sides), context.catalogues));
}

}  // namespace

void add_compare_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("compare", "Scenarios side by side: what differs and why");
    command->footer(kExample);
    const auto files = std::make_shared<std::vector<std::string>>();
    command->add_option("scenario", *files, "Scenario files (JSON); flags override them, and a flag's values a,b,c are sides of their own")->type_name("FILE");
    const auto scenario_options = add_scenario_options(*command, context);
    command->callback([files, scenario_options, &context] { run_compare(*files, *scenario_options, context); });
}

}  // namespace kvplan::cli
