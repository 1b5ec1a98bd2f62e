#pragma once

#include <functional>
#include <vector>

#include "planner/sweep/points.hpp"

namespace kvplan::sweep {

/// A figure that should be large (or small).
struct Goal {
    std::size_t figure = 0;                   // index into the request's figures
    bool smaller = false;
};

/// Keeps the `count` best rows by one goal, equal ones in the order of the sweep. Rows without the figure are left out.
class Top {
public:
    Top(std::size_t count, Goal goal) : count_(count), goal_(goal) {}
    void add(Row row);
    [[nodiscard]] std::vector<Row> rows() const { return rows_; }

private:
    std::size_t count_;
    Goal goal_;
    std::vector<Row> rows_;
};

/// Keeps the rows that no other row beats: at least as good in all goals and better in one. Order of the sweep.
class Pareto {
public:
    explicit Pareto(std::vector<Goal> goals) : goals_(std::move(goals)) {}
    void add(Row row);
    [[nodiscard]] std::vector<Row> rows() const { return rows_; }

private:
    std::vector<Goal> goals_;
    std::vector<Row> rows_;
};

/// Calls `take` with the rows of points [begin, end) in order, made by `threads` threads; memory does not grow with
/// their number. Ends early when `take` says false (asked once a block of points) and returns where the next point is.
[[nodiscard]] std::int64_t run(const Points& points, std::int64_t begin, std::int64_t end, int threads,
                               const std::function<bool(std::vector<Row> rows, std::int64_t next)>& take);

}  // namespace kvplan::sweep
