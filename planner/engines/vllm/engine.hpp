#pragma once

#include "planner/engines/engine.hpp"

namespace kvplan::vllm {

/// vLLM's rules (V1 engine) as versioned tables. One immutable object for the whole process.
[[nodiscard]] const Engine& engine();

}  // namespace kvplan::vllm
