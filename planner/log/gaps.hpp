#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/log/observed.hpp"
#include "planner/plan.hpp"
#include "planner/scenario.hpp"

namespace kvplan::logs {

enum class RowUnit { bytes, tokens, requests, bytes_per_token, slots, text };

/// One figure of a start, observed and planned.
struct FigureRow {
    std::string_view field;                  // dotted name as in a plan's JSON
    RowUnit unit = RowUnit::bytes;
    std::optional<double> observed, planned, planned_low, planned_high;
    std::string observed_text, planned_text; // of a RowUnit::text
};

/// A figure that differs by more than 1 %, with its cause.
struct Gap {
    std::string_view field;
    double observed = 0.0, planned = 0.0;
    RowUnit unit = RowUnit::bytes;
    std::string cause;                       // of causes(); "unexplained" when no rule applies
    std::vector<std::string> evidence;
};

struct CauseText {
    std::string_view code, meaning;
};
/// Every cause a gap can have; docs/log.md is made from it.
[[nodiscard]] const std::vector<CauseText>& causes();

struct Comparison {
    Plan planned;                            // from the settings alone, as it would have been made before the launch
    std::vector<FigureRow> rows;
    std::vector<Gap> gaps;
};

/// Plans the log's own settings and explains what differs. Causes are found by putting measured figures into the plan one
/// after the other and seeing which of them makes the difference go away. `scenario` is resolved.
[[nodiscard]] Comparison compare(const Scenario& scenario, const StartRecord& start, const Observed& seen);

/// The day whose rules the log's wording and date stand for, as a version text ("2025-11-25"); empty: nothing tells.
[[nodiscard]] std::string version_by_wording(const StartRecord& start);

}  // namespace kvplan::logs
