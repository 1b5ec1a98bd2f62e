#include <algorithm>
#include <cmath>
#include <limits>

#include "charts/chart.hpp"
#include "charts/ticks.hpp"

namespace kvplan::charts {
namespace {

constexpr int kRows = 16;
constexpr const char* kMarks = "o+x*#%@&";

std::string spaces(std::size_t n) { return std::string(n, ' '); }
/// Columns that UTF-8 text takes: continuation bytes take none.
std::size_t columns_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}
std::string right(const std::string& text, std::size_t width) { return (columns_of(text) < width ? spaces(width - columns_of(text)) : "") + text; }

/// Numbers below an axis of `width` characters, each under its place where there is room.
std::string numbers_below(const Axis& axis, const Scale& scale, std::size_t width) {
    std::string line = spaces(width + 12);
    std::size_t free_from = 0;
    for (const double tick : scale.ticks) {
        const std::string text = number_text(axis.unit, tick);
        const auto at = static_cast<std::size_t>(std::lround(std::clamp(scale.share(tick), 0.0, 1.0) * static_cast<double>(width - 1)));
        const std::size_t from = at > text.size() / 2 ? at - text.size() / 2 : 0;
        if (from < free_from || from + text.size() > line.size()) continue;
        line.replace(from, text.size(), text);
        free_from = from + text.size() + 2;
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line;
}

}  // namespace

std::string typed(const LineChart& chart, int columns, bool unicode) {
    double x0 = std::numeric_limits<double>::infinity(), x1 = -x0, y0 = x0, y1 = -x0;
    for (const Series& series : chart.series)
        for (const Point& p : series.points) x0 = std::min(x0, p.x), x1 = std::max(x1, p.x), y0 = std::min(y0, p.y), y1 = std::max(y1, p.y);
    if (!(x0 <= x1)) return chart.title + ": no data\n";
    const Scale x = scale_of(chart.x, x0, x1, std::max(2, columns / 16)), y = scale_of(chart.y, y0, y1, 6);
    std::size_t margin = 0;
    for (const double tick : y.ticks) margin = std::max(margin, number_text(chart.y.unit, tick).size());
    const auto width = static_cast<std::size_t>(std::max<int>(20, std::max(40, columns) - static_cast<int>(margin) - 3));
    std::vector<std::string> rows(kRows, spaces(width));
    const auto place = [&](const Scale& scale, double value, std::size_t cells) { return static_cast<long>(std::lround(scale.share(value) * static_cast<double>(cells - 1))); };
    for (const Marker& marker : chart.markers)
        if (const long at = place(x, marker.x, width); at >= 0 && at < static_cast<long>(width))
            for (std::string& row : rows) row[static_cast<std::size_t>(at)] = ':';
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
        const auto& points = chart.series[s].points;
        for (std::size_t i = 0; i < points.size(); ++i) {
            const Point from = points[i == 0 ? 0 : i - 1], to = points[i];
            const long first = place(x, from.x, width), last = place(x, to.x, width);
            for (long column = first; column <= last; ++column) {
                const double share = last > first ? static_cast<double>(column - first) / static_cast<double>(last - first) : 1.0;
                const double height = y.share(from.y) + share * (y.share(to.y) - y.share(from.y));
                const long row = std::lround(height * (kRows - 1));
                if (row >= 0 && row < kRows && column >= 0 && column < static_cast<long>(width)) rows[static_cast<std::size_t>(kRows - 1 - row)][static_cast<std::size_t>(column)] = kMarks[s % 8];
            }
        }
    }
    std::string text = chart.title.empty() ? "" : chart.title + "\n";
    const std::string bar = unicode ? " \u2502" : " |";
    for (int r = 0; r < kRows; ++r) {
        std::string number;
        for (const double tick : y.ticks)
            if (kRows - 1 - place(y, tick, kRows) == r) number = number_text(chart.y.unit, tick);
        std::string row = rows[static_cast<std::size_t>(r)];
        while (!row.empty() && row.back() == ' ') row.pop_back();
        text += right(number, margin) + bar + row + "\n";
    }
    std::string axis;
    for (std::size_t i = 0; i < width; ++i) axis += unicode ? "\u2500" : "-";
    text += spaces(margin) + (unicode ? " \u2514" : " +") + axis + "\n" + spaces(margin + 2) + numbers_below(chart.x, x, width) + "\n";
    if (!chart.x.title.empty()) text += spaces(margin + 2) + chart.x.title + "\n";
    for (std::size_t s = 0; s < chart.series.size(); ++s)
        if (!chart.series[s].name.empty()) text += spaces(margin + 2) + std::string(1, kMarks[s % 8]) + " " + chart.series[s].name + "\n";
    for (const Marker& marker : chart.markers) text += spaces(margin + 2) + ": " + marker.name + " (" + number_text(chart.x.unit, marker.x) + ")\n";
    return text;
}

std::string typed(const HeatMap& chart, int columns, bool unicode) {
    const std::size_t across = chart.columns.size(), up = chart.rows.size();
    if (across == 0 || up == 0 || chart.cells.size() != across * up) return chart.title + ": no data\n";
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const auto& cell : chart.cells)
        if (cell) least = std::min(least, *cell), most = std::max(most, *cell);
    std::size_t margin = 0;
    for (const std::string& row : chart.rows) margin = std::max(margin, columns_of(row));
    const auto room = static_cast<std::size_t>(std::max(20, columns - static_cast<int>(margin) - 3));
    const std::size_t wide = std::clamp<std::size_t>(room / across, 1, 8);
    static constexpr const char* kShades[] = {"\u2591", "\u2592", "\u2593", "\u2588"};
    static constexpr const char* kAscii[] = {".", "o", "O", "@"};
    std::string text = chart.title.empty() ? "" : chart.title + "\n";
    for (std::size_t r = up; r-- > 0;) {
        text += right(chart.rows[r], margin) + (unicode ? " \u2502" : " |");
        for (std::size_t c = 0; c < across; ++c) {
            const auto& cell = chart.cells[r * across + c];
            const double share = cell && most > least ? (*cell - least) / (most - least) : 1.0;
            const int level = std::min(3, static_cast<int>(share * 4.0));
            const std::string shade = !cell ? "x" : (unicode ? kShades : kAscii)[level];
            for (std::size_t i = 0; i < wide; ++i) text += shade;
        }
        text += "\n";
    }
    std::string below = spaces(across * wide + 12);
    std::size_t free_from = 0;
    for (std::size_t c = 0; c < across; ++c) {
        const std::size_t from = c * wide;
        if (from < free_from || from + chart.columns[c].size() > below.size()) continue;
        below.replace(from, chart.columns[c].size(), chart.columns[c]);
        free_from = from + chart.columns[c].size() + 1;
    }
    while (!below.empty() && below.back() == ' ') below.pop_back();
    text += spaces(margin + 2) + below + "\n";
    if (!chart.x.title.empty()) text += spaces(margin + 2) + chart.x.title + (chart.y.title.empty() ? "" : " across, " + chart.y.title + " up") + "\n";
    if (most >= least)
        text += spaces(margin + 2) + (unicode ? "\u2591" : ".") + " " + number_text(chart.value.unit, least) + " to " + (unicode ? "\u2588" : "@") + " " + number_text(chart.value.unit, most) + " " + chart.value.title +
                "; x not feasible\n";
    return text;
}

}  // namespace kvplan::charts
