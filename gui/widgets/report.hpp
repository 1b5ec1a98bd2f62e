// Parts of the report that the command line writes, shown in the window.
#pragma once

#include "gui/view.hpp"
#include "planner/export/report.hpp"

namespace kvplan::gui {

void report_sentences(const Ui& ui, const exporting::ReportSection& section);
void report_table(const Ui& ui, const char* id, const exporting::ReportTable& table);
/// Title, table, sentences and commands.
void report_section(const Ui& ui, const exporting::ReportSection& section);

}  // namespace kvplan::gui
