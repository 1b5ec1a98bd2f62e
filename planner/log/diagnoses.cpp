// The sentences of diagnoses. Clauses in [[ ]] are left out when a value in them is not known.
#include "planner/log/outcome.hpp"

namespace kvplan::logs {

const std::vector<DiagnosisText>& diagnoses() {
    static const std::vector<DiagnosisText> all = {
        {"weights_do_not_fit",
         "The weights of one rank do not fit beside what the engine needs[[: {weights} of {free} free]][[; the profile gave {profiled} tokens, which means no memory is left for KV]][[; even a fraction of {least_fraction} leaves no pool]].",
         "More ranks (tensor, expert or pipeline parallel), a smaller format of the weights, or larger GPUs. No fraction helps."},
        {"fraction_too_low",
         "The fraction[[ {fraction}]] gives no memory to KV after the weights[[ ({weights} of {free})]]. This is the error that wants a HIGHER fraction[[: above {least_fraction}]].",
         "Raise --mem-fraction-static (vLLM: --gpu-memory-utilization); the command below leaves room for graphs and activations."},
        {"fraction_too_high",
         "CUDA ran out of memory after the pools were made[[: {tried} asked, {free} free]][[ with fraction {fraction}]]. This is the error that wants a LOWER fraction: graphs and activations live outside it[[; {left_after_pools} was left after the pools]].",
         "Lower --mem-fraction-static (vLLM: --gpu-memory-utilization), or --cuda-graph-max-bs, or --chunked-prefill-size."},
        {"pool_out_of_memory",
         "CUDA ran out of memory while pools were being made[[: {tried} asked, {free} free]]: something is allocated that the budget does not count, such as a draft model's KV, an indexer or extra slots for drafted tokens.",
         "Lower the fraction by what was missing, or take a version that budgets these pools."},
        {"request_table_does_not_fit",
         "The table of requests is one allocation of {table} ({rows} rows of the context's length), and {free} were free: the default context length sizes it, not the pool.",
         "Give --max-running-requests or a smaller --context-length; the fraction is not the cause."},
        {"runtime_out_of_memory",
         "The server ran and then CUDA ran out of memory[[: {tried} asked, {free} free]]. The fraction leaves too little for activations of real batches.",
         "Lower the fraction or --chunked-prefill-size (vLLM: --max-num-batched-tokens)."},
        {"context_does_not_fit",
         "One request of the full length[[ ({context} tokens)]] needs more KV than the pool has[[: {needed} of {available}]][[; the longest that fits is {longest} tokens]]. vLLM refuses to start then; a host cache does not change it.",
         "Lower --max-model-len to what fits, raise --gpu-memory-utilization, or store KV in fp8."},
        {"state_blocks_too_few",
         "Every running request of a hybrid model needs a state block: {asked} requests were allowed, {blocks} blocks exist.",
         "Set --max-num-seqs to at most {blocks}."},
        {"state_pool_too_small", "The pool of Mamba or linear-attention states holds no request[[; the weights alone take the fraction up to {least_fraction}]].", "Raise --mem-fraction-static or --mamba-full-memory-ratio, or set --max-mamba-cache-size."},
        {"swa_pool_too_small", "The pool of the sliding-window layers cannot hold one request's window.", "Raise --swa-full-tokens-ratio."},
        {"free_memory_below_fraction",
         "Less memory is free at the start than the fraction asks for[[: {free} free of {total}, {wanted} wanted]]. Another process holds memory on the GPU, or the fraction is of more than exists.",
         "Free the GPU (kvplan doctor shows who holds it), or lower --gpu-memory-utilization[[ to at most {largest_fraction}]]."},
        {"memory_changed_while_profiling", "Another process gave memory back, or took it, while vLLM measured its own use.", "Start servers on the same GPU one after the other."},
        {"unbalanced_gpus", "The GPUs of one group do not have the same memory free[[: {least} to {most}]]: another process sits on some of them.", "Free the GPUs; every rank would be sized by the fullest one."},
        {"host_check",
         "The engine's own check refused a host pool[[: {asked} asked, {free} free]][[; the message leaves out the reserve of 10 GiB that this version keeps, so {usable} could be taken]]. The size counts per rank and per pool.",
         "Lower --hicache-size or --hicache-ratio to the plan's safe maximum."},
        {"host_smaller_than_device", "Versions before 2026-06-26 want the host pool larger than the device pool.", "Raise the host pool above the device pool, lower --max-total-tokens, or take a newer version."},
        {"host_memory_killed",
         "The kernel killed the server for host memory[[: {host_per_rank} a rank, {host_total} for {ranks} ranks]]. Every rank checks alone against the whole host, and pages are taken later, so the check does not protect.",
         "Lower --hicache-size to the plan's safe maximum; it is decimal GB per rank."},
        {"host_pinning_stalled",
         "The log ends while host pools are being pinned[[: {host_per_rank} a rank, {host_total} for {ranks} ranks]]. Pages are taken and locked now; when the host has not enough, the server hangs or is killed without a word.",
         "Compare the sum over ranks with the host's RAM (kvplan plan --host-ram), lower --hicache-size, and see kvplan doctor for memory that is still held."},
        {"pinning_failed", "CUDA refused to pin the host pool[[: {host_per_rank} a rank]]: beyond what one process may lock.", "Lower --hicache-size, or raise the locked-memory limit (ulimit -l)."},
        {"shared_memory_full", "/dev/shm is too small for what the engine keeps there.", "Give the container a larger shared memory (--shm-size, --ipc=host)."},
        {"nccl", "Communication between the ranks failed while {phase}.", "If a rank died first, its own error is the cause; else run with NCCL_DEBUG=INFO and look at links and shared memory."},
        {"watchdog_timeout", "The engine's watchdog ended it while {phase}.", "Look for a rank that hangs: pinning of host memory, a compile step, a dead peer."},
        {"graph_capture_failed", "Capturing CUDA graphs failed for another reason than memory.", "Read the error above it; --disable-cuda-graph tells whether the kernels themselves work."},
        {"killed_while_loading", "The server was killed while it loaded weights, mostly for host memory.", "Look at the kernel's log; give the container more memory, or load fewer ranks at once."},
        {"killed", "The server was killed from outside (signal 9) while {phase}.", "Look at the kernel's log and the orchestrator's events for the reason."},
        {"exception", "The server ended with an error of its own while {phase}[[: {error}]].", "No rule of the planner knows this error."},
        {"incomplete", "The log ends while {phase}, without an error and before the server is ready.", "Give the rest of the log."},
    };
    return all;
}

}  // namespace kvplan::logs
