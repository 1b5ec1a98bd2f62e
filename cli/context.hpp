#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "planner/export/report.hpp"
#include "planner/resolve.hpp"
#include "units/diagnostic.hpp"

namespace CLI {
class App;
}

namespace kvplan::cli {

inline constexpr int kDone = 0;
inline constexpr int kUnfit = 1;      // does not fit, unsafe, no answer, or a finding that is an error
inline constexpr int kUsage = 2;      // usage or input error
inline constexpr int kInternal = 70;

enum class Format { text, json, csv, markdown };

/// What every command shares: where to write, in which form, and where catalogues lie.
struct Context {
    std::ostream* out = nullptr;
    std::ostream* err = nullptr;
    Format format = Format::text;
    std::string output;               // file; empty: `out`
    std::string color = "auto";
    bool quiet = false;
    bool verbose = false;
    CatalogueOptions catalogues;
    int exit_code = kDone;

    [[nodiscard]] bool use_color() const;
    [[nodiscard]] int width() const;  // of the terminal; 100 when there is none
};

/// Writes a finished result to --output or stdout. A regular file is written whole or not at all (temporary file, then
/// rename); anything else (a pipe, /dev/null) is written directly. False, with a message on `err`, when that failed.
bool write_result(Context& context, const std::string& text);

/// Writes `document` or `report` in the format that was asked for. `rows` names the member that CSV gives a line an entry
/// when the document is no plain list.
bool write_formatted(Context& context, const nlohmann::ordered_json& document, const exporting::Report& report, std::string_view rows = {});

/// Diagnostics to `err` (notes only with --verbose, warnings not with --quiet).
void show(Context& context, const Diagnostics& diagnostics);

/// Sets the exit code to kUsage after showing the diagnostics.
void fail(Context& context, const Diagnostics& diagnostics);

/// A flag whose value cannot be used, as a "flag.value" of `diagnostics`.
void flag_fault(Diagnostics& diagnostics, const std::string& flag, const std::string& found, const std::string& expected, const std::string& hint = {});

/// A file as text, `-` for standard input; nothing, with a diagnostic, when it cannot be read.
std::optional<std::string> read_text(const std::string& path, Diagnostics& diagnostics);

/// One function a command; each adds its subcommand and what it does.
void add_plan_command(CLI::App& app, Context& context);
void add_solve_command(CLI::App& app, Context& context);
void add_log_command(CLI::App& app, Context& context);
void add_check_command(CLI::App& app, Context& context);
void add_doctor_command(CLI::App& app, Context& context);
void add_gpus_command(CLI::App& app, Context& context);
void add_explain_command(CLI::App& app, Context& context);
void add_engines_command(CLI::App& app, Context& context);
void add_models_command(CLI::App& app, Context& context);
void add_trace_command(CLI::App& app, Context& context);
void add_simulate_command(CLI::App& app, Context& context);
void add_help_command(CLI::App& app, Context& context);
void add_sweep_command(CLI::App& app, Context& context);
void add_merge_command(CLI::App& app, Context& context);
void add_compare_command(CLI::App& app, Context& context);

}  // namespace kvplan::cli
