#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/context.hpp"
#include "cli/scenario_options.hpp"
#include "planner/export/solution.hpp"
#include "units/parse.hpp"

namespace kvplan::cli {

namespace {

constexpr const char* kExample =
    "Example:\n"
    "  kvplan solve min-gpus --model llama-3.1-70b --gpu h200 --context-length 32768 --target-concurrency 64\n"
    "    the fewest GPUs whose pools hold 64 requests of 32,768 tokens at once, with the layout\n"
    "  kvplan solve max-hicache-size --model kimi-k2.5 --gpu h200 --tp 8 --host-ram 2TB\n"
    "    the largest --hicache-size that the host can take. Exit code 1: there is no answer.";

struct SolveOptions {
    std::string question, ttft, itl;
    Targets targets;
};

std::optional<double> seconds(const std::string& flag, const std::string& text, Diagnostics& diagnostics) {
    if (text.empty()) return std::nullopt;
    const Parsed<double> parsed = parse_duration_seconds(text);
    if (const auto* value = std::get_if<double>(&parsed); value != nullptr && *value > 0.0) return *value;
    const auto* failure = std::get_if<ParseFailure>(&parsed);
    Diagnostic diagnostic;
    diagnostic.code = "value.duration";
    diagnostic.pointer = flag;
    diagnostic.message = "no time";
    diagnostic.found = text;
    diagnostic.expected = failure != nullptr ? failure->expected : "a time above 0";
    diagnostic.hint = failure != nullptr ? failure->hint : "50ms, 2s";
    diagnostics.add(std::move(diagnostic));
    return std::nullopt;
}

void answer(const SolveOptions& options, const ScenarioOptions& scenario_options, Context& context) {
    Diagnostics diagnostics;
    Targets targets = options.targets;
    targets.ttft_seconds = seconds("--target-ttft", options.ttft, diagnostics);
    targets.itl_seconds = seconds("--target-itl", options.itl, diagnostics);
    if (diagnostics.has_errors()) return fail(context, diagnostics);
    const auto scenario = build_scenario(scenario_options, context);
    if (!scenario) return;
    const Solution solution = solve(*scenario, *question_named(options.question), targets);
    if (!write_formatted(context, exporting::solution_json(solution), exporting::solution_report(solution))) return;
    context.exit_code = solution.answer ? kDone : kUnfit;
}

}  // namespace

void add_solve_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("solve", "The inverse: which value makes a plan hold");
    command->footer(kExample);
    const auto options = std::make_shared<SolveOptions>();
    std::vector<std::string> names;
    for (const std::string_view name : question_names()) names.emplace_back(name);
    command->add_option("question", options->question, "One of: max-hicache-size, max-hicache-ratio, mem-fraction, min-gpus, max-context, max-concurrency, min-host-ram")
        ->required()
        ->check(CLI::IsMember(names).description(""))
        ->type_name("QUESTION");
    command->add_option("--target-concurrency", options->targets.concurrency, "Requests at once, whole deployment")->check(CLI::PositiveNumber.description(""))->type_name("N");
    command->add_option("--target-pool-tokens", options->targets.pool_tokens, "Distinct tokens the pools hold, whole deployment")->check(CLI::PositiveNumber.description(""))->type_name("N");
    command->add_option("--target-tokens-per-second", options->targets.tokens_per_second, "Expected output tokens/s")->check(CLI::PositiveNumber.description(""))->type_name("X");
    command->add_option("--target-ttft", options->ttft, "Expected time to first token: 2s, 500ms")->type_name("TIME");
    command->add_option("--target-itl", options->itl, "Expected time between tokens: 50ms")->type_name("TIME");
    const auto scenario_options = add_scenario_options(*command, context);
    command->callback([options, scenario_options, &context] { answer(*options, *scenario_options, context); });
}

}  // namespace kvplan::cli
