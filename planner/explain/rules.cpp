#include "planner/explain/explain.hpp"

namespace kvplan {
namespace {

std::vector<FieldRule> table() {
    return {
        {"weights.bytes_per_rank", "Weights that stay on one GPU, on the heaviest pipeline stage.",
         "sum over matrices of stored bytes of this rank's part, by the engine's sharding; + absorbed copies of latents + rotary tables + what the allocator leaves behind each tensor + drafts", "",
         "docs/method.md"},
        {"weights.checkpoint_bytes", "All tensors of the checkpoint, as stored.", "sum over tensors of elements x bits / 8, scales and zero points included", "", "docs/accuracy.md"},
        {"weights.active_params", "Parameters that one token meets.", "attention + dense layers + shared experts + top-k of the routed experts + head", "", "docs/accuracy.md"},
        {"kv_cache.bytes_per_token", "KV of one token on one rank, over all pools that grow with a request's whole length.",
         "sum over layers: grouped max(1, KV heads / {parallelism.attention_tp}) x (K + V width) x bytes; latent (rank + rope) x bytes, whole on every rank; index keys 132 a layer", "",
         "sglang.cell_grouped sglang.cell_latent sglang.cell_sparse_latent vllm.page"},
        {"kv_cache.budget_bytes_per_token", "What the engine divides its KV memory by.", "{kv_cache.bytes_per_token} as the engine counts it + ratio x bytes of the window layers (+ drafts, by version)",
         "bytes of a block x blocks of one request of max_model_len / max_model_len (before 2026-06-12: x groups / block size)", "sglang.swa_ratio_pools sglang.draft_in_budget vllm.hybrid_groups"},
        {"kv_cache.state_bytes_per_slot", "State of one request in linear layers, on one rank.",
         "layers x (convolution channels / ranks x (kernel - 1) x 2 + heads / ranks x head_dim x state size x bytes)", "layers x (convolution channels / ranks x (kernel - 1 + draft tokens) x 2 + heads / ranks x head_dim x state size x bytes)",
         "sglang.state_pool vllm.state_page"},
        {"kv_cache.page_size", "Tokens that are taken together.", "--page-size, raised by the attention backend", "--block-size, raised by the attention backend and, with states, until a page holds one", "vllm.block_size vllm.state_page"},
        {"gpu.free_before_load_bytes", "Memory of one GPU that is free just before the weights load.", "--gpu-free when measured; else total - driver's reserve - context - communicators, from logged readings of the same class of GPU", "",
         "sglang.free_memory"},
        {"gpu.budget_bytes", "What the fraction gives.", "{gpu.free_before_load_bytes} x {gpu.mem_fraction.value}", "ceil(total a process sees x {gpu.mem_fraction.value})", "sglang.budget vllm.requested_memory"},
        {"gpu.weights_bytes", "Weights on one GPU.", "{weights.bytes_per_rank}", "", "docs/method.md"},
        {"gpu.kv_pool_bytes", "KV memory of one GPU, as allocated.",
         "{capacity.max_total_num_tokens} x {kv_cache.bytes_per_token} (+ the window pool's slots); they fit in {gpu.free_before_load_bytes} x {gpu.mem_fraction.value} - {gpu.weights_bytes} - {gpu.state_pool_bytes}",
         "whole blocks in {gpu.budget_bytes} - {gpu.weights_bytes} - activations - runtime (- graphs since v0.21), or --kv-cache-memory-bytes", "sglang.budget vllm.available_memory vllm.blocks"},
        {"gpu.state_pool_bytes", "State slots of linear layers.", "{capacity.state_slots} x {kv_cache.state_bytes_per_slot} (+ drafted states)", "0: states lie in the blocks of the KV pool", "sglang.state_pool vllm.state_page"},
        {"gpu.slack_bytes", "Memory outside weights and pools.", "{gpu.free_before_load_bytes} - {gpu.weights_bytes} - {gpu.kv_pool_bytes} - {gpu.state_pool_bytes} + {gpu.shortfall_bytes}", "", "docs/method.md"},
        {"gpu.shortfall_bytes", "What is lacking for the smallest useful pool; 0 when it fits.", "weights + smallest pool - budget, 0 at least", "KV of one request of max_model_len - available KV memory, or what the start-up check lacks", "sglang.budget vllm.max_length_check"},
        {"gpu.left_after_pools_bytes", "Free memory after the pools, as the log prints it.", "{gpu.slack_bytes} - request table - dummy page - rests", "{gpu.slack_bytes} - runtime", "sglang.request_table"},
        {"gpu.left_after_graphs_bytes", "Free memory at the end of start-up.", "{gpu.left_after_pools_bytes} - workspaces - graphs - logits", "{gpu.left_after_pools_bytes} - graphs", "vllm.graph_memory"},
        {"gpu.mem_fraction.value", "The fraction in force.", "--mem-fraction-static, else the version's default for this GPU, chunk, graphs and parallelism", "--gpu-memory-utilization, else the version's default", "sglang.fraction_by_terms vllm.utilization_default"},
        {"gpu.mem_fraction.feasible_min", "Below it nothing is left for KV.", "({gpu.weights_bytes} + smallest pool) / {gpu.free_before_load_bytes}", "(weights + least overhead + one request of max_model_len) / total", "sglang.budget vllm.max_length_check"},
        {"gpu.mem_fraction.feasible_max", "Above it graphs and activations do not fit.", "largest fraction at which the least use outside the pools still fits", "(free - graphs outside the fraction) / total", "sglang.request_table vllm.requested_memory"},
        {"gpu.mem_fraction.recommended", "Leaves usual needs and a margin.", "largest fraction that leaves the expected use of everything outside the pools, and 1 GiB", "largest utilization that leaves expected graphs and 0.25 GiB", "docs/method.md"},
        {"capacity.max_total_num_tokens", "KV tokens of one rank (with DP attention: of one worker).", "floor(({gpu.free_before_load_bytes} x {gpu.mem_fraction.value} - {gpu.weights_bytes} - {gpu.state_pool_bytes}) / {kv_cache.budget_bytes_per_token}) in whole pages of {kv_cache.page_size}, capped by --max-total-tokens, least over stages",
         "what the log calls GPU KV cache size: {capacity.max_concurrency_full_context} x max_model_len ({scenario.context_length.value}, or the model's); before 2026-06-12 blocks // groups x block size of {kv_cache.page_size}", "sglang.budget vllm.derived_token_line vllm.blocks"},
        {"capacity.swa_tokens", "Slots of the sliding-window pool.", "{capacity.max_total_num_tokens} x --swa-full-tokens-ratio, whole pages", "none: windows share the pool", "sglang.swa_ratio_pools vllm.hybrid_groups"},
        {"capacity.state_slots", "State slots of one rank.", "floor(rest x rho / (1 + rho) / {kv_cache.state_bytes_per_slot}), rho = --mamba-full-memory-ratio", "none: states share the pool", "sglang.state_pool"},
        {"capacity.distinct_tokens", "Different tokens the whole deployment holds.", "{capacity.max_total_num_tokens} x DP workers x replicas", "", "docs/method.md"},
        {"capacity.max_running_requests", "Most requests at once, of one worker.", "--max-running-requests / DP workers, else clamp(tokens / context x 512, 2048, 4096), by version also at most tokens / 2", "--max-num-seqs, else 1024 from 70 GiB on, else 256", "sglang.max_running_estimate vllm.max_num_seqs"},
        {"capacity.longest_request_tokens", "Longest request that can be served.", "min(context, {capacity.max_total_num_tokens}) - 1", "max_model_len, or what the engine names when it refuses", "vllm.max_length_check"},
        {"capacity.max_concurrency_full_context", "Requests of full length at once, as vLLM prints it.", "not printed by SGLang", "blocks / blocks of one request of max_model_len", "vllm.request_blocks"},
        {"hicache.tokens", "Target KV slots of a rank's host pool.", "floor(size x 10^9 / bytes a slot), or ratio x {capacity.max_total_num_tokens}; whole pages, one more since 2025-11-12", "chunks x block; chunks = floor(size x 2^30 / round_up(block bytes x copies, 4096))", "sglang.host_pool vllm.offload_chunks vllm.lmcache_pool"},
        {"hicache.bytes_per_rank", "All host pools of one rank.", "sum over pools of slots x bytes a slot", "chunks x chunk bytes / ranks", "sglang.host_pool vllm.offload_chunks"},
        {"hicache.bytes_per_node", "Host pools of all ranks on the node.", "{hicache.bytes_per_rank} x {host.ranks_per_node}", "", "docs/method.md"},
        {"hicache.replication", "Copies of each token on the node.", "ranks that hold the same latent, or copies of a KV head", "", "sglang.cell_latent vllm.offload_single_latent"},
        {"host.required_bytes", "Host memory the launch takes, expected.", "{hicache.bytes_per_node} + {host.process_bytes} + {host.storage_bytes} + {host.offloaded_weights_bytes} + {host.reserve_bytes}", "", "sglang.host_check"},
        {"host.headroom_bytes", "What is left of the host's memory.", "{host.available_bytes} - {host.required_bytes}", "", "docs/method.md"},
        {"host.safe_max.hicache_size_gb", "Largest --hicache-size with the high end of every cost within every limit.", "largest n with all pools at n + {host.process_bytes} (high) + reserve <= {host.available_bytes}", "", "sglang.host_pool"},
        {"host.min_useful.hicache_size_gb", "Smallest --hicache-size that holds more than the device pool.", "smallest n with more tokens than {capacity.max_total_num_tokens}", "", "sglang.host_pool"},
        {"concurrency.full_length", "Requests at once when the whole length is reserved.", "(M - S - 1) / (E[I] + E[O] (1 + c^2)), M = {capacity.max_total_num_tokens}", "", "docs/method-concurrency.md"},
        {"concurrency.steady_state", "Mean requests at once with memory always full.", "(M - S - g) / f, f = E[I] + E[O] (1 + c^2) / 2 + (page - 1) / 2", "", "docs/method-concurrency.md"},
        {"concurrency.retraction_free", "Most requests at which the pool overflows at most a set share of the time.", "largest n with n f + z sqrt(n) sigma <= M - S", "", "docs/method-concurrency.md"},
        {"concurrency.admission", "Requests that the engine's scheduler lets run.", "equality of free slots and reserved future tokens, clipped by {capacity.max_running_requests} and what else limits", "blocks / mean blocks of a running request, clipped by {capacity.max_running_requests}", "docs/method-concurrency.md"},
        {"throughput.decode_tokens_per_second", "Upper bound of decode.", "concurrency / step time; step = max(compute, memory, links) + waits", "", "docs/method-throughput.md"},
        {"throughput.output_tokens_per_second", "Upper bound of output with its prefill.", "least over concurrencies of what decode and prefill leave each other", "", "docs/method-throughput.md"},
        {"throughput.expected_output_tokens_per_second", "What to expect, never above the bound.", "the bound with rates that engines reach", "", "docs/method-throughput.md"},
        {"latency.ttft_seconds", "Time to the first token; low is a bound.", "prefill of the prompt, and the step under way when it comes; waiting in a queue is not in it", "", "docs/method-throughput.md"},
        {"latency.itl_seconds", "Time between tokens; low is a bound.", "decode step at the planned concurrency", "", "docs/method-throughput.md"},
        {"latency.startup_seconds", "Time until the server answers.", "reading weights + filling host pools + graphs", "", "docs/method.md"},
    };
}

}  // namespace

const std::vector<FieldRule>& field_rules() {
    static const std::vector<FieldRule> kTable = table();
    return kTable;
}

}  // namespace kvplan
