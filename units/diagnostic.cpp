#include "units/diagnostic.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "units/utf8.hpp"

namespace kvplan {
namespace {

constexpr std::size_t kColumnsBeforeCaret = 80;

void append_hex(std::string& out, char32_t value, int digits) {
    static constexpr char kHex[] = "0123456789abcdef";
    for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) out += kHex[(value >> shift) & 0xFU];
}

// C1 controls, line separators, and the marks that hide or reorder what is printed (Unicode's Bidi_Control, zero-width
// characters, byte order mark).
bool changes_display(char32_t value) {
    return (value >= 0x80 && value < 0xA0) || value == 0xAD || value == 0x61C || (value >= 0x200B && value <= 0x200F) ||
           (value >= 0x2028 && value <= 0x202E) || (value >= 0x2060 && value <= 0x206F) || value == 0xFEFF;
}

void append_control(std::string& out, char32_t value) {
    switch (value) {
        case '\n': out += "\\n"; return;
        case '\r': out += "\\r"; return;
        case '\t': out += "\\t"; return;
        default: out += "\\x"; append_hex(out, value, 2);
    }
}

// Start of the code point that ends before `position`.
std::size_t step_back(std::string_view text, std::size_t position) {
    std::size_t start = position - 1;
    while (start > 0 && position - start < 4 && is_utf8_continuation(text[start])) --start;
    return start + decode_utf8(text, start).length == position ? start : position - 1;
}

std::string shown(std::string_view text) {
    std::string spaced(text);
    std::replace(spaced.begin(), spaced.end(), '\t', ' ');
    return escape_for_terminal(spaced);
}

void append_labelled(std::string& out, std::string_view label, std::string_view text) {
    if (text.empty()) return;
    out.append(label).append(": ").append(escape_for_terminal(text)) += '\n';
}

auto identity(const Diagnostic& d) {
    return std::tie(d.severity, d.line, d.column, d.code, d.pointer, d.message, d.found, d.file, d.expected);
}

}  // namespace

std::string_view severity_name(Severity severity) {
    switch (severity) {
        case Severity::error: return "error";
        case Severity::warning: return "warning";
        case Severity::note: return "note";
    }
    return "error";
}

SourcePlace locate(std::string_view text, std::size_t offset) {
    offset = std::min(offset, text.size());
    const std::string_view before = text.substr(0, offset);
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 == 0
    std::size_t line_end = std::min(text.find('\n', offset), text.size());
    if (line_end > offset && text[line_end - 1] == '\r') --line_end;

    SourcePlace place;
    place.line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    place.column = 1 + count_code_points(before.substr(line_start));

    std::size_t first = offset;
    std::size_t columns = 0;
    for (; first > line_start && columns < kColumnsBeforeCaret; ++columns) first = step_back(text, first);
    std::size_t last = offset;
    for (; last < line_end && columns < kSourceLineColumns; ++columns) last += decode_utf8(text, last).length;

    const std::string left = (first > line_start ? "..." : "") + shown(text.substr(first, offset - first));
    place.caret = count_code_points(left);
    place.source_line = left + shown(text.substr(offset, last - offset)) + (last < line_end ? "..." : "");
    return place;
}

Diagnostic with_place(Diagnostic diagnostic, std::string_view text, std::size_t offset) {
    SourcePlace place = locate(text, offset);
    diagnostic.line = place.line;
    diagnostic.column = place.column;
    diagnostic.source_line = std::move(place.source_line);
    diagnostic.caret = place.caret;
    return diagnostic;
}

void Diagnostics::add(Diagnostic diagnostic) {
    const auto same = [&](const Diagnostic& kept) { return identity(kept) == identity(diagnostic); };
    if (std::any_of(items_.begin(), items_.end(), same)) return;
    if (diagnostic.severity == Severity::error) ++error_count_;
    if (items_.size() < limit_) {
        items_.push_back(std::move(diagnostic));
    } else {
        ++dropped_;
    }
}

std::string render(const Diagnostic& diagnostic) {
    std::string out;
    const bool named_by_flag = diagnostic.file.empty();
    const std::string& where = named_by_flag ? diagnostic.pointer : diagnostic.file;
    if (!where.empty()) {
        out += escape_for_terminal(where);
        if (diagnostic.line > 0) {
            out.append(":").append(std::to_string(diagnostic.line));
            if (diagnostic.column > 0) out.append(":").append(std::to_string(diagnostic.column));
        }
        out += ": ";
    }
    out += severity_name(diagnostic.severity);
    if (!diagnostic.code.empty()) out.append("[").append(escape_for_terminal(diagnostic.code)) += ']';
    out.append(": ").append(escape_for_terminal(diagnostic.message)) += '\n';
    if (!diagnostic.source_line.empty()) {
        out.append(escape_for_terminal(diagnostic.source_line)) += '\n';
        out.append(diagnostic.caret, ' ').append("^\n");
    }
    if (!named_by_flag) append_labelled(out, "at", diagnostic.pointer);
    append_labelled(out, "found", diagnostic.found);
    append_labelled(out, "expected", diagnostic.expected);
    append_labelled(out, "hint", diagnostic.hint);
    return out;
}

std::string render(const Diagnostics& diagnostics) {
    std::string out;
    for (const Diagnostic& diagnostic : diagnostics.items()) out += render(diagnostic);
    if (diagnostics.dropped() > 0) {
        out.append("and ").append(std::to_string(diagnostics.dropped())).append(" more that are not shown\n");
    }
    return out;
}

std::string escape_for_terminal(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        const CodePoint point = decode_utf8(text, i);
        if (!point.valid || point.value < 0x20 || point.value == 0x7F) {
            append_control(out, point.value);
        } else if (changes_display(point.value)) {
            out += "\\u";
            append_hex(out, point.value, 4);
        } else {
            out.append(text.substr(i, point.length));
        }
        i += point.length;
    }
    return out;
}

}  // namespace kvplan
