#include "planner/engines/sglang/findings.hpp"

namespace kvplan::sglang {

void add_findings(const Scenario& /*scenario*/, Plan& /*plan*/) {}

}  // namespace kvplan::sglang
