#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "planner/export/report.hpp"
#include "planner/solve.hpp"

namespace kvplan::exporting {

/// "concurrency is 28.0 requests, at least 64.0 requests wanted"
[[nodiscard]] std::string sentence_of(const Unmet& unmet);

/// The answer with its plan, its failing neighbour, or what is to blame that there is none.
[[nodiscard]] nlohmann::ordered_json solution_json(const Solution& solution);
[[nodiscard]] Report solution_report(const Solution& solution);

}  // namespace kvplan::exporting
