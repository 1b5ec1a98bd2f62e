#pragma once

#include "planner/engines/engine.hpp"

namespace kvplan {
class Diagnostics;
}

namespace kvplan::vllm {

/// Flags that this version would refuse or does not have, and versions that are not known.
void check(const Scenario& scenario, Diagnostics& diagnostics);

}  // namespace kvplan::vllm
