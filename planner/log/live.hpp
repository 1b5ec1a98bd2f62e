#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "planner/log/record.hpp"
#include "units/diagnostic.hpp"

namespace kvplan::logs {

/// Input that is no log: what a running server tells of itself.
enum class LiveKind { none, server_info, scrape };

/// By the beginning of a text: a JSON object with a server's settings, or lines of the Prometheus format.
[[nodiscard]] LiveKind live_kind(std::string_view beginning);

/// As one start that is ready, with the figures of the endpoint. Per-rank copies of one gauge (label tp_rank) count once;
/// DP workers (dp_rank) are schedulers of their own. Nothing when the text is not what it seemed (diagnostics tell).
[[nodiscard]] std::optional<LogRecord> read_live(std::string text, LiveKind kind, const std::string& name, Diagnostics& diagnostics);

}  // namespace kvplan::logs
