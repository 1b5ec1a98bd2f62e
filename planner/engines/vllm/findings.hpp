#pragma once

#include "planner/engines/engine.hpp"

namespace kvplan::vllm {

/// error    vllm_free_below_requested, vllm_no_memory_for_blocks, vllm_request_does_not_fit, vllm_no_feasible_utilization,
///          vllm_utilization_too_high
/// warning  vllm_low_end_does_not_fit, lmcache_size_not_passed_on
/// note     vllm_kv_bytes_replace_utilization, vllm_padding_layers, vllm_tokens_under_reported, vllm_latent_replicated,
///          kv_heads_replicated
void add_findings(const Scenario& scenario, Plan& plan);

}  // namespace kvplan::vllm
