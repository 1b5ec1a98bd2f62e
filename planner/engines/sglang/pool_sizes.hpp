#pragma once

#include <optional>
#include <vector>

#include "planner/engines/engine.hpp"
#include "planner/engines/sglang/kv_cells.hpp"
#include "planner/engines/sglang/requests.hpp"

namespace kvplan::sglang {

/// What one pipeline stage brings to the division: its cells and the weights that are there when the engine measures.
struct StageLoad {
    StageLayers layers;
    KvCells cells;
    Bytes weights;        // of the stage, everything that is loaded in the end
    Bytes budgeted;       // of these, loaded before the pools are sized
};

/// Pools that a budget gives; the smallest stage decides.
struct PoolSizes {
    Tokens tokens;                          // max_total_num_tokens
    std::optional<Tokens> window_tokens;
    std::optional<std::int64_t> state_slots;
    RequestLimits requests;
    Bytes kv;                               // as allocated, on the stage that takes most, draft included
    Bytes draft_kv;                         // of that, the draft's
    Bytes state;                            // state slots, drafted states, V4's request state
    double rest = 0.0;                      // bytes left for pools before any is taken, least over the stages
    StageLayers tightest;
};

/// rest = post - pre (1 - f); then state, then tokens = floor(rest / cell), capped, in whole pages.
[[nodiscard]] PoolSizes size_pools(const Scenario& scenario, const std::vector<StageLoad>& loads, Bytes free, double fraction);

/// State slots that `budget` bytes hold, and the states that drafts keep beside them.
struct StatePool {
    std::int64_t slots = 0;
    Bytes bytes;          // slots and drafted states
};
[[nodiscard]] StatePool size_state(const Scenario& scenario, Bytes per_slot, double rest);

/// Memory of multimodal caches that the engine takes off the budget.
[[nodiscard]] Bytes multimodal_reservation(const Scenario& scenario);

}  // namespace kvplan::sglang
