#pragma once

#include <optional>
#include <string_view>

#include "planner/plan.hpp"
#include "planner/scenario.hpp"

namespace kvplan::sglang {

/// What the third tier behind HiCache takes: `--hicache-storage-backend`, or LMCache in HiCache's place. Unset without one.
///  - mooncake: each rank registers `global_segment_size` / tp (default 4 GiB; an undivided segment each before v0.5.6) and a
///    client buffer of 16 MB, in RAM beside the host pools; 0 where store nodes of their own give the memory
///    (mem_cache/storage/mooncake_store). Units of the size are binary: "4gb" is 4 x 1024^3.
///  - file: one file a page and rank, of the page's bytes; nothing bounds them by default.
///  - hf3fs: a file of 1 TiB a rank, whatever is in it; one shared file for a latent.
///  - others: what they take is theirs to say.
/// A latent is written by one rank alone, other KV by each rank. `slot_bytes` is one token in the main host pool of a rank.
[[nodiscard]] std::optional<StoragePlan> storage_tier(const Scenario& scenario, double slot_bytes, std::int64_t page, bool latent);

/// "4gb", "512mb", "1024" in bytes, units of 1024; unset when it is no size.
[[nodiscard]] std::optional<Bytes> segment_size(std::string_view text);

}  // namespace kvplan::sglang
