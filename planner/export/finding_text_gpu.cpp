#include "planner/export/finding_text.hpp"

namespace kvplan::exporting {

std::vector<FindingTemplate> gpu_finding_templates() { return {}; }

}  // namespace kvplan::exporting
