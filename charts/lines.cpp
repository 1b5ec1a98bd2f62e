#include <algorithm>
#include <cmath>
#include <limits>

#include "charts/area.hpp"
#include "charts/frame.hpp"

namespace kvplan::charts {
namespace {

struct Extent {
    double least = std::numeric_limits<double>::infinity(), most = -std::numeric_limits<double>::infinity();
    void take(double value, bool positive) {
        if (!std::isfinite(value) || (positive && value <= 0.0)) return;
        least = std::min(least, value);
        most = std::max(most, value);
    }
    [[nodiscard]] bool empty() const { return least > most; }
};

/// Points of a segment that lie between the ends of both axes; a segment that leaves is cut at the border.
bool clip(Point& a, Point& b) {
    for (const auto axis : {&Point::x, &Point::y}) {
        Point* low = a.*axis <= b.*axis ? &a : &b;
        Point* high = low == &a ? &b : &a;
        if (high->*axis < 0.0 || low->*axis > 1.0) return false;
        const Point from = *low, to = *high;
        const auto at = [&](double end) {
            const double t = (end - from.*axis) / (to.*axis - from.*axis);
            return Point{from.x + t * (to.x - from.x), from.y + t * (to.y - from.y)};
        };
        if (from.*axis < 0.0) *low = at(0.0);
        if (to.*axis > 1.0) *high = at(1.0);
    }
    return true;
}

void add_curve(Frame& frame, const Series& series, const Scale& x, const Scale& y, Color color) {
    Line line{{}, color, 2.0, series.dashed};
    const auto flush = [&] {
        if (line.points.size() > 1) frame.add(line);
        line.points.clear();
    };
    for (std::size_t i = 1; i < series.points.size(); ++i) {
        const Point &from = series.points[i - 1], &to = series.points[i];
        Point a{x.share(from.x), y.share(from.y)}, b{x.share(to.x), y.share(to.y)};
        const bool usable = std::isfinite(a.x + a.y + b.x + b.y) && !(x.logarithmic && (from.x <= 0 || to.x <= 0)) && !(y.logarithmic && (from.y <= 0 || to.y <= 0));
        if (!usable || !clip(a, b)) {
            flush();
            continue;
        }
        if (line.points.empty()) line.points.push_back({frame.x(a.x), frame.y(a.y)});
        line.points.push_back({frame.x(b.x), frame.y(b.y)});
    }
    flush();
    if (series.points.size() != 1) return;
    const Point at{frame.x(x.share(series.points[0].x)), frame.y(y.share(series.points[0].y))};
    frame.add(Box{{at.x - 3, at.y - 3}, {at.x + 3, at.y + 3}, color, false, {}});
}

}  // namespace

Drawing draw(const LineChart& chart, Size size, const Theme& theme) { return draw_with_area(chart, size, theme).drawing; }

DrawnLines draw_with_area(const LineChart& chart, Size size, const Theme& theme) {
    Frame frame(size, theme);
    Extent across, up;
    for (const Series& series : chart.series)
        for (const Point& p : series.points) across.take(p.x, chart.x.logarithmic), up.take(p.y, chart.y.logarithmic);
    std::vector<Frame::Key> keys;
    for (std::size_t i = 0; i < chart.series.size(); ++i)
        if (!chart.series[i].name.empty()) keys.push_back({chart.series[i].name, theme.series[i % theme.series.size()], chart.series[i].dashed, false, false});
    for (const Range& range : chart.ranges)
        if (!range.name.empty()) keys.push_back({range.name, range.forbidden ? theme.forbidden : theme.grid, false, true, range.forbidden});
    frame.head(chart.title, keys);
    if (across.empty() || up.empty()) {
        frame.margins({}, chart.y.title, chart.x.title);
        frame.border();
        frame.say("no data");
        return {frame.take(), std::nullopt};
    }
    const Scale y = scale_of(chart.y, up.least, up.most, std::max(3, static_cast<int>(size.height / 55)));
    std::vector<std::string> numbers;
    for (const double tick : y.ticks) numbers.push_back(number_text(chart.y.unit, tick));
    frame.margins(numbers, chart.y.title, chart.x.title);
    const Scale x = scale_of(chart.x, across.least, across.most, std::max(3, static_cast<int>(size.width / 85)));
    for (const Range& range : chart.ranges) {
        const double from = std::clamp(x.share(range.from), 0.0, 1.0), to = std::clamp(x.share(range.to), 0.0, 1.0);
        if (to > from) frame.add(Box{{frame.x(from), frame.top()}, {frame.x(to), frame.bottom()}, range.forbidden ? theme.forbidden : theme.grid, range.forbidden, range.name});
    }
    frame.x_axis(chart.x, x);
    frame.y_axis(chart.y, y);
    for (std::size_t i = 0; i < chart.series.size(); ++i) add_curve(frame, chart.series[i], x, y, theme.series[i % theme.series.size()]);
    frame.border();
    frame.markers(chart.markers, x);
    return {frame.take(), DataArea{{frame.left(), frame.top()}, {frame.right(), frame.bottom()}, x, y}};
}

}  // namespace kvplan::charts
