#pragma once

#include "planner/engines/sglang/kv_cells.hpp"

namespace kvplan::sglang {

/// DeepSeek-V4 (DSV4PoolConfigurator): per token of full length, over the layers of the stage,
///   b = r kv N + kv n4/4 + kv n128/128 + idx n4/4 + r (ring/window)(4 hd + 4 idx_dim) 4 n4  [+ r (2 hd 4) n128 before 2026-07]
/// with kv = nope + 2 rope + 8, idx = index_head_dim + 4 per 128, ring 8 (16 with drafts), and (N+1)/N with drafts.
[[nodiscard]] KvCells compressed_cells(const Scenario& scenario, const StageLayers& stage);

/// State of the 128-fold layers for `requests` running on one DP worker: rows of 2 head_dim fp32 values, 128 a request and
/// 129 more, in whole 128s. 0 before 2026-07-01.
[[nodiscard]] Bytes request_state(const Scenario& scenario, const StageLayers& stage, std::int64_t requests);

}  // namespace kvplan::sglang
