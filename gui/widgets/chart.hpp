// Charts of the charts layer on the screen: the same pictures that are exported.
#pragma once

#include <string>
#include <variant>

#include "charts/chart.hpp"
#include "gui/view.hpp"

namespace kvplan::gui {

/// Over the whole width; hover shows a cross-hair with the values of every curve there, or what a part stands for. A button
/// beside the title exports it.
void show_chart(const Ui& ui, const char* id, const charts::LineChart& chart, float height);
void show_chart(const Ui& ui, const char* id, const charts::BarChart& chart, float height);
void show_chart(const Ui& ui, const char* id, const charts::HeatMap& chart, float height);

/// A picture as bytes of a file, by the ending of its name: .png, .svg or .csv; nothing for others.
[[nodiscard]] std::optional<std::string> file_of(const ExportableChart& chart, std::string_view name, Look look);

}  // namespace kvplan::gui
