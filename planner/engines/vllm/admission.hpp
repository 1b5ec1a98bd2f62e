#pragma once

#include "planner/concurrency/admission.hpp"
#include "planner/scenario.hpp"

namespace kvplan::vllm {

/// Requests of one engine when blocks are full: vLLM reserves nothing for tokens to come (a request is admitted when the blocks
/// of its next chunk are free) and preempts the latest when a block is lacking, so memory alone counts:
///     n = (M - S)/(E[I] + (E[O]/2)(1 + c^2) + (block - 1)/2).      (v1/core/sched/scheduler.py, read 2026-08-17)
[[nodiscard]] double admitted_requests(const AdmissionCase& c);

/// As above, for models whose layers need blocks in several groups: the pool's blocks over the mean blocks of a running request,
/// which grow with it only in the groups that keep whole requests.
[[nodiscard]] double admitted_requests(const Scenario& scenario, const AdmissionCase& c);

}  // namespace kvplan::vllm
