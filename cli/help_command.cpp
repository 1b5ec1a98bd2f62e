#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "cli/app.hpp"
#include "cli/context.hpp"
#include "planner/fields/fields.hpp"

namespace kvplan::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Topic {
    std::string_view name, what;
    std::vector<std::string> sentences;
};

const std::vector<Topic>& topics() {
    static const std::vector<Topic> all = {
        {"scenario", "every field of a scenario, with its flags", {"Field names are the keys of a scenario file (--scenario FILE, JSON, docs/scenario.schema.json) and of sweeps; flags of the command line stand over the file."}},
        {"units", "sizes, and what the engines mean by GB",
         {"A size needs its unit: 449GB is 449 x 10^9 bytes, 449GiB is 449 x 2^30. A bare number or \"80G\" is refused, because both are meant by it.",
          "An engine's own flag takes the engine's bare number in the engine's unit: --hicache-size is 10^9 bytes per rank, --kv-offloading-size GiB over all ranks, LMCACHE_MAX_LOCAL_CPU_SIZE GB per rank, "
          "--kv-cache-memory-bytes bytes. With a unit it is converted.",
          "SGLang prints GiB as \"GB\" for GPU memory and means 10^9 bytes for host pools. kvplan prints GiB for GPUs and decimal GB for hosts, and says which; JSON holds bytes.",
          "Manifests keep their own units: 64G of Kubernetes is 64 x 10^9, 64Gi 64 x 2^30; 64g of Docker and Compose is 64 x 2^30."}},
        {"estimates", "low, expected, high, and how a figure is known",
         {"exact: arithmetic from the checkpoint. engine_rule: the engine's own formula at that version. measured: from this deployment's log. assumed: a figure of the catalogue, with its interval.",
          "A plan fits by expected values; it is safe by the high end of every cost. Throughput and latency are bounds unless they are called expected.",
          "Less is assumed with --gpu-free and --weights-per-gpu from a log, or with a calibration (kvplan log FILE --save-calibration CAL, then --calibration CAL)."}},
        {"formats", "text, json, csv, markdown",
         {"--format json: one document on stdout and nothing else; sizes in bytes; docs/plan.schema.json describes a plan.",
          "--format csv: one line, or a line an entry for lists (gpus, models, engines, sweeps, starts of a log); an estimate x is x, x.low, x.high, x.basis.",
          "--format markdown: a page to paste. Text fits the terminal; colour only on a terminal and without NO_COLOR.", "--output FILE writes the whole result or nothing."}},
        {"exit-codes", "what a script can rely on",
         {"0: done; plan and check: fits and is safe. 1: planned, but does not fit, is unsafe or would not start; no answer (solve); a start failed (log); an error among the findings (doctor). 2: wrong usage or input. 70: a fault of kvplan."}},
    };
    return all;
}

exporting::ReportSection fields_section(FieldGroup group, const std::string& title) {
    exporting::ReportSection section{title, {{"field", "flags", "engine", "meaning"}, {}}, {}};
    for (const FieldSpec& field : scenario_fields()) {
        if (field.group != group) continue;
        std::string flags;
        for (const std::string_view flag : field.flags) flags += (flags.empty() ? "" : " ") + std::string(flag);
        const char* engine = field.engines == FieldEngines::any ? "" : field.engines == FieldEngines::sglang ? "SGLang" : "vLLM";
        section.table.rows.push_back({{std::string(field.name), flags, engine, std::string(field.help)}});
    }
    return section;
}

void show_topics(Context& context) {
    exporting::ReportSection section{"Topics", {{}, {}}, {"kvplan help COMMAND is kvplan COMMAND --help; kvplan explain NAME is about a figure of a plan or a finding."}};
    Json list = Json::array();
    for (const Topic& topic : topics()) {
        section.table.rows.push_back({{std::string(topic.name), std::string(topic.what)}});
        list.push_back({{"name", topic.name}, {"what", topic.what}});
    }
    write_formatted(context, Json{{"topics", list}}, {"kvplan help TOPIC", "", exporting::Tone::good, {section}});
}

void show_topic(const Topic& topic, Context& context) {
    exporting::Report report{"kvplan help " + std::string(topic.name), "", exporting::Tone::good, {{std::string(topic.what), {}, topic.sentences}}};
    if (topic.name == "scenario")
        for (const auto& [group, title] : {std::pair{FieldGroup::model, "Model"}, {FieldGroup::hardware, "Hardware"}, {FieldGroup::host, "Host"}, {FieldGroup::engine, "Engine"}, {FieldGroup::workload, "Workload"}})
            report.sections.push_back(fields_section(group, title));
    write_formatted(context, Json{{"name", topic.name}, {"what", topic.what}, {"text", topic.sentences}}, report);
}

void help(const std::string& name, Context& context) {
    if (name.empty()) return show_topics(context);
    for (const Topic& topic : topics())
        if (topic.name == name) return show_topic(topic, context);
    if (is_command(name)) {
        const char* words[] = {"kvplan", name.c_str(), "--help"};
        context.exit_code = run(3, words, *context.out, *context.err);
        return;
    }
    std::vector<std::string_view> names;
    for (const Topic& topic : topics()) names.push_back(topic.name);
    Diagnostic d;
    d.code = "help.unknown";
    d.message = "there is no topic and no command " + name;
    d.hint = did_you_mean(nearest_names(name, std::span<const std::string_view>(names)));
    if (d.hint.empty()) d.hint = "kvplan help lists the topics";
    Diagnostics diagnostics;
    diagnostics.add(std::move(d));
    fail(context, diagnostics);
}

}  // namespace

void add_help_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("help", "Longer help: scenario, units, estimates, formats, exit-codes");
    command->footer("Example:\n  kvplan help units       what GB means, and where it does not");
    auto name = std::make_shared<std::string>();
    command->add_option("topic", *name, "A topic or a command (default: the list of topics)")->type_name("TOPIC");
    command->callback([name, &context] { help(*name, context); });
}

}  // namespace kvplan::cli
