#include "cli/app.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <exception>
#include <map>
#include <ostream>
#include <span>

#include "cli/completion.hpp"
#include "cli/context.hpp"
#include "planner/engines/engine.hpp"
#include "models/hardware/gpu_catalogue.hpp"

namespace kvplan::cli {

namespace {

/// "kvplan 0.1.0", and the newest rules and catalogues in it.
std::string version_text() {
    std::string text = "kvplan " KVPLAN_VERSION "\nrules: ";
    EngineOptions options;
    text += engine_of(options).rule_set(options);
    options.kind = EngineKind::vllm;
    text += ", " + engine_of(options).rule_set(options);
    return text + "\ncatalogue of models and GPUs: " + std::string(kCatalogueDate);
}

void add_global_options(CLI::App& app, Context& context) {
    const auto set_format = [&context](const std::string& name) {
        static const std::map<std::string, Format> kFormats{{"text", Format::text}, {"json", Format::json}, {"csv", Format::csv}, {"markdown", Format::markdown}};
        const auto found = kFormats.find(CLI::detail::to_lower(name));
        if (found == kFormats.end()) throw CLI::ValidationError("--format", "text, json, csv or markdown; found " + name);
        context.format = found->second;
    };
    app.add_option_function<std::string>("--format", set_format, "text, json, csv or markdown")->type_name("FORMAT");
    app.add_option("--output", context.output, "Write the result to a file, whole or not at all")->type_name("FILE");
    app.add_option("--color", context.color, "auto, always or never")->check(CLI::IsMember({"auto", "always", "never"}).description(""))->type_name("WHEN");
    app.add_flag("--quiet", context.quiet, "No warnings on stderr");
    app.add_flag("--verbose", context.verbose, "Notes on stderr, small items in tables");
}

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

// CLI11's own texts name the fault but not what was meant.
void explain(const CLI::App& app, const CLI::ParseError& error, std::ostream& err) {
    err << "kvplan: " << escape_for_terminal(error.what()) << "\n";
    const CLI::App* command = &app;
    for (const CLI::App* sub : app.get_subcommands()) command = sub;
    std::vector<std::string> known = option_names(*command);
    for (const std::string& name : option_names(app)) known.push_back(name);
    std::vector<std::string> commands;
    if (command == &app)
        for (const CLI::App* sub : app.get_subcommands(nullptr)) commands.push_back(sub->get_name());
    for (const std::string& extra : app.remaining(true)) {
        const bool is_flag = extra.rfind("--", 0) == 0;
        const auto nearest = is_flag ? nearest_names(extra.substr(0, extra.find('=')), std::span<const std::string>(known))
                                     : nearest_names(extra, std::span<const std::string>(commands));
        if (!nearest.empty()) err << "  " << escape_for_terminal(extra) << ": " << did_you_mean(nearest) << "\n";
    }
    err << "Run `kvplan" << (command == &app ? std::string{} : " " + command->get_name()) << " --help` for what is known.\n";
}

struct Command {
    std::string_view name;
    void (*add)(CLI::App&, Context&);
};

constexpr Command kCommands[] = {
    {"plan", add_plan_command},
    {"solve", add_solve_command},
    {"check", add_check_command},
    {"log", add_log_command},
    {"doctor", add_doctor_command},
    {"gpus", add_gpus_command},
    {"models", add_models_command},
    {"engines", add_engines_command},
    {"explain", add_explain_command},
    {"trace", add_trace_command},
    {"simulate", add_simulate_command},
    {"sweep", add_sweep_command},
    {"merge", add_merge_command},
    {"compare", add_compare_command},
    {"help", add_help_command},
};

// The command that the line names; null when it names none (then all are needed, for help and "did you mean").
const Command* named_command(int argc, const char* const* argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--format" || word == "--output" || word == "--color") ++i;
        if (word.substr(0, 1) == "-") continue;
        const auto* found = std::find_if(std::begin(kCommands), std::end(kCommands), [&](const Command& c) { return c.name == word; });
        return found == std::end(kCommands) ? nullptr : found;
    }
    return nullptr;
}

// Making the options of every command takes longer than planning: only those of the named one are made.
void add_commands(CLI::App& app, Context& context, const Command* named) {
    for (const Command& command : kCommands)
        if (named == nullptr || named == &command) command.add(app, context);
}

std::vector<std::string> words_after(int argc, const char* const* argv, int first) { return {argv + std::min(first, argc), argv + argc}; }

/// What the shells' scripts and the packaging ask; not for people, so not in the help.
std::optional<int> run_hidden(int argc, const char* const* argv, CLI::App& app, Context& context) {
    const std::string_view word = argc > 1 ? argv[1] : "";
    if (word == "__complete") {
        const bool dashes = argc > 2 && std::string_view(argv[2]) == "--";
        for (const std::string& found : completions(app, words_after(argc, argv, dashes ? 3 : 2))) *context.out << found << "\n";
        return kDone;
    }
    if (word == "__manual") {
        *context.out << manual_page(app, "kvplan " KVPLAN_VERSION);
        return kDone;
    }
    if (word != "completion") return std::nullopt;
    const std::string script = completion_script(argc > 2 ? argv[2] : "");
    if (script.empty()) {
        *context.err << "kvplan: completion bash, zsh or fish: for example `source <(kvplan completion bash)`\n";
        return kUsage;
    }
    *context.out << script;
    return kDone;
}

int parse_and_run(int argc, const char* const* argv, Context& context) {
    CLI::App app{"Capacity planner for LLM serving: KV tokens, concurrency, throughput ceilings and safe host caches, before the launch", "kvplan"};
    app.set_version_flag("--version", version_text);
    app.require_subcommand(1);
    app.fallthrough();
    app.footer("Example:\n  kvplan plan --model kimi-k2.5 --gpu rtx-pro-6000-blackwell --tp 8 --mem-fraction-static 0.85 --host-ram 449GB\n\n`kvplan COMMAND --help` says more, with an example each; `kvplan completion bash|zsh|fish` prints completions for a shell.");
    add_global_options(app, context);
    add_commands(app, context, named_command(argc, argv));
    if (const auto code = run_hidden(argc, argv, app, context)) return *code;
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& success) {
        return app.exit(success, *context.out, *context.err);
    } catch (const CLI::ParseError& error) {
        explain(app, error, *context.err);
        return kUsage;
    }
    return context.exit_code;
}

}  // namespace

bool is_command(std::string_view name) {
    return std::any_of(std::begin(kCommands), std::end(kCommands), [&](const Command& c) { return c.name == name; });
}

int run(int argc, const char* const* argv, std::ostream& out, std::ostream& err) {
    // A reader that goes away (`| head`) ends the writing, not the program.
    std::signal(SIGPIPE, SIG_IGN);
    Context context;
    context.out = &out;
    context.err = &err;
    try {
        return parse_and_run(argc, argv, context);
    } catch (const OverflowError& error) {
        err << "kvplan: " << error.what() << ": a figure of the input is too large\n";
        return kUsage;
    } catch (const std::exception& error) {
        err << "kvplan: internal error: " << escape_for_terminal(error.what()) << "\n";
        return kInternal;
    }
}

}  // namespace kvplan::cli
