#include "planner/sweep/grid.hpp"

namespace kvplan::sweep {

namespace {

std::int64_t whole(const Grid& grid) {
    std::int64_t points = 1;
    for (const Axis& axis : grid.axes) points *= axis.size();
    return points;
}

// SplitMix64's finaliser: its bits depend on all bits of the input.
std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

// A Feistel network permutes 2^(2 half) numbers; walking the cycle keeps to those below `size`.
std::int64_t permuted(std::int64_t index, std::int64_t size, std::uint64_t seed) {
    int half = 1;
    while (half < 31 && (std::int64_t{1} << (2 * half)) < size) ++half;
    if ((std::int64_t{1} << (2 * half)) < size) half = 31;
    const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
    auto x = static_cast<std::uint64_t>(index);
    do {
        std::uint64_t left = x >> half, right = x & mask;
        for (std::uint64_t round = 0; round < 6; ++round) {
            const std::uint64_t next = left ^ (mixed(right ^ mixed(seed * 8 + round)) & mask);
            left = right;
            right = next;
        }
        x = (left << half) | right;
    } while (x >= static_cast<std::uint64_t>(size));
    return static_cast<std::int64_t>(x);
}

Diagnostic fault(std::string flag, std::string message, std::string hint) {
    Diagnostic diagnostic;
    diagnostic.code = "sweep.grid";
    diagnostic.pointer = std::move(flag);
    diagnostic.message = std::move(message);
    diagnostic.hint = std::move(hint);
    return diagnostic;
}

}  // namespace

std::int64_t Grid::points() const {
    if (random) return *random;
    return zip ? axes.front().size() : whole(*this);
}

std::vector<std::int64_t> Grid::indices(std::int64_t point) const {
    if (zip) return std::vector<std::int64_t>(axes.size(), random ? permuted(point, axes.front().size(), seed) : point);
    if (random) point = permuted(point, whole(*this), seed);
    std::vector<std::int64_t> result(axes.size());
    for (std::size_t i = axes.size(); i-- > 0;) {
        result[i] = point % axes[i].size();
        point /= axes[i].size();
    }
    return result;
}

bool check(const Grid& grid, Diagnostics& diagnostics) {
    constexpr std::int64_t kMost = std::int64_t{1} << 62;
    std::int64_t points = 1;
    for (std::size_t i = 0; i < grid.axes.size(); ++i) {
        const Axis& axis = grid.axes[i];
        for (std::size_t j = 0; j < i; ++j)
            if (grid.axes[j].field == axis.field) diagnostics.add(fault("--set", std::string(axis.field->name) + " is set twice", "give all its values in one --set"));
        if (grid.zip && axis.size() != grid.axes.front().size())
            diagnostics.add(fault("--zip", std::string(axis.field->name) + " has " + std::to_string(axis.size()) + " values, " + std::string(grid.axes.front().field->name) + " " + std::to_string(grid.axes.front().size()), "with --zip all fields have the same number of values"));
        if (points > kMost / axis.size()) {
            diagnostics.add(fault("--set", "the grid has more points than can be counted", "fewer or coarser axes"));
            return false;
        }
        points *= axis.size();
    }
    if (grid.axes.empty()) diagnostics.add(fault("--set", "nothing is swept", "--set mem_fraction_static=0.80:0.95:0.01"));
    else if (grid.zip) points = grid.axes.front().size();
    if (grid.random && *grid.random > points) diagnostics.add(fault("--random", "the sweep has only " + std::to_string(points) + " points", "leave --random out for all of them"));
    return !diagnostics.has_errors();
}

}  // namespace kvplan::sweep
