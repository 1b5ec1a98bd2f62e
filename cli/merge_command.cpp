#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>
#include <ostream>
#include <utility>

#include "cli/context.hpp"
#include "cli/sweep_output.hpp"
#include "planner/sweep/part.hpp"

namespace kvplan::cli {

namespace {

constexpr const char* kExample =
    "Example:\n"
    "  kvplan merge rows.0.csv rows.1.csv rows.2.csv --output rows.csv\n"
    "    in any order; the rows are those of the sweep without --shard, byte for byte. Gaps, overlaps, parts of different\n"
    "    sweeps and parts that are not complete are refused.";

Diagnostic fault(const std::string& file, std::string message, std::string expected, std::string hint) {
    Diagnostic diagnostic;
    diagnostic.code = "sweep.parts";
    diagnostic.file = file;
    diagnostic.message = std::move(message);
    diagnostic.expected = std::move(expected);
    diagnostic.hint = std::move(hint);
    return diagnostic;
}

std::optional<sweep::Part> open_part(const std::string& file, Diagnostics& diagnostics) {
    std::ifstream in(file, std::ios::binary);
    std::string line;
    if (!in) {
        diagnostics.add(fault(file, "cannot be read", "a file that kvplan sweep --shard has written", ""));
        return std::nullopt;
    }
    std::getline(in, line);
    const auto header = line.size() < 4096 ? sweep::read_part_header(line) : std::nullopt;
    if (!header) {
        diagnostics.add(fault(file, "is no part of a sharded sweep", "a file that kvplan sweep --shard has written", "a sweep without --shard is whole already"));
        return std::nullopt;
    }
    return sweep::Part{file, *header};
}

// The last line, which says how many rows a part has; a copy that was cut short has none.
std::optional<std::int64_t> rows_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary | std::ios::ate);
    constexpr std::int64_t kTail = 256;
    const auto size = static_cast<std::int64_t>(in.tellg());
    in.seekg(size > kTail ? size - kTail : 0);
    std::string tail(std::istreambuf_iterator<char>(in), {});
    if (tail.empty() || tail.back() != '\n') return std::nullopt;
    tail.pop_back();
    return sweep::read_end_of_part(tail.substr(tail.rfind('\n') + 1));
}

bool complete(const sweep::Part& part, Diagnostics& diagnostics) {
    if (rows_of(part.file)) return true;
    diagnostics.add(fault(part.file, "the part is not complete", "its last line to tell its rows", "kvplan sweep --resume goes on from a .part; a copy has to be made again"));
    return false;
}

// Lines between the part's own first and last, without the table's heading unless it is wanted.
bool copy_rows(const sweep::Part& part, bool heading, StreamedOutput& output, Diagnostics& diagnostics) {
    constexpr std::size_t kBuffer = std::size_t{1} << 20;
    const std::int64_t rows = rows_of(part.file).value_or(0);
    std::ifstream in(part.file, std::ios::binary);
    std::string line, lines;
    std::getline(in, line);
    for (std::int64_t i = 0; i < part.header.heading_lines && std::getline(in, line); ++i)
        if (heading) lines += line + "\n";
    for (std::int64_t i = 0; i < rows; ++i) {
        if (!std::getline(in, line)) break;
        lines += line + "\n";
        if (lines.size() > kBuffer && !output.write(std::exchange(lines, {}))) return false;
    }
    const bool whole = std::getline(in, line) && sweep::read_end_of_part(line) == rows;
    if (!whole) diagnostics.add(fault(part.file, "the part does not hold the rows it tells of", std::to_string(rows) + " rows", "the file was changed, or it changes now"));
    return whole && (lines.empty() || output.write(lines));
}

void merge(const std::vector<std::string>& files, Context& context) {
    Diagnostics diagnostics;
    std::vector<sweep::Part> parts;
    for (const std::string& file : files)
        if (auto part = open_part(file, diagnostics); part && complete(*part, diagnostics)) parts.push_back(std::move(*part));
    const auto ordered = diagnostics.has_errors() ? std::nullopt : in_order(std::move(parts), diagnostics);
    if (!ordered) return fail(context, diagnostics);
    StreamedOutput output(context, "", false);
    bool first = true;
    for (const sweep::Part& part : *ordered)
        if (output.good() && !copy_rows(part, std::exchange(first, false), output, diagnostics)) break;
    if (diagnostics.has_errors()) return fail(context, diagnostics);
    if (output.finish() || output.failure().empty()) return;
    *context.err << "kvplan: " << escape_for_terminal(output.failure()) << "\n";
    context.exit_code = kUsage;
}

}  // namespace

void add_merge_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("merge", "Joins the parts of a sharded sweep");
    command->footer(kExample);
    const auto files = std::make_shared<std::vector<std::string>>();
    command->add_option("part", *files, "Files that kvplan sweep --shard has written")->required()->type_name("PART");
    command->callback([files, &context] { merge(*files, context); });
}

}  // namespace kvplan::cli
