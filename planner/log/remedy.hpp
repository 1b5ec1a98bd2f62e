#pragma once

#include <optional>

#include "planner/log/analysis.hpp"

namespace kvplan::logs {

/// A way out of a failed start as a launch command. What the log measured (free memory, weights, what vLLM found for KV, free
/// host memory) stands in the plan that checks it: the command fits and is safe by that plan. None: no rule leads to one, or
/// the log does not tell what it would need (the host's memory of a server that was killed).
[[nodiscard]] std::optional<CheckedCommand> remedy_for(const StartAnalysis& analysis);

}  // namespace kvplan::logs
