#pragma once

#include "planner/engines/engine.hpp"

namespace kvplan::sglang {

/// SGLang's rules as versioned tables. One immutable object for the whole process.
[[nodiscard]] const Engine& engine();

}  // namespace kvplan::sglang
