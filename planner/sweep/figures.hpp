#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/plan.hpp"
#include "planner/sweep/grid.hpp"
#include "units/diagnostic.hpp"

namespace kvplan::sweep {

enum class CellKind { null, boolean, number, text };

/// One value of a row. `text` is how it is written: a JSON literal unless it is a text.
struct Cell {
    CellKind kind = CellKind::null;
    double number = 0.0;                      // of a number; a boolean is 0 or 1
    std::string text;
};

/// A value as typed: a JSON number stays one, digit for digit; true and false; all else is text.
[[nodiscard]] Cell cell_of(std::string_view typed);

/// What can be asked of a point: a swept field, a field of its plan, or "invalid" (why the point has no plan).
struct Figure {
    std::string name;                         // dotted, as in the plan's JSON
    std::optional<std::size_t> axis;
    std::string member;                       // top-level member of the plan
    std::vector<std::string> path;            // below it
    bool invalid = false;
};

/// Dotted names of all single figures of a plan (those in lists are left out), then "invalid".
[[nodiscard]] const std::vector<std::string>& figure_names();

/// By a swept field's name, a dotted name, or the last parts of one when they mean one figure only. An ambiguous or
/// unknown name is diagnosed under `flag`.
[[nodiscard]] std::optional<Figure> find_figure(std::string_view name, const std::vector<Axis>& axes, std::string_view flag, Diagnostics& diagnostics);

/// Figures of one plan, each top-level member made once. An estimate gives its expected value; what does not apply is null.
[[nodiscard]] std::vector<Cell> read_figures(const std::vector<Figure>& figures, const Plan& plan);

}  // namespace kvplan::sweep
