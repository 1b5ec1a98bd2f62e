#include "planner/engines/vllm/rules.hpp"

#include "planner/engines/rule_registry.hpp"
#include "planner/engines/vllm/versions.hpp"

namespace kvplan::vllm {
namespace {

RuleRegistry make() {
    return make_registry({
        {"vllm.requested_memory", "all", "vllm/v1/worker/utils.py", "requested = ceil(total memory x gpu_memory_utilization); at the start so much must be free."},
        {"vllm.available_memory", "all", "vllm/v1/worker/gpu_worker.py", "KV memory = requested - weights - what else the worker holds at the peak of a profile run; --kv-cache-memory-bytes replaces it."},
        {"vllm.profile_run", "all", "vllm/v1/worker/gpu_model_runner.py", "The profile run takes max_num_batched_tokens tokens and a sampler run of max_num_seqs rows: the fp32 logits of these rows decide the peak."},
        {"vllm.graph_memory", "all", "vllm/v1/worker/gpu_model_runner.py", "0.39 GiB + 17.4 MB a layer when 51 sizes are captured (H100 logs of v0.19)."},
        {"vllm.page", "all", "vllm/v1/kv_cache_interface.py", "block x max(1, KV heads / tp) x (K + V width) x bytes; latents block x (rank + rope) x bytes, the same on every rank; packed sparse latents 656 bytes a token, index keys 132."},
        {"vllm.blocks", "all", "vllm/v1/core/kv_cache_utils.py", "blocks = floor(floor(available / page) / layers), the least over all ranks; one block is reserved."},
        {"vllm.block_size", "all", "vllm/v1/attention/backends/", "16 tokens; 64 for sparse latents and latents on compute capability 10, 256 for DeepSeek-V4; --block-size."},
        {"vllm.hybrid_groups", "v0.9", "vllm/v1/core/kv_cache_utils.py", "Kinds of layers are cut into groups of the same size that draw blocks from one pool; a request needs blocks in every group."},
        {"vllm.state_page", "v0.11", "vllm/platforms/interface.py", "With states, the attention block is raised until its page holds a state, and the state's page is padded to it."},
        {"vllm.request_blocks", "all", "vllm/v1/kv_cache_interface.py", "Whole request: ceil(N / block). Window w: ceil(min(w - 1 + tokens in flight, N) / block) + 1. Chunk c: ceil(min(c + in flight, N) / block)."},
        {"vllm.max_length_check", "all", "vllm/v1/core/kv_cache_utils.py", "The engine refuses to start when the blocks of one request of max_model_len do not fit, and names the longest that does."},
        {"vllm.max_num_seqs", "all", "vllm/engine/arg_utils.py", "1024 from 70 GiB on (A100 apart), else 256; max_num_batched_tokens of a server 8192, else 2048."},
        {"vllm.decode_context_parallel", "v0.11", "vllm/v1/core/kv_cache_utils.py", "Each of d ranks keeps 1/d of the tokens: the capacity is d times a rank's."},
        {"vllm.offload_chunks", "v0.11.1", "vllm/v1/kv_offload/", "chunks = floor(size / round_up(bytes of a block x copies, 4096)); copies are the ranks."},
        {"vllm.lmcache_pool", "all", "LMCACHE_MAX_LOCAL_CPU_SIZE", "GB of 2^30 per rank, not in total."},
        {"vllm.pipeline_layers", "all", "vllm/distributed/utils.py", "layers / pp each, the remainder to the stages before the last."},
    }, changes());
}

}  // namespace

const std::vector<EngineRule>& rules() {
    static const RuleRegistry kRegistry = make();
    return kRegistry.rules;
}

}  // namespace kvplan::vllm
