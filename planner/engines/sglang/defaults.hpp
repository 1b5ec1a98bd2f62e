#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "planner/engines/engine.hpp"
#include "planner/scenario.hpp"

namespace kvplan::sglang {

/// What the engine sets where a flag is absent. All by version and, where it says so, by GPU memory class.

[[nodiscard]] std::int64_t chunked_prefill_size(const Scenario& scenario);
/// Largest captured batch as the memory rule sees it, whether graphs are on or off.
[[nodiscard]] std::int64_t cuda_graph_max_bs(const Scenario& scenario);
[[nodiscard]] std::int64_t context_length(const Scenario& scenario);
/// Raised by attention backends that need whole pages.
[[nodiscard]] std::int64_t page_size(const Scenario& scenario);
/// Draft tokens a verify step, 0 without speculative decoding.
[[nodiscard]] std::int64_t draft_tokens(const Scenario& scenario);

/// Batch sizes whose decode step is captured.
[[nodiscard]] std::vector<std::int64_t> captured_batches(std::int64_t max_bs, bool speculative);
/// How many prefill sizes are captured up to `max_tokens`.
[[nodiscard]] std::int64_t captured_prefill_sizes(std::int64_t max_tokens);
/// Whether prefill graphs are captured at this version and flags.
[[nodiscard]] bool prefill_graphs(const Scenario& scenario);

/// What the default fraction keeps free, in MiB.
struct ReserveTerm {
    std::string_view name;
    double mib = 0.0;
};
struct DefaultFraction {
    double value = 0.0;
    std::vector<ReserveTerm> reserve;  // empty where the version takes the fraction from a table
    double vision_factor = 1.0;
};
/// mem_fraction_static when the flag is absent. `server_args.py`.
[[nodiscard]] DefaultFraction default_fraction(const Scenario& scenario);

/// What is filled in for flags that are left out.
[[nodiscard]] std::vector<EngineDefault> engine_defaults(const Scenario& scenario);

/// Whether any speculative algorithm is on, and whether it drafts with layers of its own (all but NGRAM).
[[nodiscard]] bool speculative(const Scenario& scenario);
[[nodiscard]] bool draft_has_layers(const Scenario& scenario);
[[nodiscard]] bool is_latent(const LlmSpec& model);
[[nodiscard]] bool is_sparse_latent(const LlmSpec& model);
[[nodiscard]] bool is_compressed(const LlmSpec& model);

}  // namespace kvplan::sglang
