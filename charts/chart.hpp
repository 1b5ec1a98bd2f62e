// What a chart shows, as data. Every chart can be drawn (draw), written (picture) or typed (typed).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "charts/drawing.hpp"
#include "charts/theme.hpp"

namespace kvplan::charts {

/// How an axis writes its numbers: plain (1,200 or 1.2M), bytes in GiB or decimal GB, a share as per cent, seconds.
enum class Unit { plain, binary_bytes, decimal_bytes, share, seconds };

struct Axis {
    std::string title;
    Unit unit = Unit::plain;
    bool logarithmic = false;              // values must be positive
    std::optional<double> least, most;     // unset: from the data
};

struct Series {
    std::string name;
    std::vector<Point> points;             // x ascending
    bool dashed = false;
};

/// A vertical line at x with a name, such as a limit or the operating point.
struct Marker {
    double x = 0.0;
    std::string name;
};

/// A range of x with a face behind the curves.
struct Range {
    double from = 0.0, to = 0.0;
    std::string name;
    bool forbidden = false;                // hatched
};

struct LineChart {
    std::string title;
    Axis x, y;
    std::vector<Series> series;
    std::vector<Marker> markers;
    std::vector<Range> ranges;
};

/// One bar a row, made of parts side by side; limits are lines across all bars.
struct BarPart {
    std::string name;
    double value = 0.0;                    // >= 0
    bool spare = false;                    // what is left over: hatched
};
struct Bar {
    std::string name;
    std::vector<BarPart> parts;
};
struct BarChart {
    std::string title;
    Axis value;
    std::vector<Bar> bars;
    std::vector<Marker> limits;
};

/// One face a cell, rows from below. A cell without a value is not feasible, and hatched.
struct HeatMap {
    std::string title;
    Axis x, y, value;                      // of x and y the titles count
    std::vector<std::string> columns, rows;
    std::vector<std::optional<double>> cells;   // rows x columns, row by row
};

/// The picture. Text is never cut: margins follow its width. A chart without data says so in its middle.
[[nodiscard]] Drawing draw(const LineChart& chart, Size size, const Theme& theme);
[[nodiscard]] Drawing draw(const BarChart& chart, Size size, const Theme& theme);
[[nodiscard]] Drawing draw(const HeatMap& chart, Size size, const Theme& theme);

/// The chart in characters, `columns` wide (40 at least), for a terminal. `unicode` false keeps to ASCII.
[[nodiscard]] std::string typed(const LineChart& chart, int columns, bool unicode = true);
[[nodiscard]] std::string typed(const HeatMap& chart, int columns, bool unicode = true);

}  // namespace kvplan::charts
