#include "cli/sweep_plot.hpp"

#include <algorithm>

#include "charts/theme.hpp"
#include "units/format.hpp"

namespace kvplan::cli {

namespace {

constexpr std::int64_t kMostPoints = 10'000;

charts::Axis axis_of(const std::string& name) {
    charts::Axis axis;
    axis.title = name;
    const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
    if (has("bytes") && !has("bytes_per_token")) axis.unit = charts::Unit::binary_bytes;
    if (has("_seconds")) axis.unit = charts::Unit::seconds;
    return axis;
}

bool is_number(const sweep::Cell& cell) { return cell.kind == sweep::CellKind::number; }

}  // namespace

std::string SweepPlot::obstacle(const sweep::Request& request) {
    if (request.grid.random) return "a random sample has no order to draw";
    if (request.grid.axes.size() > 2 && !request.grid.zip) return "more than two fields are swept";
    if (request.grid.points() > kMostPoints) return "the sweep has more than " + with_commas(kMostPoints) + " points";
    return {};
}

void SweepPlot::add(const sweep::Row& row) { rows_.emplace(row.point, row); }

std::optional<SweepPlot::Chart> SweepPlot::chart() const {
    for (std::size_t figure = 0; figure < columns_; ++figure) {
        if (std::none_of(rows_.begin(), rows_.end(), [&](const auto& entry) { return is_number(entry.second.cells[figure]); })) continue;
        if (request_.grid.axes.size() == 1 || request_.grid.zip) return curve(figure);
        return heat_map(figure);
    }
    return std::nullopt;
}

// Values that are no numbers stand one after the other.
charts::LineChart SweepPlot::curve(std::size_t figure) const {
    charts::LineChart chart;
    chart.x = axis_of(std::string(request_.grid.axes.front().field->name));
    chart.y = axis_of(request_.figures[figure].name);
    chart.title = chart.y.title;
    const bool numbers = std::all_of(rows_.begin(), rows_.end(), [](const auto& entry) { return is_number(entry.second.swept.front()); });
    charts::Series series;
    for (const auto& [point, row] : rows_)
        if (is_number(row.cells[figure])) series.points.push_back({numbers ? row.swept.front().number : static_cast<double>(point), row.cells[figure].number});
    std::stable_sort(series.points.begin(), series.points.end(), [](const charts::Point& a, const charts::Point& b) { return a.x < b.x; });
    chart.series.push_back(std::move(series));
    return chart;
}

// The first field upwards, the second to the right.
charts::HeatMap SweepPlot::heat_map(std::size_t figure) const {
    const sweep::Axis &down = request_.grid.axes[0], &across = request_.grid.axes[1];
    charts::HeatMap map;
    map.x = axis_of(std::string(across.field->name));
    map.y = axis_of(std::string(down.field->name));
    map.value = axis_of(request_.figures[figure].name);
    map.title = map.value.title;
    for (std::int64_t i = 0; i < across.size(); ++i) map.columns.push_back(across.value(i));
    for (std::int64_t i = 0; i < down.size(); ++i) map.rows.push_back(down.value(i));
    map.cells.resize(map.columns.size() * map.rows.size());
    for (const auto& [point, row] : rows_)
        if (is_number(row.cells[figure])) map.cells[static_cast<std::size_t>(point)] = row.cells[figure].number;
    return map;
}

charts::Drawing drawn(const SweepPlot::Chart& chart) {
    return std::visit([](const auto& kind) { return charts::draw(kind, {900, 500}, charts::theme_of(charts::Look::light)); }, chart);
}

std::string typed(const SweepPlot::Chart& chart, int width) {
    return std::visit([&](const auto& kind) { return charts::typed(kind, std::max(40, width)); }, chart);
}

}  // namespace kvplan::cli
