#pragma once

#include <string_view>
#include <vector>

#include "planner/engines/engine.hpp"

namespace kvplan::vllm {

/// What a worker holds beside weights and KV when the engine measures it, per rank of one pipeline stage. The engine
/// measures it itself (a profile run with max_num_batched_tokens tokens and a sampler run with max_num_seqs rows), so this is
/// a model of a measurement, with an interval:
///
///   activation  max(sampler, forward) + MoE workspace + encoder output
///     sampler   c V + batched tokens x hidden x 2 + 0.12 GiB, V = max_num_seqs x vocabulary x 4 bytes, last stage only
///               c = 3.5 since v0.17: logits in 16 bits (0.5) and fp32 (1), probabilities (1), noise (1)
///               c = 9.5 before: logits 0.5 + 1, sorted values 1, their indices 2, the iota 2, radix keys 1 and indices 2
///     forward   batched tokens x 2 x (5 hidden + 3 intermediate of a rank)
///     MoE       batched tokens x top-k x (max(2 intermediate, hidden) + intermediate) x 2, of 16- and 8-bit experts
///   non-torch   0.25 GiB alone; in a group also all-reduce buffers: 2.1 GiB over NVLink, 0.5 over PCIe
///   graphs      0.39 GiB + 17.4 MB a layer when 51 sizes are captured, less with fewer
///
/// Sources: the engine's sampler and torch's segmented sort (c); 30 logs of one public sweep (v0.19, H100) for the constants
/// in GiB. The total of one GPU agrees with 0.52 + 3.42 V of the same logs within 0.16 GiB.
struct Overhead {
    Estimate<Bytes> activation, communicator, experts, encoder;
    Estimate<Bytes> graphs;      // outside `total`: inside the fraction only since v0.21

    [[nodiscard]] Estimate<Bytes> total() const;
};
[[nodiscard]] Overhead overhead(const Scenario& scenario, bool last_stage, std::int64_t layers);

[[nodiscard]] Estimate<Bytes> sum(const Estimate<Bytes>& a, const Estimate<Bytes>& b);

}  // namespace kvplan::vllm
