#include "planner/engines/sglang/engine.hpp"

namespace kvplan {

// The one place that knows which engines there are.
const Engine& engine_of(const EngineOptions& options) {
    switch (options.kind) {
        case EngineKind::sglang:
        case EngineKind::vllm: break;
    }
    return sglang::engine();
}

}  // namespace kvplan
