#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/llm/llm_spec.hpp"
#include "units/bytes.hpp"
#include "units/estimate.hpp"
#include "units/tokens.hpp"

namespace kvplan {

struct GpuSpec;
namespace trace {
struct Reuse;
}
struct FreeMemoryByGroup;

/// Fraction of the memory that is free *before* the weights load (SGLang). Covers weights and KV.
struct FreeMemoryFraction {
    double value = 0.0;
    friend bool operator==(FreeMemoryFraction, FreeMemoryFraction) = default;
};

/// Fraction of the device's *total* memory (vLLM). Covers weights, KV, activations and, by version, CUDA graphs.
struct TotalMemoryFraction {
    double value = 0.0;
    friend bool operator==(TotalMemoryFraction, TotalMemoryFraction) = default;
};

/// A date as yyyymmdd (20260822); rule tables are sorted by it.
struct RuleDate {
    int yyyymmdd = 0;
    friend constexpr auto operator<=>(RuleDate, RuleDate) = default;
};

enum class EngineKind { sglang, vllm };

/// `--hicache-size`: decimal GB per rank. Kept as typed, because the engine takes a whole number.
struct HicacheOptions {
    bool enabled = false;
    std::optional<std::int64_t> size_gb;                 // decimal GB per rank
    std::optional<double> ratio;                         // host tokens / device tokens
    std::optional<double> host_memory_fraction;          // of the host's memory, when neither size nor ratio is given (since 2026-09-18)
    std::string write_policy;                            // write_through | write_through_selective | write_back; empty: the version's default
    std::string mem_layout;                              // layer_first | page_first | page_first_direct | …
    std::string io_backend;
    std::string storage_backend;                         // file | mooncake | hf3fs | nixl | aibrix | dynamic; empty: none
    std::string storage_backend_extra_config;
};

struct SpeculativeOptions {
    std::string algorithm;                               // EAGLE, EAGLE3, NEXTN, STANDALONE, NGRAM, DFLASH, …; empty: off
    std::optional<std::int64_t> num_steps;
    std::optional<std::int64_t> eagle_topk;
    std::optional<std::int64_t> num_draft_tokens;
};

/// The engine's own flags. Unset means "as the engine defaults it at this version".
struct EngineOptions {
    EngineKind kind = EngineKind::sglang;
    std::string version_text;                            // "0.5.6", "2026-08-22"; empty: newest
    std::int64_t tp = 1, dp = 1, pp = 1, ep = 1;
    bool enable_dp_attention = false;
    bool enable_dp_lm_head = false;
    std::int64_t decode_context_parallel = 1;            // DCP
    std::int64_t attention_context_parallel = 1;
    std::optional<std::int64_t> moe_dense_tp_size;
    std::string moe_a2a_backend;                         // deepep, mooncake, …; empty: none
    std::int64_t redundant_experts = 0;                  // --ep-num-redundant-experts
    std::optional<FreeMemoryFraction> mem_fraction_static;
    std::optional<TotalMemoryFraction> gpu_memory_utilization;
    std::string quantization;                            // empty: as the checkpoint has it
    std::string dtype;                                   // of unquantized weights and activations; empty: the checkpoint's
    std::string kv_cache_dtype;                          // auto, bfloat16, fp8_e4m3, fp8_e5m2, fp4_e2m1, …; empty: auto
    std::optional<std::int64_t> context_length;
    std::optional<std::int64_t> page_size;               // vLLM: block_size
    std::optional<std::int64_t> max_running_requests;    // vLLM: max_num_seqs
    std::optional<std::int64_t> max_total_tokens;
    std::optional<std::int64_t> chunked_prefill_size;
    std::optional<std::int64_t> max_prefill_tokens;
    std::optional<std::int64_t> max_num_batched_tokens;  // vLLM
    std::optional<std::int64_t> cuda_graph_max_bs;
    bool disable_cuda_graph = false;
    bool disable_piecewise_cuda_graph = false;
    bool disable_radix_cache = false;
    bool disable_overlap_schedule = false;
    bool disable_hybrid_swa_memory = false;
    bool enable_mixed_chunk = false;
    bool enable_symm_mem = false;
    bool disable_shared_experts_fusion = false;
    double schedule_conservativeness = 1.0;
    std::string attention_backend;
    std::string dsa_prefill_backend, dsa_decode_backend;
    std::optional<double> swa_full_tokens_ratio;
    std::optional<double> mamba_full_memory_ratio;
    std::optional<std::int64_t> max_mamba_cache_size;
    std::string mamba_ssm_dtype;
    std::string mamba_scheduler_strategy;                // no_buffer, extra_buffer, …
    std::string disaggregation_mode;                     // prefill | decode; empty: off
    bool enable_multimodal = true;
    bool mm_enable_dp_encoder = false;
    std::int64_t max_loras = 0;
    std::int64_t max_lora_rank = 0;
    double cpu_offload_gb = 0.0;                         // GiB of weights kept on the host per rank
    HicacheOptions hicache;
    SpeculativeOptions speculative;
    // vLLM
    std::optional<std::int64_t> kv_cache_memory_bytes;
    std::optional<double> kv_offloading_size_gib;        // GiB in total over the ranks
    std::string kv_offloading_backend;                   // native | lmcache
    std::optional<double> lmcache_max_local_cpu_gb;      // GB per rank
    std::optional<std::int64_t> num_gpu_blocks_override;
    bool disable_hybrid_kv_cache_manager = false;
    bool enforce_eager = false;
    bool enable_expert_parallel = false;
    bool async_scheduling = true;
    std::string parallel_layer_partition;                // SGLANG_PP_LAYER_PARTITION "a,b,…"
};

/// Lengths in tokens; unset is unknown, never 0.
struct Workload {
    std::optional<double> request_tokens;                // prompt and output together, split unknown
    std::optional<double> input_tokens, output_tokens;   // means
    std::optional<double> input_p95, output_p95;         // from `mean:p95`
    std::optional<double> input_cv2, output_cv2;         // squared coefficients of variation
    std::optional<std::int64_t> max_new_tokens;
    double retraction_risk = 0.01;                       // share of the time
    double shared_prefix_tokens = 0.0;
    std::optional<double> hit_rate;                      // share of prompt tokens found in a cache (device or host)
    std::optional<double> request_rate;                  // requests per second offered (open loop)
    std::optional<std::int64_t> concurrency;             // requests always offered (closed loop)
    std::string workload_from;                           // request trace that fills in what is not given; empty: none
    std::optional<double> length_covariance;             // of prompt and output, tokens^2; from a trace
};

/// What is known of the host the ranks run on; sizes of the machine, not of one rank.
struct HostOptions {
    std::optional<Bytes> ram;                            // total
    std::optional<Bytes> available;                      // before the launch
    std::optional<Bytes> cgroup_limit;
    std::optional<Bytes> cgroup_used;
    std::optional<Bytes> reserve;                        // kept free; unset: SGLang's 10 GiB
    std::optional<Bytes> used;                           // by others on the host
    std::optional<Bytes> memlock;
    std::optional<Bytes> huge_pages_reserved;
    std::optional<Bytes> shm_size;
    std::optional<std::int64_t> numa_nodes;
    std::int64_t instances_per_node = 1;                 // servers that share the host
    std::optional<double> startup_limit_seconds;         // a watchdog or probe that ends a start; unset: 600 s
};

struct HardwareOptions {
    std::string gpu_name;
    std::optional<Bytes> gpu_memory;                     // total, overrides the catalogue
    std::optional<Bytes> gpu_free;                       // measured, free before the weights load
    std::optional<std::int64_t> gpus_per_node;
    std::optional<std::int64_t> nodes;
    HostOptions host;
};

/// What a log of this deployment taught beyond its measured free memory and weights (planner/log/calibration.hpp): how the
/// rules' figures have to be moved to be what was seen. Other fractions, lengths and host sizes are then planned from there.
struct CalibratedRules {
    Bytes budget_shift;                                  // more (or less) for the pools of a rank than the rules leave
    double cell_ratio = 1.0;                             // bytes per token really taken / by the rules
    std::optional<Bytes> left_after_pools_shift;         // more (or less) left than planned
    std::optional<Bytes> left_after_graphs_shift;
};

/// One deployment to plan, complete and resolved: names are looked up, nothing is read from a disk any more.
/// Copying is cheap; the model and the GPU are shared and immutable.
struct Scenario {
    std::string model_name;
    std::shared_ptr<const LlmSpec> model;
    std::string draft_model_name;
    std::shared_ptr<const LlmSpec> draft_model;
    std::optional<Bytes> weights_per_gpu;                // measured, overrides the computed weights
    std::shared_ptr<const GpuSpec> gpu;
    std::shared_ptr<const FreeMemoryByGroup> free_memory;
    HardwareOptions hardware;
    EngineOptions engine;
    Workload workload;
    std::shared_ptr<const trace::Reuse> reuse;           // hit curve of the trace in workload.workload_from
    std::optional<CalibratedRules> calibration;
    /// Field name -> where its value came from ("flag", "scenario file", "launch command", "probe", "preset", …);
    /// a field that is absent has its default.
    std::map<std::string, std::string> origin;
};

/// Group sizes that follow from the flags. All counts are of ranks.
struct Parallelism {
    std::int64_t tp = 1, pp = 1, dp = 1, ep = 1;
    std::int64_t attention_tp = 1;                       // tp / (dp with DP attention) / context parallel
    std::int64_t dp_attention = 1;                       // DP workers inside one engine; 1 without DP attention
    std::int64_t replicas = 1;                           // plain data parallelism: whole engines side by side
    std::int64_t moe_tp = 1;                             // tp / ep
    std::int64_t ranks_per_replica = 1;                  // tp * pp
    std::int64_t ranks = 1;                              // all replicas
    std::int64_t gpus_per_node = 8;
    std::int64_t nodes = 1;
    std::int64_t ranks_per_node = 1;                     // min(ranks of all instances on the host, GPUs per node)
};
[[nodiscard]] Parallelism parallelism(const Scenario& scenario);

}  // namespace kvplan
