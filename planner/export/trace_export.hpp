#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "planner/export/report.hpp"
#include "planner/trace/analysis.hpp"

namespace kvplan::exporting {

/// `{ requests, span_seconds, input_tokens, output_tokens, block_tokens, distinct_blocks, curve[…], workload{…},
/// recommendation{…} }`, with `reading` and, when asked for, `tiers` beside. Without block ids curve is empty.
[[nodiscard]] nlohmann::ordered_json trace_json(const trace::Analysis& analysis);

/// The same for people, with a chart of the hit rate.
[[nodiscard]] Report trace_report(const trace::Analysis& analysis);

/// The curve as a table: one header line, one line a capacity.
[[nodiscard]] std::string trace_csv(const trace::Analysis& analysis);

/// A bar of up to `width` columns in eighths of a column.
[[nodiscard]] std::string bar(double share, int width);

}  // namespace kvplan::exporting
