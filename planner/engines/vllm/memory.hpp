#pragma once

#include "planner/engines/vllm/kv_layout.hpp"
#include "planner/engines/vllm/overhead.hpp"

namespace kvplan::vllm {

/// One pipeline stage before its KV is sized.
struct StageLoad {
    KvLayout layout;
    Estimate<Bytes> weights;
    Overhead overhead;
};
[[nodiscard]] std::vector<StageLoad> stage_loads(const Scenario& scenario, const WeightsPlan& weights);

/// ceil(total x gpu_memory_utilization), total as the process sees it. `vllm/v1/worker/utils.py`, request_memory.
[[nodiscard]] Bytes requested_memory(const Scenario& scenario, double utilization);

/// requested - weights - overhead (- graphs since v0.21), or --kv-cache-memory-bytes. May be negative.
[[nodiscard]] Estimate<Bytes> available_memory(const Scenario& scenario, const StageLoad& load, double utilization);

/// The budget of one GPU, the blocks it gives, and whether one request of max_model_len fits (else the engine refuses to
/// start): then the pools are 0 and `capacity.longest_request_tokens` is the length that the engine would name.
[[nodiscard]] PoolPlan pools(const Scenario& scenario, const WeightsPlan& weights);

}  // namespace kvplan::vllm
