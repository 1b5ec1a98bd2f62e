#pragma once

#include <map>
#include <variant>
#include <vector>

#include "planner/resolve.hpp"
#include "planner/sweep/expression.hpp"
#include "planner/sweep/grid.hpp"

namespace kvplan::sweep {

/// What a sweep asks of every point.
struct Request {
    Scenario base;                            // before anything is looked up
    CatalogueOptions catalogues;
    Grid grid;
    std::vector<Figure> figures;              // of every row: the columns, then what a selection goes by
    std::optional<Expression> where;
};

struct Row {
    std::int64_t point = 0;
    std::vector<Cell> swept;                  // one an axis
    std::vector<Cell> cells;                  // one a figure
    bool valid = false;
};

struct PlannedPoint {
    Scenario scenario;
    Plan plan;
};

/// Makes rows of points. Models, drafters, GPUs and traces are looked up once for each combination of swept values
/// that names them. May be used by several threads at once.
class Points {
public:
    explicit Points(Request request) : request_(std::move(request)) {}
    [[nodiscard]] const Request& request() const { return request_; }

    /// Looks up everything the sweep names; faults go to `diagnostics`.
    [[nodiscard]] bool look_up_all(Diagnostics& diagnostics);
    [[nodiscard]] Row row(std::int64_t point) const;
    /// Nothing when the point cannot be planned.
    [[nodiscard]] std::optional<PlannedPoint> planned(std::int64_t point) const;
    /// Whether --where keeps it. Without a condition all rows are kept, invalid ones too.
    [[nodiscard]] std::optional<Row> kept_row(std::int64_t point) const;

private:
    using Key = std::vector<std::int64_t>;
    [[nodiscard]] Key key_of(const std::vector<std::int64_t>& indices) const;
    /// A plan, or why there is none.
    using Outcome = std::variant<PlannedPoint, std::string>;
    [[nodiscard]] Outcome outcome_of(const std::vector<std::int64_t>& indices) const;
    [[nodiscard]] Row made(std::int64_t point, std::vector<Cell>* conditions) const;

    Request request_;
    std::map<Key, Scenario> looked_up_;       // whole after look_up_all; read only from then on
};

}  // namespace kvplan::sweep
