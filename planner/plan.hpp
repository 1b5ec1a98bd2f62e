#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/scenario.hpp"
#include "units/bytes.hpp"
#include "units/estimate.hpp"
#include "units/rates.hpp"
#include "units/tokens.hpp"

namespace kvplan {

// A Plan holds numbers, codes and provenance; sentences and commands are made from it by planner/export.
// Names are those of the JSON (shared interface); all sizes are per rank unless the name says otherwise.

struct WeightComponent {
    std::string_view name;               // "experts", "attention", …, "absorbed_mla"
    Bytes bytes_per_rank;                // on the largest pipeline stage
    bool replicated = false;             // the same bytes on every tensor-parallel rank
};

struct WeightsPlan {
    Estimate<Bytes> bytes_per_rank;      // resident; the largest pipeline stage's
    Bytes checkpoint_bytes;
    std::int64_t total_params = 0, stored_elements = 0, active_params = 0;
    std::vector<WeightComponent> components;  // sum to bytes_per_rank.expected
    std::vector<Bytes> stage_bytes;      // expected, per pipeline stage
    Bytes draft_bytes;                   // draft model's share, contained in bytes_per_rank when the engine budgets it
};

enum class KvGroupKind { full, sliding_window, chunked, latent, indexer, compressed, sparse_index, draft, linear_state };
[[nodiscard]] std::string_view name_of(KvGroupKind kind);

struct KvGroup {
    KvGroupKind kind = KvGroupKind::full;
    Layers layers;
    BytesPerToken bytes_per_token;       // of all these layers, per rank; 0 for a state group
    Bytes bytes_per_slot;                // of a state group
    bool own_window_pool = false;        // slots only inside the window, in a pool of its own: not in bytes_per_token
};

struct KvCachePlan {
    BytesPerToken bytes_per_token;       // allocated, over all pools that grow with a request's full length
    BytesPerToken budget_bytes_per_token;// the divisor the engine uses (SWA share included)
    Bytes state_bytes_per_slot;          // linear and Mamba layers; 0: none
    std::string_view dtype = "bfloat16"; // name as the engine's flag has it
    Tokens page_size{1};
    std::vector<KvGroup> groups;
    std::int64_t kv_head_replication = 1;// copies of each KV head over the attention tensor-parallel group
    bool latent = false;                 // one latent per token, identical on every rank
};

enum class FractionSource { flag, engine_default, recommended };

[[nodiscard]] std::string_view name_of(FractionSource source);

struct MemFraction {
    double value = 0.0;
    FractionSource source = FractionSource::engine_default;
    std::optional<double> feasible_min, feasible_max, recommended;  // unset: the interval is empty
};

struct NamedBytes {
    std::string_view name;
    Bytes bytes;
};

struct GpuPlan {
    Bytes total_bytes;
    Estimate<Bytes> free_before_load_bytes;
    Bytes budget_bytes;                  // SGLang: what the fraction gives to weights and KV; vLLM: requested memory
    Bytes weights_bytes;
    Bytes kv_pool_bytes;                 // as allocated
    Bytes state_pool_bytes;
    // weights + kv_pool + state_pool + slack - shortfall = free_before_load.expected; when the weights leave no budget, the
    // pools are 0, slack is what the fraction keeps free and shortfall what the weights (or the smallest pool) lack.
    Bytes slack_bytes;
    Bytes shortfall_bytes;               // 0: it fits
    std::vector<NamedBytes> slack_items; // what the slack must hold
    Estimate<Bytes> left_after_pools_bytes;   // free memory the log prints after the pools ("Memory pool end")
    Estimate<Bytes> left_after_graphs_bytes;  // "available_gpu_mem" at the end of start-up
    MemFraction mem_fraction;
};

struct CapacityPlan {
    Estimate<Tokens> max_total_num_tokens;    // slots of one rank (with DP attention: of one DP worker)
    std::optional<Tokens> swa_tokens;
    std::optional<std::int64_t> state_slots;
    std::optional<std::int64_t> state_slots_per_request;
    Tokens distinct_tokens;                   // whole deployment
    Requests max_running_requests;            // of one DP worker
    Tokens longest_request_tokens;
    std::optional<double> max_concurrency_full_context;  // vLLM's "Maximum concurrency"
    bool tokens_are_derived = false;          // max_total_num_tokens is a figure the engine prints, not slots of whole pages
};

struct HicachePool {
    std::string_view name;                    // "kv", "dsa_indexer", "draft", "swa", "mamba", …
    Bytes bytes_per_rank;
    Tokens slots;
};

/// The third tier behind the host cache (SGLang's storage backends, or LMCache in the host cache's place).
struct StoragePlan {
    std::string backend;                      // "mooncake"
    Bytes host_bytes_per_node;                // RAM that it takes beside the host pools
    Bytes page_bytes;                         // of one page as one rank writes it; 0: not known
    std::int64_t parts = 1;                   // ranks that each write a part of a page
    Bytes file_bytes_per_node;                // set aside on disk from the start; 0: nothing
};

struct HicachePlan {
    bool enabled = false;
    Tokens tokens;                            // target-KV slots of one rank
    Bytes bytes_per_rank;                     // the sum of all pools of a rank
    Bytes bytes_per_node;
    std::vector<HicachePool> pools;
    Tokens distinct_tokens;                   // held by the node
    std::int64_t replication = 1;             // copies of each token on the node
    Bytes gpu_staging_bytes;                  // taken from the GPU's slack
    std::optional<StoragePlan> storage;       // also without a host cache (LMCache)
};

enum class HostLimit { none, available, cgroup, memlock, numa, huge_pages, page_lock_ceiling, shm, unknown };
[[nodiscard]] std::string_view name_of(HostLimit limit);

/// One ceiling on what the launch may take: of the node, or (`per_rank`) of the pinned pools of a single process. `shm`
/// bounds the pools of the node alone.
struct HostBound {
    HostLimit limit = HostLimit::unknown;
    Bytes bytes;                              // before the reserve
    bool per_rank = false;
    Basis basis = Basis::measured;
};

struct HostPlan {
    std::optional<Bytes> available_bytes;     // the least of the node's bounds; unset: nothing is known of the host
    Basis available_basis = Basis::measured;  // assumed: only the total is known
    std::vector<HostBound> bounds;            // every limit that was looked at
    Bytes reserve_bytes;
    Estimate<Bytes> process_bytes;            // all ranks of the node
    Bytes storage_bytes;                      // RAM of the third tier, all ranks of the node
    Bytes offloaded_weights_bytes;            // weights kept on the host, all ranks of the node
    Bytes device_bytes;                       // weights and KV of all ranks where GPU and host share one memory and a host cache is on
    Bytes pools_high_bytes_per_rank;          // host pools of a rank at the high end of the device pool (a ratio is a multiple of it)
    Bytes required_bytes;                     // expected: pools + processes + staging + reserve
    Bytes required_high_bytes;                // with the high end of every cost
    std::optional<Bytes> headroom_bytes;      // available - required, expected; never negative
    Bytes shortfall_bytes;                    // required - available, expected; 0: it fits
    std::optional<bool> safe;                 // the high end of every cost stays within every bound; unset: nothing known
    std::int64_t ranks_per_node = 1;
    HostLimit limited_by = HostLimit::unknown;
    struct SafeMax {
        std::optional<std::int64_t> hicache_size_gb;  // the integer for --hicache-size; 0: none is safe; unset: no such flag here
        std::optional<double> hicache_ratio;  // rounded down to a hundredth; 0: none is safe; unset: no such flag here
        std::optional<std::int64_t> kv_offloading_size_gib;  // the integer for vLLM's --kv-offloading-size (GiB, all ranks)
        std::optional<std::int64_t> lmcache_size_gb;  // the integer for LMCACHE_MAX_LOCAL_CPU_SIZE (GB per rank)
        Bytes bytes_per_rank;
        HostLimit limited_by = HostLimit::unknown;
    };
    std::optional<SafeMax> safe_max;
    struct MinUseful {
        std::int64_t hicache_size_gb = 0;
        std::string_view reason;              // code: "write_through_inclusive", "engine_refuses_smaller"
    };
    std::optional<MinUseful> min_useful;
    std::optional<bool> engine_check_catches; // would the engine's own check at this version refuse an unsafe size
};

enum class ConcurrencyLimit { none, kv_pool, max_running_requests, state_slots, swa_pool, graph_batch, offered };
[[nodiscard]] std::string_view name_of(ConcurrencyLimit limit);

struct ConcurrencyByContext {
    Tokens context_tokens;
    std::int64_t full_length = 0;
    double steady_state = 0.0;
};

struct ConcurrencyPlan {                      // of the whole deployment
    std::optional<double> full_length, steady_state, retraction_free, admission;
    std::optional<double> steady_state_low, steady_state_high;  // when the split of request_tokens is unknown
    ConcurrencyLimit limited_by = ConcurrencyLimit::none;
    std::optional<double> offered;            // in flight at the offered rate, by Little's law; unset: no rate, or more than is given out
    std::optional<double> per_dp_worker;
    std::optional<double> token_usage;        // at the admission concurrency, 0..1
    std::optional<Tokens> idle_prefix_tokens; // cache left for idle prefixes then
    std::vector<ConcurrencyByContext> by_context;
};

struct LatencyPlan {
    std::optional<Estimate<double>> ttft_seconds, itl_seconds;  // low is the bound
    std::optional<Estimate<double>> startup_seconds;
};

struct Ceiling {
    std::string_view resource;                // "compute", "hbm", "links", "host_link", "admission"
    TokensPerSecond tokens_per_second;
};

/// Bounds and expectations at one concurrency (of the whole deployment).
struct ThroughputPoint {
    double concurrency = 0.0;
    TokensPerSecond output_tokens_per_second; // upper bound
    double step_seconds = 0.0;                // lower bound of a decode step, in the middle of the outputs
    std::string_view limited_by;              // the resource with the largest time
    double ttft_seconds = 0.0, itl_seconds = 0.0;  // lower bounds
    double expected_output_tokens_per_second = 0.0;
    double expected_ttft_seconds = 0.0, expected_itl_seconds = 0.0;
};

/// Where the resource with the largest time changes along the curve.
struct ThroughputChange {
    double concurrency = 0.0;
    std::string_view from, to;
};

/// What the workload's hit rate is worth when all hits come from the host tier, against computing the whole prompt.
struct HostTierEffect {
    double prefill_seconds_saved = 0.0;       // of a request, expected
    double host_link_seconds = 0.0;           // spent for it on each rank's host link, expected
    double output_change_per_second = 0.0;    // expected output tokens/s with the hits less without them; may be negative
};

/// How far the hardware could go if memory held any number of requests.
struct HardwareLimit {
    TokensPerSecond output_tokens_per_second; // upper bound
    double concurrency = 0.0;                 // at which nine tenths of it are reached
    std::string_view limited_by;
};

struct ThroughputPlan {                       // whole deployment; all but the expected value are upper bounds
    std::optional<TokensPerSecond> decode, prefill, output;
    std::optional<double> requests_per_second;
    std::string_view limited_by;
    std::optional<Estimate<double>> expected_output_tokens_per_second;
    std::vector<Ceiling> ceilings;
    std::vector<ThroughputPoint> curve;
    std::vector<ThroughputChange> changes;
    std::optional<HardwareLimit> hardware;
    std::optional<HostTierEffect> host_tier;  // with a host tier and a hit rate
};

enum class FindingSeverity { error, warning, note };
[[nodiscard]] std::string_view name_of(FindingSeverity severity);

/// A number or word that a finding's sentence needs; `unit` is one of "bytes", "tokens", "requests", "gb", "ratio",
/// "seconds", "count", "text".
struct FindingValue {
    std::string_view name;
    std::string_view unit;
    double number = 0.0;
    std::string text;
};

struct Finding {
    std::string_view code;                    // stable: "hicache_exceeds_host_ram"
    FindingSeverity severity = FindingSeverity::note;
    std::vector<FindingValue> values;
    std::vector<std::string_view> fields;     // scenario fields it is about
    /// Remedies as changes of scenario fields that can be applied; empty when none can be named.
    struct Change {
        std::string_view field;
        std::string value;
    };
    std::vector<Change> remedy;
};

/// What a request trace finds in the caches of this plan: rates are of prompt tokens, exact for the trace.
struct ReusePlan {
    Tokens device_tokens;                     // of one pool, less what running requests have generated
    double device_rate = 0.0;                 // GPU alone; prompts of running requests count as cached
    double device_rate_low = 0.0;             // when running requests share nothing: the pool less all they hold
    double total_rate = 0.0;                  // with the host pool of this plan (write-through: the larger of both counts)
    std::optional<double> safe_rate;          // with the largest safe host pool; unset: nothing is known of the host
    double unlimited_rate = 0.0;
    Tokens knee_tokens;                       // beyond it a doubling buys clearly less
};

struct Plan {
    bool fits = false;                        // by expected values; false also when an engine's rule stops the start
    std::optional<bool> safe;                 // unset: HiCache is on and nothing is known of the host
    std::string rule_set;                     // "sglang 2026-08-22"
    Parallelism parallelism;
    WeightsPlan weights;
    KvCachePlan kv_cache;
    GpuPlan gpu;
    CapacityPlan capacity;
    HicachePlan hicache;
    HostPlan host;
    ConcurrencyPlan concurrency;
    LatencyPlan latency;
    ThroughputPlan throughput;
    std::optional<ReusePlan> reuse;           // only when the scenario names a trace
    std::vector<Finding> findings;
};

/// The whole plan of one scenario. Pure: no I/O, no clock, no globals. `scenario.model` and `scenario.gpu` must be set
/// and `check_scenario` must have passed.
[[nodiscard]] Plan plan(const Scenario& scenario);


/// Sentences of what does not hold, empty when all does: parts sum to the whole, nothing negative, tokens x bytes per
/// token within the pool. Tests run it on every plan they make.
[[nodiscard]] std::vector<std::string> check_invariants(const Plan& plan);

}  // namespace kvplan
