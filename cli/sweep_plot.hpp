#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "charts/chart.hpp"
#include "planner/sweep/points.hpp"

namespace kvplan::cli {

/// A sweep of one field as a curve, of two as a heat map: of the first column that has numbers.
class SweepPlot {
public:
    /// Why the sweep has no picture; empty when it has one.
    [[nodiscard]] static std::string obstacle(const sweep::Request& request);

    SweepPlot(const sweep::Request& request, std::size_t columns) : request_(request), columns_(columns) {}
    void add(const sweep::Row& row);

    using Chart = std::variant<charts::LineChart, charts::HeatMap>;
    /// Nothing when no column has a number.
    [[nodiscard]] std::optional<Chart> chart() const;

private:
    [[nodiscard]] charts::LineChart curve(std::size_t figure) const;
    [[nodiscard]] charts::HeatMap heat_map(std::size_t figure) const;
    const sweep::Request& request_;
    std::size_t columns_;
    std::map<std::int64_t, sweep::Row> rows_;
};

[[nodiscard]] charts::Drawing drawn(const SweepPlot::Chart& chart);
[[nodiscard]] std::string typed(const SweepPlot::Chart& chart, int width);

}  // namespace kvplan::cli
