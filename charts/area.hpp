#pragma once

#include <optional>

#include "charts/chart.hpp"
#include "charts/ticks.hpp"

namespace kvplan::charts {

/// Where the data of a line chart lie in its picture, and what the ends of this rectangle stand for: for a cross-hair.
struct DataArea {
    Point least, most;
    Scale x, y;
};

struct DrawnLines {
    Drawing drawing;
    std::optional<DataArea> area;   // unset: there are no data
};
[[nodiscard]] DrawnLines draw_with_area(const LineChart& chart, Size size, const Theme& theme);

/// Value at a share of a scale: what Scale::share undoes.
[[nodiscard]] double value_at(const Scale& scale, double share);

/// The chart as a table: one line a point, "series,x,y" (of a map "x,y,value"; an infeasible cell is empty).
[[nodiscard]] std::string csv(const LineChart& chart);
[[nodiscard]] std::string csv(const HeatMap& chart);

}  // namespace kvplan::charts
