// Results of the planner as charts. Nothing is computed here that the results do not hold.
#pragma once

#include "charts/chart.hpp"
#include "planner/simulate/simulate.hpp"
#include "planner/trace/analysis.hpp"

namespace kvplan::charts {

/// Share of prompt tokens found over the cache's capacity; for a deployment over the host pool of a rank, with the device
/// pool, the largest safe size, the recommended one and the knee.
[[nodiscard]] LineChart hit_rate_chart(const trace::Analysis& analysis);

/// The bound and the expected output over concurrency, both axes logarithmic; a range for each binding resource, the ceilings
/// as dashed lines, and the operating point.
[[nodiscard]] LineChart throughput_chart(const Plan& plan);

/// The concurrencies of a plan, a bar each.
[[nodiscard]] BarChart concurrency_chart(const Plan& plan);

/// Requests that fit at once over the context they hold.
[[nodiscard]] LineChart context_chart(const Plan& plan);

/// Running and queued requests, and the share of the pool in use, over steps or (with step times) seconds.
[[nodiscard]] LineChart timeline_chart(const simulate::Result& result, std::int64_t pool_tokens, bool timed);

}  // namespace kvplan::charts
