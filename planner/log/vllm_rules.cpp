// Wordings of vLLM's log lines: vllm/v1/worker/gpu_worker.py, vllm/v1/core/kv_cache_utils.py, vllm/v1/metrics/loggers.py and
// their V0 forerunners, v0.5 to 2026-08.
#include "planner/log/line_rules.hpp"

namespace kvplan::logs {

namespace {

using K = LineKind;
using F = Figure;

constexpr LineRule kRules[] = {
    {"Initializing a V1 LLM engine (v", K::vllm_config, {}, {}, {}, {}, {}, true},
    {"Initializing a V0 LLM engine (v", K::vllm_config, {}, {}, {}, {}, {}, true},
    {"Initializing an LLM engine (v", K::vllm_config, {}, {}, {}, {}, {}, true},
    {"non-default args: {", K::vllm_arguments, {}, {}, {}, {}, {}, true},
    {"vLLM API server version ", K::vllm_version, {}},
    {"Model loading took ", K::model_loaded, {{{"took ", " GiB", F::model_gib}}}},
    {"Loading model weights took ", K::model_loaded, {{{"took ", " GB", F::model_gib}}}},
    {"Available KV cache memory: ", K::available_kv, {{{"memory: ", " GiB", F::available_gib}}}},
    {"GPU KV cache size: ", K::kv_size, {{{"size: ", " tokens", F::tokens}}}},
    {"Maximum concurrency for ", K::concurrency, {{{"for ", " tokens", F::request_len}, {"request: ", "x", F::concurrency_x}}}},
    {"# GPU blocks: ", K::blocks, {{{"# GPU blocks: ", ",", F::gpu_blocks}, {"# CPU blocks: ", "", F::cpu_blocks}}}},
    {"# cuda blocks: ", K::blocks, {{{"# cuda blocks: ", ",", F::gpu_blocks}, {"# CPU blocks: ", "", F::cpu_blocks}}}},
    {"Overriding num_gpu_blocks=", K::blocks_overridden, {{{"num_gpu_blocks_override=", "", F::gpu_blocks}}}},
    {"Graph capturing finished in ", K::graph_finished, {{{"finished in ", " secs", F::elapsed_s}, {"took ", " GiB", F::graph_gib}}}},
    {"Estimated CUDA graph memory: ", K::graph_estimate, {{{"memory: ", " GiB", F::graph_gib}}}, {20260307}},
    {"Free memory on device", K::failure, {}, {}, {}, "is less than desired GPU memory utilization", "free_memory_below_fraction"},
    {"Free memory on device", K::memory_summary, {}, {}, {}, "Desired GPU memory utilization is"},
    {"the current vLLM instance can use total_gpu_memory (", K::v0_total,
     {{{"total_gpu_memory (", "GiB", F::total_gib}, {"gpu_memory_utilization (", ")", F::utilization}, {"= ", "GiB", F::requested_gib}}}},
    {"model weights take ", K::v0_parts,
     {{{"weights take ", "GiB", F::model_gib}, {"non_torch_memory takes ", "GiB", F::non_torch_gib}, {"activation peak memory takes ", "GiB", F::activation_gib},
       {"KV Cache is ", "GiB", F::available_gib}}}},
    {"Initial free memory", K::kv_bytes_given, {{{"Initial free memory ", " GiB", F::avail_gib}, {"reserved ", " GiB", F::available_gib}}}, {}, {}, "as specified by kv_cache_memory_bytes"},
    {"Initial free memory: ", K::memory_summary, {}, {}, {}, "Requested memory: "},
    {"Total non KV cache memory: ", K::memory_summary, {}},
    {"vllm cache_config_info with initialization after num_gpu_blocks is: ", K::blocks, {{{"num_gpu_blocks is: ", "", F::gpu_blocks}}}},
    {"Setting attention block size to ", K::block_raised, {{{"size to ", " tokens", F::block_tokens}}}},
    {"Created mmap file ", K::offload_file, {{{"(", " GB", F::file_gb}}}, {20260414}},
    {"Application startup complete", K::ready},
    {"Avg prompt throughput: ", K::vllm_stats,
     {{{"prompt throughput: ", " tokens/s", F::prompt_throughput}, {"generation throughput: ", " tokens/s", F::gen_throughput}, {"Running: ", " reqs", F::running},
       {"Waiting: ", " reqs", F::queued}, {"Pending: ", " reqs", F::pending_tokens}, {"Preemptions: ", "", F::preemptions}, {"GPU KV cache usage: ", "%", F::usage_percent},
       {" Prefix cache hit rate: ", "%", F::hit_percent}, {"External prefix cache hit rate: ", "%", F::external_hit_percent}}}},
};

}  // namespace

std::span<const LineRule> vllm_rules() { return kRules; }

}  // namespace kvplan::logs
