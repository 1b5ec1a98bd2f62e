#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "planner/plan.hpp"
#include "planner/scenario.hpp"

namespace kvplan::exporting {

inline constexpr int kSchemaVersion = 1;

/// The plan and its resolved scenario as one JSON object with the keys of docs/plan.schema.json. Sizes are whole bytes,
/// per rank unless the key says otherwise; an estimate is {low, expected, high, basis}; what does not apply is null.
[[nodiscard]] nlohmann::ordered_json plan_json(const Scenario& scenario, const Plan& plan);

/// The figures of one top-level member of plan_json that needs no scenario ("gpu", "fits", …); null for other names.
[[nodiscard]] nlohmann::ordered_json plan_member(const Plan& plan, std::string_view name);

/// The scenario: every field with its value (null when unset) and where it came from.
[[nodiscard]] nlohmann::ordered_json scenario_json(const Scenario& scenario);

/// Text with two spaces of indentation and a final newline; numbers that are whole are written without a point.
[[nodiscard]] std::string dump(const nlohmann::ordered_json& document);

}  // namespace kvplan::exporting
