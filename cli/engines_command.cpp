#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/context.hpp"
#include "planner/engines/engine.hpp"

namespace kvplan::cli {

using Json = nlohmann::ordered_json;

namespace {

const Engine& engine_named(const std::string& name) {
    EngineOptions options;
    options.kind = name == "vllm" ? EngineKind::vllm : EngineKind::sglang;
    return engine_of(options);
}

void list_engines(Context& context) {
    exporting::ReportSection section{"Engines", {{"name", "newest rules", "rules"}, {}}, {}};
    Json list = Json::array();
    for (const char* name : {"sglang", "vllm"}) {
        const Engine& engine = engine_named(name);
        section.table.rows.push_back({{name, engine.rule_set({}), std::to_string(engine.rules().size())}, 0, false});
        list.push_back({{"name", name}, {"rule_set", engine.rule_set({})}, {"rules", engine.rules().size()}});
    }
    write_formatted(context, Json{{"engines", list}}, {"Engines", "", exporting::Tone::good, {section}});
}

void show_engine(Context& context, const std::string& name) {
    const Engine& engine = engine_named(name);
    exporting::Report report{name + ", rules of " + engine.rule_set({}), "", exporting::Tone::good, {}};
    Json list = Json::array();
    for (const EngineRule& rule : engine.rules()) {
        report.sections.push_back({std::string(rule.id) + ", since " + std::string(rule.since), {}, {std::string(rule.note), "Engine's file: " + std::string(rule.file)}});
        list.push_back({{"id", rule.id}, {"since", rule.since}, {"file", rule.file}, {"note", rule.note}});
    }
    write_formatted(context, Json{{"name", name}, {"rule_set", engine.rule_set({})}, {"rules", list}}, report);
}

}  // namespace

void add_engines_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("engines", "Engine rules: list, show");
    command->footer("Example:\n  kvplan engines show sglang");
    command->require_subcommand(0, 1);
    command->add_subcommand("list", "Engines and their newest rule sets")->callback([&context] { list_engines(context); });
    CLI::App* show_command = command->add_subcommand("show", "Every rule with the engine's file and date");
    const auto name = std::make_shared<std::string>();
    show_command->add_option("name", *name, "sglang or vllm")->required()->check(CLI::IsMember({"sglang", "vllm"}).description(""));
    show_command->callback([&context, name] { show_engine(context, *name); });
    command->callback([&context, command] {
        if (command->get_subcommands().empty()) list_engines(context);
    });
}

}  // namespace kvplan::cli
