#pragma once

#include <vector>

#include "planner/engines/engine.hpp"

namespace kvplan::vllm {

[[nodiscard]] const std::vector<EngineRule>& rules();

}  // namespace kvplan::vllm
