#pragma once

#include <cstdint>
#include <string_view>

#include "planner/engines/engine.hpp"
#include "planner/scenario.hpp"

namespace kvplan::vllm {

/// What the engine sets where a flag is absent, by version and GPU.

/// gpu_memory_utilization: 0.90, 0.92 since 2026-04-21.
[[nodiscard]] double utilization(const Scenario& scenario);
/// Memory of one GPU as the process sees it in all (cudaMemGetInfo): the driver's total less what the driver keeps back.
[[nodiscard]] Bytes process_total(const Scenario& scenario);
/// 1024 from 70 GiB on (A100 apart), else 256. `vllm/engine/arg_utils.py`.
[[nodiscard]] std::int64_t max_num_seqs(const Scenario& scenario);
/// Of a server: 8192 from 70 GiB on (A100 apart), 16384 from 160 GiB (v0.28), else 2048.
[[nodiscard]] std::int64_t max_num_batched_tokens(const Scenario& scenario);
[[nodiscard]] std::int64_t max_model_len(const Scenario& scenario);
/// Draft tokens of one step; 0 without speculative decoding.
[[nodiscard]] std::int64_t speculative_tokens(const Scenario& scenario);
/// Whether the algorithm has layers of its own with KV (all but ngram and suffix decoding).
[[nodiscard]] bool draft_has_layers(const Scenario& scenario);
/// Tokens that may be in flight when a window is full: of one batch, since 2026-07-08 of all concurrent ones.
[[nodiscard]] std::int64_t inflight_tokens(const Scenario& scenario);
/// State blocks of one request and group, drafts included: 1, or 2 where prefixes are cached (mode align).
[[nodiscard]] std::int64_t state_blocks_per_request(const Scenario& scenario);
/// Batch sizes whose graph is captured: 1, 2, 4, then every 8 up to 256, every 16 up to min(2 max_num_seqs, 512).
[[nodiscard]] std::int64_t captured_sizes(const Scenario& scenario);

/// How KV elements are stored.
struct KvDtype {
    std::string_view name = "bfloat16";
    double bytes = 2.0;                  // of one element
    double bytes_per_head = 0.0;         // scales of one token and head, of K and of V each
    bool fp8 = false;
    bool known = true;
};
/// The type that `--kv-cache-dtype` names; auto follows the checkpoint, else the model's type.
[[nodiscard]] KvDtype kv_dtype(const Scenario& scenario);

/// What is filled in for flags that are left out.
[[nodiscard]] std::vector<EngineDefault> engine_defaults(const Scenario& scenario);

[[nodiscard]] bool is_latent(const LlmSpec& model);
[[nodiscard]] bool is_sparse_latent(const LlmSpec& model);
[[nodiscard]] bool is_compressed(const LlmSpec& model);
[[nodiscard]] bool has_state(const LlmSpec& model);

}  // namespace kvplan::vllm
