#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/sweep/axis.hpp"

namespace kvplan::sweep {

/// The points of a sweep, numbered from 0 and made one by one: nothing grows with their number.
struct Grid {
    std::vector<Axis> axes;                   // the last varies fastest
    bool zip = false;                         // the axes go together instead
    std::optional<std::int64_t> random;       // so many different points of the whole grid, in a random order
    std::uint64_t seed = 0;

    [[nodiscard]] std::int64_t points() const;
    /// An index into each axis. Of a random sample the permutation of the grid is computed, not stored.
    [[nodiscard]] std::vector<std::int64_t> indices(std::int64_t point) const;
};

/// Lengths of a zip that differ, a sample larger than its grid, the same field twice, more points than 64 bits count.
[[nodiscard]] bool check(const Grid& grid, Diagnostics& diagnostics);

}  // namespace kvplan::sweep
