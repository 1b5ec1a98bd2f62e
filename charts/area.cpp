#include "charts/area.hpp"

#include <charconv>
#include <cmath>

#include "planner/export/csv.hpp"

namespace kvplan::charts {
namespace {

// Digits that read back as the same number.
std::string number(double value) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value);
    return std::string(text, end.ptr);
}

}  // namespace

double value_at(const Scale& scale, double share) {
    if (!scale.logarithmic) return scale.least + share * (scale.most - scale.least);
    return std::exp(std::log(scale.least) + share * (std::log(scale.most) - std::log(scale.least)));
}

std::string csv(const LineChart& chart) {
    std::string text = "series," + exporting::csv_quoted(chart.x.title) + "," + exporting::csv_quoted(chart.y.title) + "\r\n";
    for (const Series& series : chart.series)
        for (const Point& point : series.points) text += exporting::csv_quoted(series.name) + "," + number(point.x) + "," + number(point.y) + "\r\n";
    return text;
}

std::string csv(const HeatMap& chart) {
    std::string text = exporting::csv_quoted(chart.x.title) + "," + exporting::csv_quoted(chart.y.title) + "," + exporting::csv_quoted(chart.value.title) + "\r\n";
    for (std::size_t row = 0; row < chart.rows.size(); ++row)
        for (std::size_t column = 0; column < chart.columns.size(); ++column) {
            const std::optional<double>& cell = chart.cells[row * chart.columns.size() + column];
            text += exporting::csv_quoted(chart.columns[column]) + "," + exporting::csv_quoted(chart.rows[row]) + "," + (cell ? number(*cell) : std::string()) + "\r\n";
        }
    return text;
}

}  // namespace kvplan::charts
