#include "planner/engines/sglang/engine.hpp"
#include "planner/engines/vllm/engine.hpp"

namespace kvplan {

// The one place that knows which engines there are.
const Engine& engine_of(const EngineOptions& options) { return options.kind == EngineKind::vllm ? vllm::engine() : sglang::engine(); }

}  // namespace kvplan
