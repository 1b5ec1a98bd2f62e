#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/context.hpp"
#include "cli/scenario_options.hpp"
#include "planner/export/correction_report.hpp"
#include "planner/export/json.hpp"
#include "planner/export/launch.hpp"
#include "planner/export/launch_files.hpp"
#include "planner/export/plan_report.hpp"
#include "planner/findings.hpp"
#include "planner/launch/correct.hpp"
#include "planner/plan.hpp"

namespace kvplan::cli {

namespace {

constexpr const char* kExample =
    "Example:\n"
    "  kvplan plan --model kimi-k2.5 --gpu rtx-pro-6000-blackwell --tp 8 --mem-fraction-static 0.85 --host-ram 449GB\n"
    "    says how the memory of each GPU is used, how many KV tokens fit, how many requests run at once\n"
    "    and what a host cache may take. Exit code 0: fits and is safe; 1: does not fit or is unsafe; 2: wrong input.\n"
    "  kvplan plan … --emit shell|compose|kubernetes\n"
    "    writes the launch as a script, a Compose service or a Deployment with GPUs, memory limit and /dev/shm that match.";

/// The launch in the form asked for instead of the plan; false when it cannot be written.
bool emit(const std::string& form_name, const Scenario& scenario, const Plan& result, Context& context) {
    const auto form = form_name == "compose" ? exporting::LaunchForm::compose : form_name == "kubernetes" ? exporting::LaunchForm::kubernetes : exporting::LaunchForm::shell;
    Diagnostic d;
    d.pointer = "--emit";
    d.message = exporting::launch_file_refusal(scenario, form);
    Diagnostics diagnostics;
    if (!d.message.empty()) {
        d.code = "plan.emit";
        d.hint = "--emit shell gives the command of each node";
        diagnostics.add(std::move(d));
        fail(context, diagnostics);
        return false;
    }
    if (!is_sound(result)) {
        d.severity = Severity::warning;
        d.code = "plan.emit-unsound";
        d.message = "this launch is written as asked, and its plan says: " + exporting::verdict(result);
        diagnostics.add(std::move(d));
        show(context, diagnostics);
    }
    return write_result(context, exporting::launch_file(scenario, result, form));
}

/// The plan, and what would make an unsound one sound.
exporting::Report report_of(const Scenario& scenario, const Plan& result, bool verbose) {
    exporting::Report report = exporting::plan_report(scenario, result, verbose);
    if (is_sound(result)) return report;
    const launch::Corrected corrected = launch::correct(scenario, result);
    if (!corrected.corrections.empty()) report.sections.push_back(exporting::correction_section(corrected, exporting::launch_text(corrected.scenario, corrected.plan).command));
    return report;
}

}  // namespace

void add_plan_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("plan", "One scenario -> one plan");
    command->footer(kExample);
    const auto options = add_scenario_options(*command, context);
    auto form = std::make_shared<std::string>();
    command->add_option("--emit", *form, "shell, compose or kubernetes: the launch itself instead of the plan")->check(CLI::IsMember({"shell", "compose", "kubernetes"}).description(""))->type_name("FORM");
    command->callback([options, form, &context] {
        const auto scenario = build_scenario(*options, context);
        if (!scenario) return;
        const Plan result = plan(*scenario);
        if (!form->empty()) {
            if (!emit(*form, *scenario, result, context)) return;
        } else if (!write_formatted(context, exporting::plan_json(*scenario, result), report_of(*scenario, result, context.verbose))) {
            return;
        }
        context.exit_code = is_sound(result) ? kDone : kUnfit;
    });
}

}  // namespace kvplan::cli
