#include "cli/scenario_options.hpp"

#include <CLI/CLI.hpp>

#include "models/hardware/probe.hpp"
#include "planner/doctor.hpp"
#include "planner/export/finding_text.hpp"
#include "planner/log/calibration.hpp"
#include "planner/fields/fields.hpp"

namespace kvplan::cli {

namespace {

const char* group_name(FieldGroup group) {
    switch (group) {
        case FieldGroup::model: return "Model";
        case FieldGroup::hardware: return "Hardware";
        case FieldGroup::host: return "Host";
        case FieldGroup::engine: return "Engine (the engine's own flags)";
        case FieldGroup::workload: return "Workload";
    }
    return "";
}

// CLI11 wants "-x,--long"; a short flag of several letters ("-tp") is no option name there and is left to `check`.
std::string option_names(const FieldSpec& field) {
    std::string names;
    for (const std::string_view flag : field.flags) {
        const bool is_long = flag.substr(0, 2) == "--";
        if (!is_long && flag.size() != 2) continue;
        names += (names.empty() ? "" : ",") + std::string(flag);
    }
    return names;
}

/// Fills what is not said yet from this machine (or a saved copy of one), and tells what is the matter with it.
void apply_host(const ScenarioOptions& options, Scenario& scenario, Diagnostics& diagnostics) {
    const auto source = options.host_from.empty() ? live_source() : saved_source(options.host_from);
    const Machine machine = probe(*source);
    apply_machine(machine, scenario);
    for (const Finding& finding : doctor_findings(machine)) {
        if (finding.severity == FindingSeverity::note) continue;
        Diagnostic diagnostic;
        diagnostic.severity = Severity::warning;
        diagnostic.code = std::string(finding.code);
        diagnostic.pointer = "--this-host";
        const exporting::FindingText text = exporting::text_of(finding);
        diagnostic.message = text.message;
        diagnostic.hint = text.remedy;
        diagnostics.add(std::move(diagnostic));
    }
}

void apply_calibration(const std::string& file, Scenario& scenario, Diagnostics& diagnostics) {
    auto text = read_text(file, diagnostics);
    if (!text) return;
    const auto calibration = logs::read_calibration(std::move(*text), file, diagnostics);
    if (!calibration) return;
    logs::fill_in(*calibration, scenario);
    logs::apply(*calibration, scenario, diagnostics);
}

}  // namespace

std::shared_ptr<ScenarioOptions> add_scenario_options(CLI::App& command, Context& context) {
    auto options = std::make_shared<ScenarioOptions>();
    command.add_option("--scenario", options->scenario_file, "Scenario file (JSON, field names in snake_case); flags override it")
        ->type_name("FILE")
        ->group("Scenario");
    command.add_option("--calibration", options->calibration, "What a log of this deployment measured (kvplan log --save-calibration); flags override it")
        ->type_name("FILE")
        ->group("Scenario");
    command.add_flag("--this-host", options->this_host, "Fill in what is not given from this machine: RAM, limits, GPUs")->group("Host");
    command.add_option("--host-from", options->host_from, "The same from a copy that kvplan doctor --save wrote")->type_name("DIR")->group("Host");
    for (const FieldSpec& field : scenario_fields()) {
        const std::string name(field.name);
        const auto store = [options, name](const std::string& text) { options->values[name] = text; };
        CLI::Option* option = nullptr;
        if (field.kind == FieldKind::boolean) {
            // A switch may also be given a value: --async-scheduling=false.
            option = command.add_option_function<std::string>(option_names(field), store, std::string(field.help))->expected(0, 1)->default_str("")->type_name("");
        } else {
            option = command.add_option_function<std::string>(option_names(field), store, std::string(field.help))->type_name(std::string(field.value_name));
        }
        option->group(group_name(field.group))->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }
    command.add_option("--models-dir", context.catalogues.models_dir, "More model presets (JSON)")->type_name("DIR")->group("Catalogues");
    command.add_option("--hardware-dir", context.catalogues.hardware_dir, "More GPU and host presets (JSON)")->type_name("DIR")->group("Catalogues");
    command.add_option("--assume-family", context.catalogues.assume_family, "Read an unknown model_type by this family's rule")->type_name("FAMILY")->group("Catalogues");
    return options;
}

bool apply(const ScenarioOptions& options, Scenario& scenario, Diagnostics& diagnostics) {
    if (!options.scenario_file.empty())
        if (auto text = read_text(options.scenario_file, diagnostics)) (void)read_scenario(std::move(*text), options.scenario_file, scenario, diagnostics);
    for (const auto& [name, text] : options.values) {
        const FieldSpec* field = find_field(name);
        if (const auto failure = set_field(scenario, *field, text, "flag"))
            flag_fault(diagnostics, std::string(field->flags.front()), text, failure->expected, failure->hint);
    }
    if (!options.calibration.empty() && !diagnostics.has_errors()) apply_calibration(options.calibration, scenario, diagnostics);
    if (options.this_host || !options.host_from.empty()) apply_host(options, scenario, diagnostics);
    return !diagnostics.has_errors();
}

std::optional<Scenario> build_scenario(const ScenarioOptions& options, Context& context) {
    Scenario scenario;
    Diagnostics diagnostics;
    if (!apply(options, scenario, diagnostics) || !resolve(scenario, context.catalogues, diagnostics)) {
        fail(context, diagnostics);
        return std::nullopt;
    }
    show(context, diagnostics);
    return scenario;
}

}  // namespace kvplan::cli
