#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/context.hpp"
#include "cli/scenario_options.hpp"
#include "planner/export/correction_report.hpp"
#include "planner/export/json.hpp"
#include "planner/export/plan_report.hpp"
#include "planner/findings.hpp"
#include "planner/launch/correct.hpp"
#include "planner/launch/launch.hpp"
#include "planner/launch/launch_findings.hpp"
#include "planner/plan.hpp"
#include "planner/fields/fields.hpp"

namespace kvplan::cli {
namespace {

constexpr const char* kExample =
    "Example:\n"
    "  kvplan check --gpu rtx-pro-6000-blackwell --host-available 408GB -- \\\n"
    "    python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp 8 \\\n"
    "    --enable-hierarchical-cache --hicache-size 300\n"
    "    says that 300 GB are taken by each of the 8 ranks, and which size is safe.\n"
    "  kvplan check --gpu h200 --file serve.sh        a script, a Compose file or a Kubernetes manifest\n"
    "  helm template chart | kvplan check --file -\n"
    "    Nothing is run. Exit code 0: fits and is safe; 1: does not fit or is unsafe; 2: wrong input, or no hardware known.";

struct CheckOptions {
    std::shared_ptr<ScenarioOptions> scenario;
    std::string file;
    std::size_t launch = 1;
};

std::vector<launch::ParsedLaunch> parse(const CheckOptions& options, const std::vector<std::string>& words, Diagnostics& diagnostics) {
    if (options.file.empty()) return launch::parse_words(words, diagnostics);
    const auto text = read_text(options.file, diagnostics);
    if (!text) return {};
    return launch::parse_file(*text, options.file == "-" ? "standard input" : options.file, diagnostics);
}

void add_error(Diagnostics& diagnostics, std::string code, std::string message, std::string hint) {
    Diagnostic d;
    d.code = std::move(code);
    d.message = std::move(message);
    d.hint = std::move(hint);
    diagnostics.add(std::move(d));
}

/// The launch that was asked for, of those that were found; what else was found is told.
const launch::ParsedLaunch* chosen(const CheckOptions& options, const std::vector<launch::ParsedLaunch>& all, Diagnostics& diagnostics) {
    if (options.launch > all.size()) {
        add_error(diagnostics, "check.launch", "there is no launch number " + std::to_string(options.launch), "there are " + std::to_string(all.size()));
        return nullptr;
    }
    if (all.size() > 1) {
        Diagnostic d;
        d.severity = Severity::warning;
        d.code = "check.several";
        d.message = std::to_string(all.size()) + " launches were found; this is the plan of number " + std::to_string(options.launch) + " (" + all[options.launch - 1].source + ")";
        for (std::size_t i = 0; i < all.size(); ++i) d.hint += (i > 0 ? "; " : "--launch N takes another: ") + std::to_string(i + 1) + " is " + all[i].source;
        if (options.launch > 0) diagnostics.add(std::move(d));
    }
    return &all[options.launch - 1];
}

/// The scenario of the launch with the command line's own flags over it.
std::optional<Scenario> scenario_of(const CheckOptions& options, const launch::ParsedLaunch& parsed, Context& context, Diagnostics& diagnostics) {
    Scenario scenario;
    // A version that is given by hand decides which flags exist.
    if (const auto engine = options.scenario->values.find("engine"); engine != options.scenario->values.end() && parsed.engine_version.empty()) {
        launch::ParsedLaunch dated = parsed;
        const std::size_t at = engine->second.find('@');
        if (at != std::string::npos) dated.engine_version = engine->second.substr(at + 1);
        launch::apply(dated, scenario, diagnostics);
    } else {
        launch::apply(parsed, scenario, diagnostics);
    }
    if (!apply(*options.scenario, scenario, diagnostics)) return std::nullopt;
    if (scenario.engine.kind != parsed.engine) {
        add_error(diagnostics, "check.engine", "the command launches another engine than --engine names", "leave --engine out, or give only its version");
        return std::nullopt;
    }
    if (scenario.hardware.gpu_name.empty() && !scenario.gpu) {
        add_error(diagnostics, "check.no-hardware", "nothing says which GPUs the command runs on, so it cannot be judged",
                  "give --gpu NAME (kvplan gpus list), or --this-host on the machine itself");
        return std::nullopt;
    }
    if (!resolve(scenario, context.catalogues, diagnostics)) return std::nullopt;
    return scenario;
}

nlohmann::ordered_json parsed_json(const launch::ParsedLaunch& parsed) {
    nlohmann::ordered_json flags = nlohmann::ordered_json::object(), unknown = nlohmann::ordered_json::array();
    for (const launch::LaunchFlag& flag : parsed.flags) flags[flag.name] = flag.has_value ? nlohmann::ordered_json(flag.value) : nlohmann::ordered_json(true);
    for (const launch::UnknownFlag& flag : parsed.unknown)
        unknown.push_back({{"flag", flag.name}, {"value", flag.value}, {"nearest", flag.nearest}});
    return {{"engine", parsed.engine == EngineKind::sglang ? "sglang" : "vllm"},
            {"version", parsed.engine_version.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(parsed.engine_version)},
            {"source", parsed.source},
            {"model", parsed.model},
            {"flags", flags},
            {"unknown", unknown},
            {"environment", parsed.environment}};
}

/// What stands for a flag in the accepted form of the command: empty when it was left out, none when it is as it was.
std::optional<std::string> replacement(const launch::ParsedLaunch& parsed, const launch::ParsedLaunch& accepted, const launch::LaunchFlag& flag) {
    const auto& kept = accepted.flags;
    if (std::any_of(kept.begin(), kept.end(), [&](const launch::LaunchFlag& f) { return f.name == flag.name; })) return std::nullopt;
    for (const launch::UnknownFlag& unknown : parsed.unknown)
        if (unknown.name == flag.name && !unknown.nearest.empty() && unknown.differs.empty()) return unknown.nearest.front();
    return std::string();
}

nlohmann::ordered_json document_of(const Scenario& scenario, const Plan& result, const launch::ParsedLaunch& parsed, const launch::ParsedLaunch& accepted, const launch::Corrected& corrected,
                                   const std::string& command) {
    // launch.changed has the flags of the command that were set anew, those that were renamed or left out among them.
    nlohmann::ordered_json document = exporting::plan_json(scenario, result);
    nlohmann::ordered_json changed = nlohmann::ordered_json::array();
    for (const launch::Correction& c : corrected.corrections)
        changed.push_back({{"flag", exporting::flag_of(c, parsed.engine)}, {"from", c.from}, {"to", c.change.value}, {"why", c.why}});
    for (const launch::LaunchFlag& flag : parsed.flags) {
        const auto name = replacement(parsed, accepted, flag);
        if (name) changed.push_back({{"flag", name->empty() ? flag.name : *name}, {"from", name->empty() ? flag.value : flag.name}, {"to", *name}, {"why", "the engine's parser stops on " + flag.name}});
    }
    document["launch"] = {{"command", command}, {"changed", changed}, {"notes", nlohmann::ordered_json::array()}};
    document["parsed"] = parsed_json(parsed);
    return document;
}

exporting::ReportSection correction_section(const launch::ParsedLaunch& parsed, const launch::ParsedLaunch& accepted, const launch::Corrected& corrected, const std::string& command) {
    exporting::ReportSection section = exporting::correction_section(corrected, command);
    std::vector<std::string> replaced;
    for (const launch::LaunchFlag& flag : parsed.flags)
        if (const auto name = replacement(parsed, accepted, flag)) replaced.push_back(flag.name + (name->empty() ? " taken away." : " -> " + *name + "."));
    section.sentences.insert(section.sentences.begin(), replaced.begin(), replaced.end());
    return section;
}

exporting::Report report_of(const Scenario& scenario, const Plan& result, const launch::ParsedLaunch& parsed, const launch::ParsedLaunch& accepted, const launch::Corrected& corrected, const std::string& command, bool verbose) {
    exporting::Report report = exporting::plan_report(scenario, result, verbose);
    auto& sections = report.sections;
    for (std::size_t i = 0; i < sections.size();) {
        if (sections[i].title == "Launch") sections.erase(sections.begin() + static_cast<std::ptrdiff_t>(i));
        else ++i;
    }
    if (!corrected.corrections.empty() || accepted.arguments != parsed.arguments) sections.push_back(correction_section(parsed, accepted, corrected, command));
    return report;
}

/// What the other servers of the same script or Compose file take of the host at the high end, their host pools and processes.
/// Pods may run anywhere, so those of a manifest are not counted.
Bytes taken_by_others(const CheckOptions& options, const std::vector<launch::ParsedLaunch>& all, Context& context) {
    Bytes taken;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i + 1 == options.launch || all[i].source.find(": container ") != std::string::npos) continue;
        Diagnostics unheard;
        const auto scenario = scenario_of(options, all[i], context, unheard);
        if (!scenario) continue;
        const HostPlan host = plan(*scenario).host;
        taken += host.required_high_bytes - host.reserve_bytes;
    }
    return taken;
}

void check(const CheckOptions& options, const std::vector<std::string>& words, Context& context) {
    Diagnostics diagnostics;
    const auto launches = parse(options, words, diagnostics);
    const launch::ParsedLaunch* parsed = diagnostics.has_errors() || launches.empty() ? nullptr : chosen(options, launches, diagnostics);
    auto scenario = parsed == nullptr ? std::nullopt : scenario_of(options, *parsed, context, diagnostics);
    if (!scenario) return fail(context, diagnostics);
    show(context, diagnostics);
    const Bytes others = taken_by_others(options, launches, context);
    if (others.count() > 0) scenario->hardware.host.used = scenario->hardware.host.used.value_or(Bytes{0}) + others;
    Plan result = plan(*scenario);
    const launch::ParsedLaunch accepted = launch::accepted(*parsed, *scenario);
    Diagnostics told_before;
    auto meant = accepted.arguments == parsed->arguments ? std::nullopt : scenario_of(options, accepted, context, told_before);
    if (meant) meant->hardware.host.used = scenario->hardware.host.used;
    const launch::Corrected corrected = meant ? launch::correct(*meant, plan(*meant)) : launch::correct(*scenario, result);
    for (Finding& finding : launch::launch_findings(*parsed, *scenario)) result.findings.push_back(std::move(finding));
    if (others.count() > 0)
        result.findings.push_back({"other_servers_counted", FindingSeverity::note, {{"servers", "count", static_cast<double>(launches.size() - 1), {}}, {"taken", "decimal_bytes", static_cast<double>(others.count()), {}}}, {"host_used"}, {}});
    std::stable_sort(result.findings.begin(), result.findings.end(), [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
    std::vector<launch::FlagChange> changes;
    for (const launch::Correction& c : corrected.corrections) changes.push_back(c.change);
    const std::string command = launch::rewritten(meant ? accepted : *parsed, changes);
    if (!write_formatted(context, document_of(*scenario, result, *parsed, meant ? accepted : *parsed, corrected, command), report_of(*scenario, result, *parsed, meant ? accepted : *parsed, corrected, command, context.verbose))) return;
    context.exit_code = is_sound(result) ? kDone : kUnfit;
}

}  // namespace

void add_check_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("check", "A launch command, script or manifest -> its plan, and the corrected command");
    command->footer(kExample);
    auto options = std::make_shared<CheckOptions>();
    options->scenario = add_scenario_options(*command, context);
    auto words = std::make_shared<std::vector<std::string>>();
    command->add_option("--file", options->file, "Shell script, Compose file or Kubernetes manifest; - for standard input")->type_name("FILE")->group("Check");
    command->add_option("--launch", options->launch, "Which of several launches (default 1)")->check(CLI::Range(1, 1000).description(""))->type_name("N")->group("Check");
    command->add_option("command", *words, "The launch command, after --")->type_name("COMMAND");
    command->callback([options, words, &context] {
        if (words->empty() == options->file.empty()) {
            Diagnostics diagnostics;
            add_error(diagnostics, "check.input", words->empty() ? "there is no command to check" : "a command and --file are both given", "kvplan check --gpu NAME -- COMMAND …, or --file FILE");
            return fail(context, diagnostics);
        }
        check(*options, *words, context);
    });
}

}  // namespace kvplan::cli
