#pragma once

#include <optional>

#include "planner/concurrency/admission.hpp"
#include "planner/plan.hpp"

namespace kvplan {

/// The lengths of a workload as the closed forms take them. A spread that is not given counts as none (all requests alike);
/// one given by mean and p95 is a log-normal's. Unset when the split into prompt and output is unknown.
[[nodiscard]] std::optional<RequestShape> request_shape(const Workload& workload);

/// Requests that run at once, four ways (full length, steady state, retraction-free, the engine's admission rule).
/// Takes `plan` with everything up to `capacity` filled in; `max_total_num_tokens` and `max_running_requests` are of one DP
/// worker, the results of all workers of all replicas. With only `request_tokens` the split is unknown: full_length is set,
/// steady_state_low is the same (nothing retracted whatever the split) and steady_state_high is that of 1 part prompt to 7
/// parts output. All null when no length is known, but for `by_context`. A decode batch beyond the largest captured graph
/// runs without one and is no limit.
[[nodiscard]] ConcurrencyPlan plan_concurrency(const Scenario& scenario, const Plan& plan);

/// `plan.concurrency` with `in_flight` requests running in the whole deployment because no more are offered.
[[nodiscard]] ConcurrencyPlan at_offered_rate(const Scenario& scenario, const Plan& plan, double in_flight);

}  // namespace kvplan
