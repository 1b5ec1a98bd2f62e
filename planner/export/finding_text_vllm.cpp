#include "planner/export/finding_text.hpp"

namespace kvplan::exporting {

std::vector<FindingTemplate> vllm_finding_templates() {
    return {
        {"vllm_free_below_requested", "vLLM refuses to start when less memory is free than the utilization asks for.",
         "gpu_memory_utilization {fraction} asks for {requested}, but only {free} are free at the start.",
         "Lower --gpu-memory-utilization or free the GPU."},
        {"vllm_no_memory_for_blocks", "Weights, activations and graphs take everything the utilization gives.",
         "No memory is left for the KV cache: {weights} of weights and the measured peak exceed the requested {requested}.",
         "Make room: {ways_out}."},
        {"vllm_request_does_not_fit", "vLLM refuses to start when the KV memory does not hold one request of max_model_len.",
         "One request of {context} tokens needs {needed} of KV, but {available} are available; the longest that fits has {longest} tokens.",
         "Set --max-model-len {longest}, or make room: {ways_out}."},
        {"vllm_no_feasible_utilization", "No value of gpu_memory_utilization lets one request of max_model_len start on this GPU.",
         "No gpu_memory_utilization works: {weights} of weights on {free} of free memory leave too little for activations and one request.",
         "Make room: {ways_out}."},
        {"vllm_utilization_too_high", "What the utilization asks for must be free, with the CUDA graphs beside it where the version does not count them.",
         "gpu_memory_utilization {fraction} is above {feasible_max}, the most that this GPU can give.",
         "Use --gpu-memory-utilization {recommended}."},
        {"vllm_utilization_leaves_little", "The utilization leaves less than CUDA graphs and the free memory's own uncertainty may need.",
         "At {fraction} the start may fail by a little: what is asked for must be free, and {left} stay beside it; {recommended} is on the safe side.",
         "Use --gpu-memory-utilization {recommended}."},
        {"vllm_low_end_does_not_fit", "At the unfavourable end of the interval one request of max_model_len may not fit.",
         "At the low end only {low} tokens of KV are left for a context of {context}.",
         "Leave some room: a shorter --max-model-len or a higher --gpu-memory-utilization."},
        {"lmcache_size_not_passed_on", "With the lmcache backend the offloading size is not passed to the LMCache server.",
         "--kv-offloading-size {size} has no effect with --kv-offloading-backend lmcache at this version.",
         "Set --l1-size-gb of the LMCache server, or LMCACHE_MAX_LOCAL_CPU_SIZE (per rank)."},
        {"vllm_kv_bytes_replace_utilization", "--kv-cache-memory-bytes replaces the memory profile.",
         "The KV memory is the given {kv}; gpu_memory_utilization does not count.", ""},
        {"vllm_padding_layers", "Kinds of layers that do not divide into equal groups leave empty places in every block.",
         "{padding} padding layers beside {layers} layers in {groups} groups: their share of every block is not used.", ""},
        {"vllm_tokens_under_reported", "Before 2026-06-12 the log's KV cache size of hybrid models is blocks over groups, less than what fits.",
         "The log will print {printed} tokens; requests of full length hold {held}.", ""},
        {"vllm_latent_replicated", "A latent is the same on every tensor-parallel rank.",
         "The KV cache is stored {copies} times: every tensor-parallel rank holds the same {tokens} tokens.",
         "Use --decode-context-parallel-size to keep a part on each rank, or data-parallel engines instead of tensor parallelism."},
    };
}

}  // namespace kvplan::exporting
