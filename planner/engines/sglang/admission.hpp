#pragma once

#include "planner/concurrency/admission.hpp"
#include "planner/engines/engine.hpp"
#include "planner/scenario.hpp"

namespace kvplan::sglang {

/// new_token_ratio of a server that retracts nothing: min(0.7 x conservativeness, 1) x 0.14, reached after 600 decode steps;
/// DP attention multiplies the conservativeness by 0.3. (managers/schedule_policy.py, server_args.py, read 2026-08-22)
[[nodiscard]] double steady_new_token_ratio(const EngineOptions& options);

/// Requests of one DP worker when the prefill adder's test holds with equality: a prompt is admitted while
///     prompt + min(max_new, 4096) + page < free - ratio x sum over running of min(max_new - generated, 4096),
/// so n = (M - S - E[I] - min(max_new, 4096) - P)/(E[I] + (E[O]/2)(1 + c^2) + ratio x E[min(max_new - generated, 4096)]),
/// at least 1 and never more than the pool holds. These are the requests at the moment before the next is let in. The
/// mean lies half a gate above where nothing is retracted; where much is, the ratio rises and the mean falls back to n.
[[nodiscard]] double admitted_requests(const EngineOptions& options, const AdmissionCase& c);

/// A step is a prefill or a decode batch unless --enable-mixed-chunk; two batches may alternate where experts exchange tokens
/// through an all-to-all backend (managers/scheduler.py, two_batch_overlap.py).
[[nodiscard]] StepRules step_rules(const Scenario& scenario);

}  // namespace kvplan::sglang
