#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/context.hpp"
#include "cli/scenario_options.hpp"
#include "planner/export/json.hpp"
#include "planner/export/plan_report.hpp"
#include "planner/findings.hpp"
#include "planner/plan.hpp"

namespace kvplan::cli {

namespace {

constexpr const char* kExample =
    "Example:\n"
    "  kvplan plan --model kimi-k2.5 --gpu rtx-pro-6000-blackwell --tp 8 --mem-fraction-static 0.85 --host-ram 449GB\n"
    "    says how the memory of each GPU is used, how many KV tokens fit, how many requests run at once\n"
    "    and what a host cache may take. Exit code 0: fits and is safe; 1: does not fit or is unsafe; 2: wrong input.";

}  // namespace

void add_plan_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("plan", "One scenario -> one plan");
    command->footer(kExample);
    const auto options = add_scenario_options(*command, context);
    command->callback([options, &context] {
        const auto scenario = build_scenario(*options, context);
        if (!scenario) return;
        const Plan result = plan(*scenario);
        if (!write_formatted(context, exporting::plan_json(*scenario, result), exporting::plan_report(*scenario, result, context.verbose))) return;
        context.exit_code = is_sound(result) ? kDone : kUnfit;
    });
}

}  // namespace kvplan::cli
