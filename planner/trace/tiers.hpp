// Hit rates of two and three cache tiers under an engine's write policies.
//
// SGLang's HiCache (hiradix_cache.py, read 2026-08): the GPU holds the most recent blocks, the host a copy of some blocks;
// a copy of a block that is on the GPU stays pinned; the host drops the least recent block that it alone holds; a reload
// keeps the host's copy. What differs between the policies is when a copy is made.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "planner/trace/hit_curve.hpp"
#include "planner/trace/trace.hpp"

namespace kvplan::trace {

enum class WritePolicy {
    write_through,            ///< when a block enters the GPU
    write_through_selective,  ///< on its second insertion; a request inserts twice, so in effect at its end
    write_back,               ///< when a block leaves the GPU
    second_use,               ///< when a block is used again while on the GPU: "selective" as its name suggests it
};
[[nodiscard]] std::string_view name_of(WritePolicy policy);
/// Nothing when `name` is none of write_through, write_through_selective, write_back.
[[nodiscard]] std::optional<WritePolicy> write_policy_named(std::string_view name);

struct TierSizes {
    std::int64_t device_blocks = 0;
    std::int64_t host_blocks = 0;       ///< 0: no host tier
    bool storage = false;               ///< a third tier
    Capacity storage_blocks = {};       ///< of it; unset is without limit
};

/// Shortest part of a prompt that SGLang fetches from the third tier.
inline constexpr std::int64_t kStorageThresholdTokens = 256;

struct TierResult {
    std::int64_t requests = 0, blocks = 0, input_tokens = 0;   ///< counted ones
    std::int64_t device_hit_blocks = 0, host_hit_blocks = 0, storage_hit_blocks = 0;
    std::int64_t device_hit_tokens = 0, host_hit_tokens = 0, storage_hit_tokens = 0;
    std::int64_t written_blocks = 0;    ///< copied from the GPU to the host
    [[nodiscard]] double rate(std::int64_t tokens) const {
        return input_tokens > 0 ? static_cast<double>(tokens) / static_cast<double>(input_tokens) : 0.0;
    }
    [[nodiscard]] double device_rate() const { return rate(device_hit_tokens); }
    [[nodiscard]] double total_rate() const { return rate(device_hit_tokens + host_hit_tokens + storage_hit_tokens); }
};

/// Block by block through the whole trace. Under write_through the result is the curve: total = curve(host), GPU part =
/// curve(GPU), when the host is no smaller than the GPU.
[[nodiscard]] TierResult simulate_tiers(const Trace& trace, WritePolicy policy, const TierSizes& sizes,
                                        double warmup_share = 0.0);

}  // namespace kvplan::trace
