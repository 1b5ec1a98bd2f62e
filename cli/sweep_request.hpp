#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/context.hpp"
#include "cli/scenario_options.hpp"
#include "planner/sweep/select.hpp"
#include "planner/sweep/shard.hpp"

namespace kvplan::cli {

inline constexpr const char* kDefaultSweepColumns =
    "fits,safe,capacity.max_total_num_tokens,concurrency.full_length,concurrency.steady_state,throughput.output_tokens_per_second,"
    "host.headroom_bytes,invalid";

/// The flags of a sweep as typed.
struct SweepOptions {
    std::vector<std::string> sets;
    bool zip = false, resume = false;
    std::optional<std::int64_t> random;
    std::uint64_t seed = 0;
    std::string where, pareto, by, columns = kDefaultSweepColumns, shard, plot;
    std::optional<std::int64_t> top;
    int threads = 0;
};

/// A sweep that is ready to run.
struct Sweep {
    sweep::Request request;
    std::size_t columns = 0;
    std::vector<sweep::Goal> pareto;
    std::optional<sweep::Goal> by;
    std::optional<sweep::Shard> shard;
    std::string asked;                        // all that decides on the rows, the scenario and the form apart
};

[[nodiscard]] std::optional<Sweep> prepare_sweep(const SweepOptions& options, const ScenarioOptions& scenario_options, const Context& context, Diagnostics& diagnostics);

}  // namespace kvplan::cli
