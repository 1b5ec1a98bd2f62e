#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/log/record.hpp"
#include "units/bytes.hpp"

namespace kvplan::logs {

/// What one start really did, of one rank and in bytes; of several ranks the one that decides (the smallest pool wins).
/// The log prints two decimals, so a size of the GPU side is known to kRoundingGib on each side.
struct Observed {
    std::optional<Bytes> total;                  // vLLM prints it
    std::optional<Bytes> free_before_load;       // min over ranks
    std::optional<Bytes> free_after_load;        // min over ranks
    std::optional<Bytes> weights;                // of the first rank
    std::optional<Bytes> draft_weights;
    std::optional<Bytes> kv_pool;                // all KV tensors of the target: full, window
    std::optional<Bytes> draft_kv_pool;
    std::optional<Bytes> state_pool;             // conv + ssm, drafted states included
    std::optional<Bytes> left_after_pools;       // min over ranks
    std::optional<Bytes> left_after_graphs;      // min over ranks
    std::optional<Bytes> graphs;                 // sum over the captures of one rank
    std::optional<std::int64_t> max_total_num_tokens, swa_tokens, state_slots, max_running_requests, context_length, gpu_blocks;
    std::optional<double> max_concurrency_full_context;
    std::optional<double> bytes_per_token;       // pool / tokens, or as the log prints it
    std::optional<std::string> kv_dtype;         // "bfloat16"
    std::vector<HostPoolLine> host_pools;        // of one rank
    std::optional<Bytes> host_bytes_per_rank;    // their sum; decimal GB as printed
    // vLLM
    std::optional<Bytes> requested, available_kv, activation, non_torch;
    std::optional<double> fraction;              // mem_fraction_static or gpu_memory_utilization as the log says
    int ranks = 0;                               // ranks that printed something
};

inline constexpr double kRoundingGib = 0.005;

[[nodiscard]] Observed observe(const StartRecord& start);

/// 1 - (free_after - pools) / free_before: the fraction SGLang must have used, within the log's rounding.
[[nodiscard]] std::optional<double> implied_fraction(const Observed& observed);

/// "torch.bfloat16" -> "bfloat16", "torch.float8_e4m3fn" -> "fp8_e4m3".
[[nodiscard]] std::string dtype_name(std::string_view torch_name);

}  // namespace kvplan::logs
