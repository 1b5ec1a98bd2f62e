#include "planner/export/report.hpp"

#include <algorithm>

#include "units/ascii.hpp"

namespace kvplan::exporting {

namespace {


bool is_figure(const std::string& cell) {
    if (cell.empty()) return false;
    const bool sign = cell.front() == '-' || cell.front() == '+' || cell.front() == '~';
    return is_digit(cell[0]) || (sign && cell.size() > 1 && is_digit(cell[1]));
}

/// Columns that hold more figures than words; they are set to the right and never broken.
std::vector<bool> figure_columns(const ReportTable& table) {
    std::vector<int> more;
    for (const ReportRow& row : table.rows) {
        if (more.size() < row.cells.size()) more.resize(row.cells.size(), 0);
        for (std::size_t i = 0; i < row.cells.size(); ++i)
            if (!row.cells[i].empty() && row.cells[i] != "-" && row.cells[i] != "?") more[i] += is_figure(row.cells[i]) ? 1 : -1;
    }
    std::vector<bool> figures(std::max(more.size(), table.header.size()), false);
    for (std::size_t i = 0; i < more.size(); ++i) figures[i] = more[i] > 0;
    return figures;
}

std::vector<std::size_t> column_widths(const ReportTable& table) {
    std::vector<std::size_t> widths;
    const auto widen = [&](const std::vector<std::string>& cells, int level) {
        if (widths.size() < cells.size()) widths.resize(cells.size(), 0);
        for (std::size_t i = 0; i < cells.size(); ++i)
            widths[i] = std::max(widths[i], display_width(cells[i]) + (i == 0 ? static_cast<std::size_t>(2 * level) : 0));
    };
    widen(table.header, 0);
    for (const ReportRow& row : table.rows) widen(row.cells, row.level);
    return widths;
}

std::string padded(const std::string& cell, std::size_t width, bool right) {
    const std::size_t shown = display_width(cell);
    const std::string fill(width > shown ? width - shown : 0, ' ');
    return right ? fill + cell : cell + fill;
}

constexpr std::size_t kGap = 2, kLeastColumn = 12;

/// Widths with which the table fits: the widest columns of words give way first, figures never.
void fit(std::vector<std::size_t>& widths, const std::vector<bool>& figures, std::size_t width) {
    std::size_t total = 0;
    for (const std::size_t w : widths) total += w + kGap;
    while (total > width) {
        std::size_t widest = widths.size(), second = kLeastColumn;
        for (std::size_t i = 0; i < widths.size(); ++i)
            if (!figures[i] && widths[i] > kLeastColumn && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
        if (widest == widths.size()) return;
        for (std::size_t i = 0; i < widths.size(); ++i)
            if (!figures[i] && i != widest) second = std::max(second, std::min(widths[i], widths[widest] - 1));
        const std::size_t taken = std::min(total - width, widths[widest] - second);
        widths[widest] -= taken;
        total -= taken;
    }
}

/// A cell in lines of at most `width`, broken at blanks; a longer word stays whole.
std::vector<std::string> cell_lines(const std::string& cell, std::size_t width) {
    std::vector<std::string> lines;
    std::string line;
    std::size_t start = 0;
    if (display_width(cell) <= width) return {cell};
    while (start <= cell.size()) {
        const std::size_t end = std::min(cell.find(' ', start), cell.size());
        const std::string word = cell.substr(start, end - start);
        if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
            lines.push_back(std::move(line));
            line = word;
        } else {
            line += (line.empty() ? "" : " ") + word;
        }
        start = end + 1;
    }
    lines.push_back(std::move(line));
    return lines;
}

std::string text_row(const std::vector<std::string>& cells, int level, const std::vector<std::size_t>& widths, const std::vector<bool>& figures) {
    std::vector<std::vector<std::string>> columns;
    std::size_t height = 1;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::size_t indent = i == 0 ? static_cast<std::size_t>(2 * level) : 0;
        columns.push_back(cell_lines(cells[i], widths[i] - std::min(widths[i], indent)));
        height = std::max(height, columns.back().size());
    }
    std::string text;
    for (std::size_t at = 0; at < height; ++at) {
        std::string line = std::string(kGap, ' ') + std::string(static_cast<std::size_t>(2 * level), ' ');
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const std::size_t indent = i == 0 ? static_cast<std::size_t>(2 * level) : 0;
            const std::string cell = at < columns[i].size() ? columns[i][at] : std::string{};
            line += padded(cell, widths[i] - std::min(widths[i], indent), i > 0 && figures[i]);
            if (i + 1 < cells.size()) line += std::string(kGap, ' ');
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

std::string wrapped(const std::string& sentence, std::size_t width, const std::string& indent) {
    std::string out, line = indent;
    std::size_t start = 0;
    while (start <= sentence.size()) {
        std::size_t end = sentence.find(' ', start);
        if (end == std::string::npos) end = sentence.size();
        const std::string word = sentence.substr(start, end - start);
        if (display_width(line) + 1 + display_width(word) > width && line.size() > indent.size()) {
            out += line + "\n";
            line = indent + "  " + word;
        } else {
            line += (line.size() > indent.size() ? " " : "") + word;
        }
        start = end + 1;
    }
    return out + line + "\n";
}

std::string colored(const std::string& text, const char* code, const TextStyle& style) {
    return style.color ? std::string("\x1b[") + code + "m" + text + "\x1b[0m" : text;
}

/// Markdown would take a tag or a pair of stars for its own; code between backticks stays as it is.
std::string markdown_text(const std::string& text) {
    std::string out;
    bool code = false;
    for (const char c : text) {
        if (c == '`') code = !code;
        if (!code && c == '<') out += "&lt;";
        else if (!code && c == '*') out += "\\*";
        else out += c;
    }
    return out;
}

std::string markdown_cell(const std::string& cell) {
    std::string text = markdown_text(cell);
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.replace(at, 1, "\\|");
    return text;
}

std::string markdown_table(const ReportTable& table) {
    if (table.rows.empty()) return {};
    std::size_t columns = table.header.size();
    for (const ReportRow& row : table.rows) columns = std::max(columns, row.cells.size());
    const auto line = [&](const std::vector<std::string>& cells, int level, bool strong) {
        std::string text = "|";
        for (std::size_t i = 0; i < columns; ++i) {
            std::string cell = i < cells.size() ? markdown_cell(cells[i]) : std::string{};
            if (i == 0) for (int n = 0; n < level; ++n) cell.insert(0, "&nbsp;&nbsp;");
            if (strong && !cell.empty()) cell = "**" + cell + "**";
            text += " " + cell + " |";
        }
        return text + "\n";
    };
    std::string text = line(table.header, 0, false) + "|";
    const std::vector<bool> figures = figure_columns(table);
    for (std::size_t i = 0; i < columns; ++i) text += i > 0 && figures[i] ? " --: |" : " :-- |";
    text += "\n";
    for (const ReportRow& row : table.rows) text += line(row.cells, row.level, row.strong);
    return text + "\n";
}

}  // namespace

std::size_t display_width(const std::string& text) {
    std::size_t width = 0;
    for (const char c : text)
        if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++width;
    return width;
}

std::string render_text(const Report& report, const TextStyle& style) {
    const auto width = static_cast<std::size_t>(std::max(40, style.width));
    std::string text = wrapped(report.title, width, "");
    const char* tone = report.tone == Tone::good ? "32" : report.tone == Tone::bad ? "1;31" : "33";
    if (!report.verdict.empty()) text += colored(wrapped(report.verdict, width, ""), tone, style);
    for (const ReportSection& section : report.sections) {
        text += "\n" + colored(section.title, "1", style) + "\n";
        std::vector<std::size_t> widths = column_widths(section.table);
        const std::vector<bool> figures = figure_columns(section.table);
        fit(widths, figures, width);
        if (!section.table.header.empty()) text += text_row(section.table.header, 0, widths, figures);
        for (const ReportRow& row : section.table.rows) {
            const std::string line = text_row(row.cells, row.level, widths, figures);
            text += row.strong ? colored(line, "1", style) : line;
        }
        for (const std::string& line : section.verbatim) text += "  " + line + "\n";
        for (const std::string& sentence : section.sentences) text += wrapped(sentence, width, "  ");
    }
    return text;
}

std::string render_markdown(const Report& report) {
    std::string text = "# " + markdown_text(report.title) + "\n\n";
    if (!report.verdict.empty()) text += "**" + report.verdict + "**\n\n";
    for (const ReportSection& section : report.sections) {
        text += "## " + section.title + "\n\n" + markdown_table(section.table);
        for (const std::string& line : section.verbatim) text += "```\n" + line + "\n```\n\n";
        for (const std::string& sentence : section.sentences) text += "- " + markdown_text(sentence) + "\n";
        if (!section.sentences.empty()) text += "\n";
    }
    return text;
}

}  // namespace kvplan::exporting
