#include "planner/engines/sglang/rules.hpp"

#include "planner/engines/rule_registry.hpp"
#include "planner/engines/sglang/versions.hpp"

namespace kvplan::sglang {
namespace {

RuleRegistry make() {
    return make_registry({
        {"sglang.free_memory", "all", "utils/common.py", "Free memory is measured after the context and communicators exist, the minimum over ranks."},
        {"sglang.budget", "all", "mem_cache/kv_cache_configurator.py", "rest = post - pre (1 - f); tokens = floor(rest / cell), capped, in whole pages, the minimum over stages."},
        {"sglang.cell_grouped", "all", "model_executor/pool_configurator.py", "max(1, KV heads / attention ranks) * (head_dim + v_head_dim) * layers * bytes."},
        {"sglang.cell_latent", "all", "model_executor/pool_configurator.py", "(kv_lora_rank + qk_rope_head_dim) * layers * bytes, the same on every rank."},
        {"sglang.cell_sparse_latent", "all", "model_executor/pool_configurator.py", "fp8: 512 + 16 + 128 bytes a layer, 576 with trtllm kernels or on AMD; index keys 132 bytes a layer."},
        {"sglang.state_pool", "v0.5.2", "configs/mamba_utils.py", "Convolution (kernel - 1) and state per slot; rho / (1 + rho) of the rest, rho 0.9; tokens from what remains."},
        {"sglang.cell_v4", "2026", "model_executor/pool_configurator.py", "Window, 4-fold, 128-fold and index pools and their state rings, per token of full length."},
        {"sglang.max_running_estimate", "all", "mem_cache/kv_cache_configurator.py", "clamp(tokens / context * 512, 2048, 4096); 48 with drafts, 256 for DeepSeek-V4."},
        {"sglang.request_table", "all", "mem_cache/memory_pool.py", "rows * (context + 4 + draft tokens) * 4 bytes, outside the fraction."},
        {"sglang.host_pool", "all", "mem_cache/memory_pool_host.py", "size * 10^9 / bytes a slot per rank, or ratio times the device pool."},
        {"sglang.host_check", "all", "mem_cache/memory_pool_host.py", "A pool is refused when it is larger than MemAvailable less 10 GiB."},
    }, changes());
}

}  // namespace

const std::vector<EngineRule>& rules() {
    static const RuleRegistry kRegistry = make();
    return kRegistry.rules;
}

}  // namespace kvplan::sglang
