#pragma once

#include <optional>

#include "planner/log/gaps.hpp"

namespace kvplan::logs {

/// A cause and what speaks for it.
struct Cause {
    std::string code;
    std::vector<std::string> evidence;
};

/// What the rules of causes look at.
struct CauseInput {
    const Scenario* scenario = nullptr;      // the log's settings
    const StartRecord* start = nullptr;
    const Observed* seen = nullptr;
    const Plan* planned = nullptr;
    std::optional<Plan> with_free;           // planned with the measured free memory
    std::optional<Plan> with_weights;        // and with the measured weights
};

/// The first rule that holds for a row's field; none: unexplained.
[[nodiscard]] std::optional<Cause> find_cause(const CauseInput& input, const FigureRow& row);

}  // namespace kvplan::logs
