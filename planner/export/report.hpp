#pragma once

#include <string>
#include <vector>

namespace kvplan::exporting {

/// A result as titled tables and sentences, before it is known how it will be written. Text, Markdown and the window
/// show the same report.
struct ReportRow {
    std::vector<std::string> cells;
    int level = 0;              // indentation of the first cell
    bool strong = false;
};

struct ReportTable {
    std::vector<std::string> header;   // empty: no header line
    std::vector<ReportRow> rows;
};

struct ReportSection {
    std::string title;
    ReportTable table;
    std::vector<std::string> sentences;
    std::vector<std::string> verbatim = {};  // commands: never wrapped, so that they can be pasted
};

enum class Tone { good, bad, unsure };

struct Report {
    std::string title;
    std::string verdict;
    Tone tone = Tone::good;
    std::vector<ReportSection> sections;
};

struct TextStyle {
    int width = 100;
    bool color = false;
};

/// Columns aligned (the first left, figures right), sentences wrapped to `width`. Colour only adds to words.
[[nodiscard]] std::string render_text(const Report& report, const TextStyle& style);
[[nodiscard]] std::string render_markdown(const Report& report);

/// Columns on a terminal: code points, which for the text of a report is what is shown.
[[nodiscard]] std::size_t display_width(const std::string& text);

}  // namespace kvplan::exporting
