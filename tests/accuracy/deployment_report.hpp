// Statistics of compared deployments, and the tables of docs/accuracy.md.
#pragma once

#include <string>
#include <vector>

#include "tests/accuracy/deployments.hpp"

namespace kvplan::accuracy {

/// Over the votes of deployments: the vote is the median of a deployment's rows.
struct Statistics {
    std::size_t rows = 0, votes = 0;
    double median = 0, p90 = 0, p95 = 0, worst = 0;   // of |error|
};
[[nodiscard]] Statistics statistics(const std::vector<Comparison>& rows);

/// Share of the rows with a stated interval that contain the observed value; 1 when no row states one.
[[nodiscard]] double coverage(const std::vector<Comparison>& rows);

/// How a row stands in statistics: rows whose pool is under a quarter of the budget are judged by memory, fitted rows of a model
/// do not vote on it.
[[nodiscard]] bool votes(const Comparison& row);

/// A start whose fraction is known, against the interval that the planner calls feasible.
struct FeasibleRow {
    const Deployment* row = nullptr;
    double fraction = 0;
    std::optional<double> min, max;
    bool started = true, fits = true;
    [[nodiscard]] bool inside() const { return min && max && *min <= fraction && fraction <= *max; }
};
[[nodiscard]] std::vector<FeasibleRow> feasible_rows(const std::vector<Deployment>& rows);

/// The part of docs/accuracy.md that is about deployments.
[[nodiscard]] std::string deployments_markdown(const std::vector<Deployment>& rows, const std::vector<Comparison>& compared,
                                               const std::vector<FeasibleRow>& feasible);

}  // namespace kvplan::accuracy
