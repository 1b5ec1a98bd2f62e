#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/context.hpp"
#include "models/write_file.hpp"
#include "models/hardware/probe.hpp"
#include "planner/doctor.hpp"
#include "planner/export/doctor_report.hpp"

namespace kvplan::cli {
namespace {

constexpr const char* kExample =
    "Example:\n"
    "  kvplan doctor                 what a launch on this machine would find\n"
    "  kvplan doctor --save copy     the files it reads, to look at elsewhere\n"
    "  kvplan doctor --from copy     the same report from such a copy\n"
    "    Nothing is ended, reset or changed. Exit code 1 when a finding is an error.";

struct DoctorOptions {
    std::string from, save;
};

bool save(const std::string& directory, const FileTexts& texts, Diagnostics& diagnostics) {
    for (const auto& [path, text] : texts) {
        const std::filesystem::path target = directory + path;
        std::error_code error;
        std::filesystem::create_directories(target.parent_path(), error);
        std::string failure = error ? error.message() : write_file(target.string(), text);
        if (failure.empty()) continue;
        Diagnostic d;
        d.code = "doctor.save";
        d.file = target.string();
        d.message = "the copy could not be written: " + failure;
        diagnostics.add(std::move(d));
        return false;
    }
    return true;
}

void examine(const DoctorOptions& options, Context& context) {
    Diagnostics diagnostics;
    std::error_code error;
    if (!options.from.empty() && !std::filesystem::is_directory(options.from, error)) {
        Diagnostic d;
        d.code = "doctor.from";
        d.file = options.from;
        d.message = "there is no such directory";
        d.expected = "a copy that kvplan doctor --save wrote: proc/meminfo, sys/fs/cgroup/…, commands/…";
        diagnostics.add(std::move(d));
        return fail(context, diagnostics);
    }
    const auto source = options.from.empty() ? live_source() : saved_source(options.from);
    FileTexts texts;
    const Machine machine = probe(*recording(*source, texts));
    if (!options.save.empty() && !save(options.save, texts, diagnostics)) return fail(context, diagnostics);
    const std::vector<Finding> findings = doctor_findings(machine);
    if (!write_formatted(context, exporting::doctor_json(machine, findings), exporting::doctor_report(machine, findings))) return;
    const bool bad = !findings.empty() && findings.front().severity == FindingSeverity::error;
    context.exit_code = bad ? kUnfit : kDone;
}

}  // namespace

void add_doctor_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("doctor", "This machine before a launch: RAM, limits, GPUs, memory that nobody holds");
    command->footer(kExample);
    auto options = std::make_shared<DoctorOptions>();
    command->add_option("--from", options->from, "A saved copy instead of this machine")->type_name("DIR");
    command->add_option("--save", options->save, "Keep a copy of what was read")->type_name("DIR");
    command->callback([options, &context] { examine(*options, context); });
}

}  // namespace kvplan::cli
