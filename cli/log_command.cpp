#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/context.hpp"
#include "models/write_file.hpp"
#include "cli/scenario_options.hpp"
#include "planner/export/log_json.hpp"
#include "planner/export/prometheus.hpp"
#include "planner/log/calibration.hpp"
#include "planner/log/live.hpp"
#include "planner/log/log_reader.hpp"

namespace kvplan::cli {
namespace {

constexpr const char* kExample =
    "Example:\n"
    "  kvplan log server.log --gpu h200 --save-calibration here.json\n"
    "    what the start really took against its plan, and the cause of each gap; then\n"
    "  kvplan plan --calibration here.json --mem-fraction-static 0.9\n"
    "    plans another setting of the same deployment from what was measured.\n"
    "  docker logs llm 2>&1 | kvplan log -          curl -s host:30000/get_server_info | kvplan log -\n"
    "Reads SGLang and vLLM logs through any collector, /get_server_info and Prometheus scrapes.\n"
    "Exit code 0: read; 1: a start failed; 2: wrong input.";

struct LogOptions {
    std::shared_ptr<ScenarioOptions> scenario;
    std::string file, save_calibration, emit;
    std::size_t start = 0;
};

void add_error(Diagnostics& diagnostics, std::string code, std::string file, std::string message, std::string hint, Severity severity = Severity::error) {
    Diagnostic d;
    d.severity = severity;
    d.code = std::move(code);
    d.file = std::move(file);
    d.message = std::move(message);
    d.hint = std::move(hint);
    diagnostics.add(std::move(d));
}

/// What a file is that no line can be read from; empty when its bytes may be text.
std::string unreadable_form(std::string_view head) {
    struct Magic {
        std::string_view bytes, what;
    };
    static constexpr Magic kForms[] = {{"\x1f\x8b", "gzip: zcat FILE | kvplan log -"}, {"\x28\xb5\x2f\xfd", "zstd: zstdcat FILE | kvplan log -"}, {"\xfd" "7zXZ", "xz: xzcat FILE | kvplan log -"},
                                       {"BZh", "bzip2: bzcat FILE | kvplan log -"}, {"PK\x03\x04", "a zip archive: unzip it first"},
                                       {"\xff\xfe", "UTF-16, as PowerShell writes it: iconv -f UTF-16 -t UTF-8 FILE | kvplan log -"},
                                       {"\xfe\xff", "UTF-16: iconv -f UTF-16 -t UTF-8 FILE | kvplan log -"}};
    for (const Magic& form : kForms)
        if (head.substr(0, form.bytes.size()) == form.bytes) return std::string(form.what);
    return {};
}

// The first piece decides: a JSON document and a scrape are small and read whole, a log streams.
std::optional<logs::LogRecord> read_stream(std::istream& in, const std::string& name, Diagnostics& diagnostics) {
    constexpr std::size_t kPiece = std::size_t{1} << 20, kMostWhole = std::size_t{64} << 20;
    std::string piece(kPiece, '\0');
    const auto next = [&] {
        in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
        return std::string_view(piece.data(), static_cast<std::size_t>(in.gcount()));
    };
    std::string_view first = next();
    if (const std::string form = unreadable_form(first); !form.empty()) {
        add_error(diagnostics, "log.not-text", name, "the input is not plain text but " + form.substr(0, form.find(": ")), form.substr(form.find(": ") + 2));
        return std::nullopt;
    }
    const logs::LiveKind kind = logs::live_kind(first);
    if (kind != logs::LiveKind::none) {
        std::string text(first);
        for (std::string_view more = next(); !more.empty() && text.size() < kMostWhole; more = next()) text += more;
        return logs::read_live(std::move(text), kind, name, diagnostics);
    }
    logs::LogReader reader;
    for (; !first.empty(); first = next()) reader.feed(first);
    return reader.finish();
}

std::optional<logs::LogRecord> read_input(const std::string& file, Diagnostics& diagnostics) {
    if (file == "-") return read_stream(std::cin, "standard input", diagnostics);
    std::ifstream in(file, std::ios::binary);
    if (!in || in.peek() == std::ifstream::traits_type::eof()) {
        add_error(diagnostics, in.is_open() ? "log.empty" : "file.missing", file, in.is_open() ? "the file is empty or cannot be read" : "the file cannot be opened", "");
        return std::nullopt;
    }
    return read_stream(in, file, diagnostics);
}

// The start to calibrate from: the one asked for, else the last that tells its pool.
std::optional<std::size_t> calibrating_start(const LogOptions& options, const std::vector<logs::StartAnalysis>& starts) {
    if (options.start > 0) return options.start <= starts.size() ? std::optional(options.start - 1) : std::nullopt;
    for (std::size_t i = starts.size(); i > 0; --i)
        if (starts[i - 1].scenario && starts[i - 1].seen.max_total_num_tokens) return i - 1;
    return std::nullopt;
}

bool save_calibration(const LogOptions& options, const std::vector<logs::StartAnalysis>& starts, Context& context, Diagnostics& diagnostics) {
    const auto index = calibrating_start(options, starts);
    if (!index || !starts[*index].scenario) {
        std::string why = "no start of the log tells enough";
        for (const auto& start : starts)
            if (!start.not_planned.empty()) why = start.not_planned;
        add_error(diagnostics, "calibration.impossible", options.file, "no calibration was written: " + why, "name what is missing with --model and --gpu");
        return false;
    }
    const auto made = logs::calibrate(*starts[*index].scenario, starts[*index].seen, options.file + ", start " + std::to_string(*index + 1));
    if (const auto* none = std::get_if<logs::NoCalibration>(&made)) {
        add_error(diagnostics, "calibration.impossible", options.file, "no calibration was written: " + none->why, "");
        return false;
    }
    const std::string failure = write_file(options.save_calibration, logs::calibration_json(std::get<logs::Calibration>(made)));
    if (!failure.empty()) add_error(diagnostics, "file.write", options.save_calibration, failure, "");
    if (failure.empty() && context.verbose) *context.err << "kvplan: calibration written to " << escape_for_terminal(options.save_calibration) << "\n";
    return failure.empty();
}

void run_log(const LogOptions& options, Context& context) {
    Diagnostics diagnostics;
    const auto log = read_input(options.file, diagnostics);
    if (!log || diagnostics.has_errors()) return fail(context, diagnostics);
    if (log->starts.empty()) {
        add_error(diagnostics, "log.nothing-known", options.file, "no line of a known SGLang or vLLM log was found in " + std::to_string(log->lines) + " lines", "give the server's own log, from its start");
        return fail(context, diagnostics);
    }
    const logs::Overrides overrides = [&](Scenario& scenario, Diagnostics& faults) { return apply(*options.scenario, scenario, faults); };
    std::vector<logs::StartAnalysis> starts;
    for (const logs::StartRecord& start : log->starts) {
        starts.push_back(logs::analyse(start, overrides, context.catalogues, diagnostics));
        if (diagnostics.has_errors()) return fail(context, diagnostics);
    }
    if (!options.save_calibration.empty() && !save_calibration(options, starts, context, diagnostics)) return fail(context, diagnostics);
    if (options.emit == "prometheus") {
        const auto& last = starts.back();
        if (!last.comparison) {
            add_error(diagnostics, "log.not-planned", options.file, "there is no plan to emit: " + last.not_planned, "name what is missing with --model and --gpu");
            return fail(context, diagnostics);
        }
        show(context, diagnostics);
        (void)write_result(context, exporting::prometheus_text(*last.scenario, last.comparison->planned));
    } else {
        show(context, diagnostics);
        if (!write_formatted(context, exporting::log_json(*log, starts), exporting::log_report(*log, starts, context.verbose), "starts")) return;
    }
    for (const auto& start : starts)
        if (!start.outcome.code.empty() && start.outcome.code != "incomplete") context.exit_code = kUnfit;
}

}  // namespace

void add_log_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("log", "A server's log -> what really happened, against its plan");
    command->footer(kExample);
    auto options = std::make_shared<LogOptions>();
    options->scenario = add_scenario_options(*command, context);
    command->add_option("file", options->file, "The log, /get_server_info output or a Prometheus scrape; - for standard input")->required()->type_name("FILE");
    command->add_option("--save-calibration", options->save_calibration, "Write what was measured, for --calibration of other commands")->type_name("FILE")->group("Log");
    command->add_option("--start", options->start, "Which start to calibrate from (default: the last that tells its pool)")->type_name("N")->group("Log");
    command->add_option("--emit", options->emit, "prometheus: expected values and alert rules of the last start's plan")->check(CLI::IsMember({"prometheus"}).description(""))->type_name("WHAT")->group("Log");
    command->callback([options, &context] { run_log(*options, context); });
}

}  // namespace kvplan::cli
