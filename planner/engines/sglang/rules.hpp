#pragma once

#include "planner/engines/engine.hpp"

namespace kvplan::sglang {

/// Every rule with the engine's file and since when: the lasting formulas and each entry of changes().
[[nodiscard]] const std::vector<EngineRule>& rules();

}  // namespace kvplan::sglang
