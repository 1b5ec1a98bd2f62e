#pragma once

#include "planner/engines/engine.hpp"

namespace kvplan::sglang {

/// What the engine would refuse at start, and flags it does not know: engine.version, engine.tp, engine.dp, engine.ep,
/// engine.pp, engine.fraction, engine.kv_dtype, engine.hicache, engine.speculative.
void check(const Scenario& scenario, Diagnostics& diagnostics);

}  // namespace kvplan::sglang
