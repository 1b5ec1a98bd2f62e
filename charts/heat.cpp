#include <algorithm>

#include "charts/frame.hpp"
#include "charts/text.hpp"

namespace kvplan::charts {
namespace {

struct Values {
    double least = 0.0, most = 0.0;
    bool any = false;
};

Values values_of(const HeatMap& chart) {
    Values values;
    for (const auto& cell : chart.cells) {
        if (!cell) continue;
        values.least = values.any ? std::min(values.least, *cell) : *cell;
        values.most = values.any ? std::max(values.most, *cell) : *cell;
        values.any = true;
    }
    return values;
}

}  // namespace

Drawing draw(const HeatMap& chart, Size size, const Theme& theme) {
    Frame frame(size, theme);
    const Values values = values_of(chart);
    const std::string name = chart.value.title.empty() ? "" : chart.value.title + ": ";
    std::vector<Frame::Key> keys;
    if (values.any) {
        keys.push_back({name + number_text(chart.value.unit, values.least), theme.low, false, true, false});
        if (values.most > values.least) keys.push_back({number_text(chart.value.unit, values.most), theme.high, false, true, false});
    }
    keys.push_back({"not feasible", theme.forbidden, false, true, true});
    frame.head(chart.title, keys);
    frame.margins(chart.rows, chart.y.title, chart.x.title);
    const std::size_t columns = chart.columns.size(), rows = chart.rows.size();
    if (columns == 0 || rows == 0 || chart.cells.size() != columns * rows) {
        frame.border();
        frame.say("no data");
        return frame.take();
    }
    const double wide = (frame.right() - frame.left()) / static_cast<double>(columns), high = (frame.bottom() - frame.top()) / static_cast<double>(rows);
    for (std::size_t r = 0; r < rows; ++r) {
        const double top = frame.bottom() - high * static_cast<double>(r + 1);
        frame.label({frame.left() - kGap, top + high / 2 + kTextSize / 3}, chart.rows[r], theme.muted, Align::right);
        for (std::size_t c = 0; c < columns; ++c) {
            const auto& cell = chart.cells[r * columns + c];
            const double left = frame.left() + wide * static_cast<double>(c);
            const double share = cell && values.most > values.least ? (*cell - values.least) / (values.most - values.least) : 0.0;
            const std::string where = chart.columns[c] + ", " + chart.rows[r] + ": ";
            frame.add(Box{{left, top}, {left + wide, top + high}, cell ? mixed(theme.low, theme.high, share) : theme.forbidden, !cell, where + (cell ? number_text(chart.value.unit, *cell) : "not feasible")});
            const std::string text = cell ? number_text(chart.value.unit, *cell) : "";
            if (text.empty() || text_width(text, kTextSize) + 6 > wide || high < kTextSize * 1.4) continue;
            // The number stands out from its own cell.
            const Color under = mixed(theme.low, theme.high, share);
            const bool dark = under.r * 3 + under.g * 6 + under.b < 1280;
            frame.label({left + wide / 2, top + high / 2 + kTextSize / 3}, text, dark ? Color{255, 255, 255} : Color{20, 20, 20}, Align::centre);
        }
    }
    double taken = -1e9;
    for (std::size_t c = 0; c < columns; ++c) {
        const double at = frame.left() + wide * (static_cast<double>(c) + 0.5), half = text_width(chart.columns[c], kTextSize) / 2;
        if (at - half < taken + 6) continue;
        frame.label({std::min(at, size.width - half - 2), frame.bottom() + kTextSize + 4}, chart.columns[c], theme.muted, Align::centre);
        taken = at + half;
    }
    frame.border();
    return frame.take();
}

}  // namespace kvplan::charts
