#pragma once

#include "planner/engines/sglang/kv_cells.hpp"

namespace kvplan::sglang {

/// Attention of the layers that draft: of the draft model, or the checkpoint's MTP layers, or (unknown drafter) one layer
/// like the target's. Empty without drafts, and for NGRAM.
[[nodiscard]] std::vector<Attention> draft_attention(const Scenario& scenario);

/// Adds the draft's cells: its pool has a slot for each slot of the target. In the divisor since 2026-06-12, first by the
/// share of layers: int(c (1 + D / L)), L `target_layers` of the stage that have KV; since 2026-08 by their own geometry
/// for sparse latents and block drafts.
void add_draft(KvCells& cells, const Scenario& scenario, std::int64_t target_layers);

}  // namespace kvplan::sglang
