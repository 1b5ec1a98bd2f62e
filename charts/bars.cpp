#include <algorithm>

#include "charts/frame.hpp"

namespace kvplan::charts {
namespace {

/// Names of parts in the order in which they first come; a part of the same name has the same colour in every bar.
std::vector<std::string> part_names(const BarChart& chart) {
    std::vector<std::string> names;
    for (const Bar& bar : chart.bars)
        for (const BarPart& part : bar.parts)
            if (std::find(names.begin(), names.end(), part.name) == names.end()) names.push_back(part.name);
    return names;
}

bool is_spare(const BarChart& chart, const std::string& name) {
    for (const Bar& bar : chart.bars)
        for (const BarPart& part : bar.parts)
            if (part.name == name) return part.spare;
    return false;
}

}  // namespace

Drawing draw(const BarChart& chart, Size size, const Theme& theme) {
    Frame frame(size, theme);
    const std::vector<std::string> names = part_names(chart);
    const auto color_of = [&](const std::string& name) {
        const auto at = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
        return is_spare(chart, name) ? theme.forbidden : theme.series[at % theme.series.size()];
    };
    std::vector<Frame::Key> keys;
    for (const std::string& name : names) keys.push_back({name, color_of(name), false, true, is_spare(chart, name)});
    frame.head(chart.title, keys);
    double most = 0.0;
    std::vector<std::string> rows;
    for (const Bar& bar : chart.bars) {
        double sum = 0.0;
        for (const BarPart& part : bar.parts) sum += std::max(0.0, part.value);
        most = std::max(most, sum);
        rows.push_back(bar.name);
    }
    for (const Marker& limit : chart.limits) most = std::max(most, limit.x);
    frame.margins(rows, "", chart.value.title);
    if (chart.bars.empty() || !(most > 0.0)) {
        frame.border();
        frame.say("no data");
        return frame.take();
    }
    const Scale x = scale_of(chart.value, 0.0, most, std::max(3, static_cast<int>(size.width / 95)));
    frame.x_axis(chart.value, x);
    const double row = (frame.bottom() - frame.top()) / static_cast<double>(chart.bars.size());
    for (std::size_t i = 0; i < chart.bars.size(); ++i) {
        const double above = frame.top() + row * (static_cast<double>(i) + 0.22), below = frame.top() + row * (static_cast<double>(i) + 0.86);
        frame.label({frame.left() - kGap, (above + below) / 2 + kTextSize / 3}, chart.bars[i].name, theme.text, Align::right);
        double at = 0.0;
        for (const BarPart& part : chart.bars[i].parts) {
            if (part.value <= 0.0) continue;
            frame.add(Box{{frame.x(x.share(at)), above}, {frame.x(x.share(at + part.value)), below}, color_of(part.name), part.spare, part.name + ": " + number_text(chart.value.unit, part.value)});
            at += part.value;
        }
    }
    frame.border();
    frame.markers(chart.limits, x);
    return frame.take();
}

}  // namespace kvplan::charts
