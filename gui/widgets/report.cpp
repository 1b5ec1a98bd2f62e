#include "gui/widgets/report.hpp"

#include <algorithm>

#include "gui/raii.hpp"
#include "gui/widgets/text.hpp"

namespace kvplan::gui {

namespace {

bool is_number(const std::string& cell) { return !cell.empty() && (cell.front() == '-' || (cell.front() >= '0' && cell.front() <= '9')); }

void cell_text(const std::string& cell, float widest) {
    // Figures stand right, as on the command line; words stand left.
    if (is_number(cell)) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0f, widest - width_of(cell)));
    text(cell);
}

std::vector<float> widths(const Ui& ui, const exporting::ReportTable& table, std::size_t columns) {
    std::vector<float> widest(columns, 0.0f);
    const FontScope font(ui.fonts.bold);
    for (const exporting::ReportRow& row : table.rows)
        for (std::size_t i = 0; i < row.cells.size(); ++i)
            if (is_number(row.cells[i])) widest[i] = std::max(widest[i], width_of(row.cells[i]));
    for (std::size_t i = 0; i < table.header.size(); ++i)
        if (widest[i] > 0) widest[i] = std::max(widest[i], width_of(table.header[i]));
    return widest;
}

}  // namespace

void report_sentences(const Ui& /*ui*/, const exporting::ReportSection& section) {
    for (const std::string& sentence : section.sentences) wrapped(sentence);
}

void report_table(const Ui& ui, const char* id, const exporting::ReportTable& table) {
    std::size_t columns = table.header.size();
    for (const exporting::ReportRow& row : table.rows) columns = std::max(columns, row.cells.size());
    if (columns == 0) return;
    const std::vector<float> widest = widths(ui, table, columns);
    const TableScope scope(id, static_cast<int>(columns), ImGuiTableFlags_RowBg | ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingFixedFit);
    if (!scope) return;
    if (!table.header.empty()) {
        ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
        for (std::size_t i = 0; i < table.header.size(); ++i) {
            ImGui::TableNextColumn();
            if (widest[i] > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + widest[i] - width_of(table.header[i]));
            text(table.header[i], ui.theme.muted);
        }
    }
    for (const exporting::ReportRow& row : table.rows) {
        const FontScope font(row.strong ? ui.fonts.bold : ui.fonts.regular);
        ImGui::TableNextRow();
        for (std::size_t i = 0; i < row.cells.size(); ++i) {
            ImGui::TableNextColumn();
            if (i == 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ui.px(16) * static_cast<float>(row.level));
            cell_text(row.cells[i], widest[i]);
        }
    }
}

void report_section(const Ui& ui, const exporting::ReportSection& section) {
    heading(ui, section.title);
    report_table(ui, section.title.c_str(), section.table);
    report_sentences(ui, section);
    for (const std::string& command : section.verbatim) {
        const FontScope font(ui.fonts.mono);
        wrapped(command);
    }
    ImGui::Spacing();
}

}  // namespace kvplan::gui
