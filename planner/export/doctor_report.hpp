#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "models/hardware/probe.hpp"
#include "planner/export/report.hpp"
#include "planner/plan.hpp"

namespace kvplan::exporting {

/// {host{…}, gpus[…], findings[…]}; sizes in bytes, null where nothing is known.
[[nodiscard]] nlohmann::ordered_json doctor_json(const Machine& machine, const std::vector<Finding>& findings);
[[nodiscard]] Report doctor_report(const Machine& machine, const std::vector<Finding>& findings);

}  // namespace kvplan::exporting
