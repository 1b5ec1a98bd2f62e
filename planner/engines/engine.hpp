#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "planner/concurrency/admission.hpp"
#include "planner/plan.hpp"
#include "planner/scenario.hpp"
#include "planner/fields/fields.hpp"

namespace kvplan {

class Diagnostics;

/// One rule of an engine as `kvplan engines show` and docs/engines.md print it.
struct EngineRule {
    std::string_view id;         // "sglang.mem_fraction_default"
    std::string_view since;      // "2025-09-29 (v0.5.3)"
    std::string_view file;       // the engine's source file
    std::string_view note;       // what it says, in our words
    RuleDate from = {}, until = {};  // of a change between versions; 0: always, still in force
};

/// Which memory an engine's log of loaded weights counts beyond the tensors' own bytes. Tensors of 10 MiB and more get blocks of
/// whole 2 MiB; the caching allocator of PyTorch cuts off a rest of more than 1 MiB (c10/cuda/CUDACachingAllocator.cpp).
enum class AllocatorCount {
    none,
    allocated,   // what tensors hold: rests up to 1 MiB (vLLM reads the allocator)
    reserved     // what is taken from the driver: every rest (SGLang reads the free memory)
};

/// How weights lie on the ranks: the answers that differ between engines, versions and flags.
struct WeightRules {
    std::int64_t attention_tp = 1;          // group that splits attention
    std::int64_t dense_tp = 1;              // group that splits dense MLPs
    std::int64_t moe_tp = 1, ep = 1;        // routed experts: over ep, then inside by moe_tp
    std::int64_t shared_tp = 1;             // shared experts; 1: replicated
    std::int64_t vocab_tp = 1, head_tp = 1; // embedding and lm_head
    std::int64_t vision_tp = 1, vision_mlp_tp = 1;  // vision tower: attention, and its MLPs
    std::int64_t vocab_padding = 64;
    std::int64_t redundant_experts = 0;
    bool shared_experts_fused = false;      // the shared expert is one more routed expert
    bool absorbed_latent_copies = true;     // MLA: w_kc and w_vc beside kv_b_proj
    bool second_scale_copy = false;         // nvfp4: a swizzled copy of the scales
    std::int64_t expert_padding = 1;        // local expert intermediate is padded to a multiple of this
    std::int64_t expert_width_padding = 1;  // and what experts work on
    bool pads_values_only = false;          // block scales are not padded with them
    AllocatorCount allocator = AllocatorCount::none;
    Bytes rope_table;                       // cos and sin for every position, on every rank
    bool draft_resident = false;            // MTP layers or a draft model are loaded
    bool draft_shares_embeddings = true;
    Estimate<double> overhead_gib;          // allocator rounding and loader remains beyond the tensors
};

/// Layers first..first+count-1 of the model on each pipeline stage.
struct StageLayers {
    std::int64_t first = 0;
    std::int64_t count = 0;
};

/// A field that was left out, and what the engine takes instead.
struct EngineDefault {
    std::string_view field;
    FieldValue value;
};

struct PoolPlan {
    GpuPlan gpu;
    CapacityPlan capacity;
};

/// How an engine treats host memory at a version: what its flags count, and what its own start-up check sees.
struct HostRules {
    enum class SizeFlag { none, hicache_size, kv_offloading_size };
    SizeFlag size_flag = SizeFlag::none;       // none: only a ratio, or no host cache at all
    bool ratio_flag = false;                   // the pools can be given as a multiple of the device pool
    std::optional<Bytes> check_reserve;        // its check compares each pool with MemAvailable less this; unset: no check
    bool check_divides_by_ranks = false;       // the check gives each rank of the server on this host an equal share
    bool refuses_smaller_than_device = false;  // a host pool that holds no more tokens than the device pool stops the start
    bool binds_numa = false;                   // a rank's pool comes from the NUMA node of its GPU
    bool pool_in_shm = false;                  // the pool is a file in /dev/shm
    bool pins_power_of_two = false;            // each pinned block takes the next power of two
};

/// How the engine puts steps together, and what its scheduler and prefix cache do with one pool.
struct StepRules {
    bool mixed = true;           // prompts and decoding requests share steps; false: a step is one or the other
    bool two_batches = false;    // two batches alternate, so that one computes while the other transfers
    std::int64_t chunk_tokens = 8192;         // of prompts in one step; more than any prompt where they are not cut
    std::int64_t prefill_tokens = 1 << 30;    // of prompts that are let in for one step
    double conservativeness = 1.0;            // SGLang: factor of the reservation for running requests
    bool evicts_nodes = false;                // the prefix cache drops whole nodes of its tree, not block by block
};

/// What an engine is asked. Each engine's folder answers with its own constants; nothing outside the registry asks
/// which engine it is.
class Engine {
public:
    Engine() = default;
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    virtual ~Engine() = default;

    [[nodiscard]] virtual std::string_view name() const = 0;
    /// "sglang 2026-08-22": the rule set that a version text selects.
    [[nodiscard]] virtual std::string rule_set(const EngineOptions& options) const = 0;
    /// The day whose rules a version text selects; unset where flags are not dated.
    [[nodiscard]] virtual std::optional<RuleDate> rule_date(const EngineOptions& /*options*/) const { return std::nullopt; }
    /// Flags that the engine at this version would refuse, or that do not exist in it.
    virtual void check(const Scenario& scenario, Diagnostics& diagnostics) const = 0;

    [[nodiscard]] virtual std::vector<StageLayers> stages(const Scenario& scenario) const = 0;
    [[nodiscard]] virtual WeightRules weight_rules(const Scenario& scenario) const = 0;
    /// Bytes per token and slot on the stage that holds most of them.
    [[nodiscard]] virtual KvCachePlan kv_cache(const Scenario& scenario) const = 0;
    /// The memory budget of one GPU and the pools it gives.
    [[nodiscard]] virtual PoolPlan pools(const Scenario& scenario, const WeightsPlan& weights, const KvCachePlan& kv_cache) const = 0;
    /// Host pools of one rank and node (SGLang HiCache, vLLM offloading).
    [[nodiscard]] virtual HicachePlan host_pools(const Scenario& scenario, const KvCachePlan& kv_cache, const CapacityPlan& capacity) const = 0;
    [[nodiscard]] virtual HostRules host_rules(const Scenario& /*scenario*/) const { return {}; }
    /// Requests that its scheduler lets run at once in one pool when the queue is never empty (before max_running_requests).
    [[nodiscard]] virtual double admitted_requests(const Scenario& /*scenario*/, const AdmissionCase& c) const { return steady_state_concurrency(c); }
    [[nodiscard]] virtual StepRules step_rules(const Scenario& /*scenario*/) const { return {}; }
    /// Defaults of fields that are unset, as the engine at this version fills them in for this model and GPU.
    [[nodiscard]] virtual std::vector<EngineDefault> defaults(const Scenario& scenario) const = 0;
    /// Findings that only this engine's rules can make, from weights, KV layout, memory and pools (no later stage is planned yet).
    /// An error among them says that the start fails: the plan does not fit.
    virtual void add_findings(const Scenario& scenario, Plan& plan) const = 0;

    [[nodiscard]] virtual const std::vector<EngineRule>& rules() const = 0;
};

/// The engine of a scenario. Never null.
[[nodiscard]] const Engine& engine_of(const EngineOptions& options);

}  // namespace kvplan
