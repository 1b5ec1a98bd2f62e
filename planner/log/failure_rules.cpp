// What engines, CUDA, NCCL, the kernel and container runtimes print when a start or a server dies. The codes are those of
// docs/log.md.
#include "planner/log/line_rules.hpp"

namespace kvplan::logs {

namespace {

using K = LineKind;
using F = Figure;

constexpr LineRule failure(std::string_view phrase, std::string_view code, std::string_view needs = {}) {
    return {phrase, K::failure, {}, {}, {}, needs, code};
}

constexpr LineRule kRules[] = {
    // SGLang
    failure("Not enough memory. Please try to increase --mem-fraction-static", "fraction_too_low"),
    {"Loaded weights leave no GPU memory for the KV cache", K::failure, {{{"Raise --mem-fraction-static above ", " ", F::minimum_fraction}}}, {20260701}, {}, {}, "fraction_too_low"},
    failure("The memory capacity is unbalanced", "unbalanced_gpus"),
    {"Not enough host memory available. Requesting ", K::failure, {{{"Requesting ", " GB", F::asked_gb}, {"only have ", " GB", F::free_gb}}}, {}, {}, {}, "host_check"},
    {"Not enough host memory for ", K::failure, {{{"Requesting ", " GB", F::asked_gb}, {"only have ", " GB", F::free_gb}}}, {}, {}, {}, "host_check"},
    failure("The host memory should be larger than the device memory", "host_smaller_than_device"),
    {"SWA pool (", K::failure, {{{"SWA pool (", " tokens", F::swa_tokens}}}, {20260701}, {}, "cannot hold even one request", "swa_pool_too_small"},
    failure("Not enough GPU memory for hybrid", "state_pool_too_small"),
    failure("Hybrid (mamba/linear-attention) state cache is too small", "state_pool_too_small"),
    failure("Capture cuda graph failed", "graph_capture_failed"),
    failure("Capture CUDA graph failed", "graph_capture_failed"),
    failure("Watchdog timeout", "watchdog_timeout"),
    failure("Received sigquit from a child process", "child_process_died"),
    failure("Scheduler hit an exception", "exception"),
    // vLLM
    failure("No available memory for the cache blocks", "fraction_too_low"),
    {"To serve at least one request with the", K::failure,
     {{{"max seq len (", ")", F::request_len}, {"available KV cache memory (", " GiB", F::available_gib}, {"estimated maximum model length is ", ".", F::estimated_len}}}, {}, {}, {}, "context_does_not_fit"},
    {"The model's max seq len (", K::failure, {{{"max seq len (", ")", F::request_len}, {"stored in KV cache (", ")", F::tokens}}}, {}, {}, {}, "context_does_not_fit"},
    {"max_num_seqs (", K::failure, {{{"max_num_seqs (", ")", F::asked_requests}, {"cache blocks (", ")", F::state_slots}}}, {}, {}, "exceeds available Mamba cache blocks", "state_blocks_too_few"},
    {"Error in memory profiling.", K::failure, {{{"Initial free memory ", " GiB", F::avail_gib}, {"current free memory ", " GiB", F::other_gib}}}, {}, {}, {}, "memory_changed_while_profiling"},
    failure("Engine core initialization failed", "exception"),
    // CUDA and NCCL
    failure("CUDA out of memory", "cuda_out_of_memory"),
    failure("HIP out of memory", "cuda_out_of_memory"),
    failure("NPU out of memory", "cuda_out_of_memory"),
    failure("CUDA error: out of memory", "cuda_out_of_memory"),
    {"Tried to allocate ", K::allocation_tried},
    failure("cudaHostRegister", "pinning_failed", "fail"),
    failure("cudaHostRegister", "pinning_failed", "rror"),
    failure("cudaHostRegister", "pinning_failed", "invalid argument"),
    failure("cudaHostAlloc", "pinning_failed", "fail"),
    failure("Error while creating shared memory segment", "shared_memory_full"),
    failure("posix_fallocate failed", "shared_memory_full", "No space left"),
    failure("NCCL error", "nccl"),
    failure("ncclSystemError", "nccl"),
    failure("ncclUnhandledCudaError", "nccl"),
    failure("ncclInternalError", "nccl"),
    failure("ncclRemoteError", "nccl"),
    failure("Watchdog caught collective operation timeout", "nccl"),
    // kernel and containers
    failure("Out of memory: Killed process", "killed_for_memory"),
    failure("Memory cgroup out of memory", "killed_for_memory"),
    failure("oom-kill:", "killed_for_memory"),
    failure("OOMKilled", "killed_for_memory"),
    failure("oom_kill event", "killed_for_memory"),              // Slurm, by version
    failure("oom-kill event", "killed_for_memory"),
    failure("killed by the OOM killer", "killed_for_memory"),    // systemd
    failure("Failed with result 'oom-kill'", "killed_for_memory"),
    failure("killed due to memory pressure", "killed_for_memory"),   // Ray
    failure("SIGKILL", "killed"),
    failure("exit code -9", "killed"),
    failure("status=9/KILL", "killed"),
    failure("exitcode: -9", "killed"),
    failure("exit code 137", "killed"),
    failure("exit code: 137", "killed"),
    failure("Killed", "killed"),
    failure("No space left on device", "no_space_left"),
    failure("Bus error", "no_space_left"),
    {"Traceback (most recent call last)", K::traceback},
};

}  // namespace

std::span<const LineRule> failure_rules() { return kRules; }

}  // namespace kvplan::logs
