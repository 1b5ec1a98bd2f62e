#include "planner/sweep/rows.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "planner/export/csv.hpp"
#include "planner/export/report.hpp"
#include "units/format.hpp"

namespace kvplan::sweep {

namespace {

// The shortest end of a dotted name that means it alone.
std::string short_name(const std::string& name, const std::vector<Axis>& axes) {
    for (std::size_t dot = name.rfind('.'); dot != std::string::npos && dot > 0; dot = name.rfind('.', dot - 1)) {
        Diagnostics ignored;
        const std::string end = name.substr(dot + 1);
        const auto found = find_figure(end, axes, "", ignored);
        if (found && found->name == name) return end;
    }
    return name;
}

// Figures of a plan get separators and few decimals for reading; what was swept stays as typed.
std::string readable(const Cell& cell, bool typed) {
    if (cell.kind == CellKind::null) return "-";
    if (cell.kind == CellKind::number && !typed) return shortest(cell.number, cell.number < 10.0 ? 4 : 1);
    return cell.text;
}

std::string markdown_cell(const std::string& text) {
    std::string escaped;
    for (const char c : text) escaped += c == '|' ? std::string("\\|") : c == '\n' ? std::string(" ") : std::string(1, c);
    return escaped;
}

std::string json_of(const Cell& cell) {
    if (cell.kind == CellKind::null) return "null";
    if (cell.kind != CellKind::text) return cell.text;
    return nlohmann::json(cell.text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

RowWriter::RowWriter(Form form, const Request& request, std::size_t columns, const std::vector<Row>& sample) : form_(form), columns_(columns) {
    const bool short_names = form == Form::text || form == Form::markdown;
    for (const Axis& axis : request.grid.axes) names_.emplace_back(axis.field->name);
    for (std::size_t i = 0; i < columns; ++i) names_.push_back(short_names ? short_name(request.figures[i].name, request.grid.axes) : request.figures[i].name);
    for (const std::string& name : names_) widths_.push_back(name.size());
    for (const Row& row : sample) {
        const std::vector<Cell> cells = shown(row);
        for (std::size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], exporting::display_width(escape_for_terminal(readable(cells[i], i < row.swept.size()))));
    }
}

std::vector<Cell> RowWriter::shown(const Row& row) const {
    std::vector<Cell> cells = row.swept;
    cells.insert(cells.end(), row.cells.begin(), row.cells.begin() + static_cast<std::ptrdiff_t>(columns_));
    return cells;
}

std::string RowWriter::table_line(const std::vector<std::string>& cells) const {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (form_ == Form::markdown) {
            line += (i == 0 ? "| " : " | ") + markdown_cell(cells[i]);
            continue;
        }
        const std::string cell = escape_for_terminal(cells[i]);
        const std::size_t width = exporting::display_width(cell);
        line += std::string(i == 0 ? 0 : 2, ' ') + std::string(widths_[i] > width ? widths_[i] - width : 0, ' ') + cell;
    }
    return line + (form_ == Form::markdown ? " |\n" : "\n");
}

std::string RowWriter::header() const {
    if (form_ == Form::json_lines) return {};
    if (form_ == Form::csv) {
        std::string line;
        for (const std::string& name : names_) line += (line.empty() ? "" : ",") + exporting::csv_quoted(name);
        return line + "\n";
    }
    std::string rule;
    for (std::size_t i = 0; i < names_.size(); ++i) rule += "|---:";
    return table_line(names_) + (form_ == Form::markdown ? rule + "|\n" : "");
}

std::string RowWriter::line(const Row& row) const {
    const std::vector<Cell> cells = shown(row);
    std::string line;
    if (form_ == Form::csv) {
        for (std::size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : ",") + exporting::csv_quoted(cells[i].text);
        return line + "\n";
    }
    if (form_ == Form::json_lines) {
        for (std::size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "{" : ",") + json_of({CellKind::text, 0.0, names_[i]}) + ":" + json_of(cells[i]);
        return line + "}\n";
    }
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < cells.size(); ++i) texts.push_back(readable(cells[i], i < row.swept.size()));
    return table_line(texts);
}

std::vector<Row> sample_rows(const Points& points, std::int64_t count) {
    const std::int64_t all = points.request().grid.points();
    const std::int64_t wanted = std::min(count, all);
    std::vector<Row> rows;
    for (std::int64_t i = 0; i < wanted; ++i) rows.push_back(points.row(all / wanted * i));
    return rows;
}

}  // namespace kvplan::sweep
