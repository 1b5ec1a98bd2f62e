#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "units/diagnostic.hpp"

namespace kvplan::sweep {

/// One of `count` parts of a sweep, numbered from 0.
struct Shard {
    std::int64_t index = 0, count = 1;
};

/// Points [begin, end).
struct PointRange {
    std::int64_t begin = 0, end = 0;
};

/// Neighbouring points; sizes differ by one point at most.
[[nodiscard]] PointRange range_of(const Shard& shard, std::int64_t points);

/// Value of an environment variable; nothing when it is unset or empty.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// A scheduler's number for this process among its like. Indexed Kubernetes jobs do not tell how many there are.
struct Rank {
    std::int64_t index = 0;
    std::optional<std::int64_t> count;
    std::string_view variable;                // it was read from
};

/// From the variables of a Slurm array, a Kubernetes Indexed Job, MPI (Open MPI, PMIx, PMI of MPICH and Intel) or srun.
[[nodiscard]] std::optional<Rank> find_rank(const Environment& environment);

/// "i/N" with i from 0 (N/N means 0/N, so that counting from 1 covers all parts as well), "auto" (index and number from
/// the scheduler) or "auto/N" (the index from it). Faults go to `diagnostics` under --shard.
[[nodiscard]] std::optional<Shard> parse_shard(const std::string& text, const Environment& environment, Diagnostics& diagnostics);

}  // namespace kvplan::sweep
