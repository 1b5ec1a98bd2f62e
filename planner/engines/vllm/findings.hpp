#pragma once

#include "planner/engines/engine.hpp"

namespace kvplan::vllm {

/// error    vllm_weights_do_not_fit, vllm_request_does_not_fit, vllm_free_below_requested, gpu_fraction_infeasible
/// warning  gpu_fraction_outside_feasible, vllm_low_end_does_not_fit, lmcache_size_not_passed_on
/// note     kv_heads_replicated, latent_replicated, hybrid_padding, vllm_tokens_under_reported, kv_bytes_override_fraction
void add_findings(const Scenario& scenario, Plan& plan);

}  // namespace kvplan::vllm
