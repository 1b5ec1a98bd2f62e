#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "planner/compare/compare.hpp"
#include "planner/export/report.hpp"

namespace kvplan::compare {

/// { sides[{label, rule_set, fits, safe}], figures, causes[…], differences[{name, stage, arises, values[], change[], causes[]}] };
/// `change` is the relative change against the first side, null where there is none.
[[nodiscard]] nlohmann::ordered_json comparison_json(const Comparison& comparison);
/// Verdict, causes with the stage where each arises, then the differences stage by stage.
[[nodiscard]] exporting::Report comparison_report(const Comparison& comparison);
/// One line a difference.
[[nodiscard]] std::string comparison_csv(const Comparison& comparison);

}  // namespace kvplan::compare
