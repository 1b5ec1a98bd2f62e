#pragma once

#include <string>

#include "planner/export/report.hpp"
#include "planner/launch/correct.hpp"

namespace kvplan::exporting {

/// What a corrected launch changes, and `command`, the launch with the changes made.
[[nodiscard]] ReportSection correction_section(const launch::Corrected& corrected, const std::string& command);

/// The flag or variable that a correction sets.
[[nodiscard]] std::string flag_of(const launch::Correction& correction, EngineKind engine);

}  // namespace kvplan::exporting
