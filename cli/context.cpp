#include "cli/context.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>

#include "models/write_file.hpp"
#include "models/json/document.hpp"
#include "planner/export/csv.hpp"
#include "planner/export/json.hpp"

namespace kvplan::cli {

namespace {
bool is_terminal(const Context& context) { return context.out == &std::cout && context.output.empty() && isatty(STDOUT_FILENO) == 1; }
}  // namespace

bool Context::use_color() const {
    if (color == "always") return true;
    if (color == "never" || format != Format::text) return false;
    const char* no_color = std::getenv("NO_COLOR");
    return is_terminal(*this) && (no_color == nullptr || *no_color == '\0');
}

int Context::width() const {
    winsize size{};
    if (is_terminal(*this) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 120;
}

bool write_result(Context& context, const std::string& text) {
    if (!context.output.empty() && context.output != "-") {
        const std::string failure = write_file(context.output, text);
        if (failure.empty()) return true;
        *context.err << "kvplan: " << escape_for_terminal(failure) << "\n";
        context.exit_code = kUsage;
        return false;
    }
    *context.out << text << std::flush;
    if (context.out->good()) return true;
    // A closed pipe (`| head`) is the reader's choice; a full disk is not.
    if (errno != EPIPE) {
        *context.err << "kvplan: the output could not be written\n";
        context.exit_code = kUsage;
    }
    return false;
}

bool write_formatted(Context& context, const nlohmann::ordered_json& document, const exporting::Report& report, std::string_view rows) {
    switch (context.format) {
        case Format::json: return write_result(context, exporting::dump(document));
        case Format::csv: return write_result(context, exporting::csv_of(document, rows));
        case Format::markdown: return write_result(context, exporting::render_markdown(report));
        case Format::text: break;
    }
    return write_result(context, exporting::render_text(report, {context.width(), context.use_color()}));
}

void show(Context& context, const Diagnostics& diagnostics) {
    for (const Diagnostic& diagnostic : diagnostics.items()) {
        if (diagnostic.severity == Severity::note && !context.verbose) continue;
        if (diagnostic.severity == Severity::warning && context.quiet) continue;
        *context.err << render(diagnostic);
    }
    if (diagnostics.dropped() > 0) *context.err << diagnostics.dropped() << " more are not shown\n";
}

void fail(Context& context, const Diagnostics& diagnostics) {
    show(context, diagnostics);
    context.exit_code = kUsage;
}

void flag_fault(Diagnostics& diagnostics, const std::string& flag, const std::string& found, const std::string& expected, const std::string& hint) {
    Diagnostic fault;
    fault.code = "flag.value";
    fault.pointer = flag;
    fault.message = flag + " cannot be used";
    fault.found = found.empty() ? "nothing" : found;
    fault.expected = expected;
    fault.hint = hint;
    diagnostics.add(std::move(fault));
}

std::optional<std::string> read_text(const std::string& path, Diagnostics& diagnostics) {
    if (path != "-") return json::read_file(path, diagnostics);
    return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

}  // namespace kvplan::cli
