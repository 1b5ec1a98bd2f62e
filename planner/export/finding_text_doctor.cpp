#include "planner/export/finding_text.hpp"

namespace kvplan::exporting {

std::vector<FindingTemplate> doctor_finding_templates() {
    return {
        {"gpu_memory_held_by_no_process", "GPU memory is held, and no process that can be seen from here holds it.",
         "GPU {gpus}: {least} to {most} of {total} are in use, and no process that can be seen from here has the device open. It is a context that is stuck in the "
         "kernel after a crash, or a process in another PID namespace. Killing more processes here will not free it.",
         "End the holder {outside}. Then, if memory stays: {reset}. If that fails too: reboot the host."},
        {"gpu_memory_of_hidden_process", "GPU memory is held by processes of other users, or by none.",
         "GPU {gpus}: {least} to {most} of {total} are in use; processes of other users cannot be seen without root.", "Look again as root, or {outside}."},
        {"gpu_memory_in_use", "Processes hold GPU memory before the launch.", "GPU {gpus}: up to {most} are in use. Holders: {holders}.",
         "End them before the launch, or plan with --gpu-free."},
        {"gpus_unequal_free", "GPUs differ in free memory; the engine sizes its pool by the least.",
         "GPU {gpu} has {least} free, GPU {other} {most}: every rank gets what the fullest one can give.", "Free that GPU, or choose others with CUDA_VISIBLE_DEVICES."},
        {"nothing_read", "Nothing of the machine could be read.", "Neither /proc/meminfo nor a control group nor a GPU could be read, so nothing can be said.",
         "Give a copy that kvplan doctor --save wrote."},
        {"no_gpu", "No GPU can be seen.", "Neither nvidia-smi nor rocm-smi shows a GPU.", ""},
        {"host_memory_exhausted", "Hardly any RAM is free.", "{available} of {total} RAM is available: a server cannot start. {shmem} of it is shared memory.",
         "After a crash, pinned pools stay until the last process of the old server is gone, also those outside this container."},
        {"host_memory_in_use", "Much of the RAM is in use before the launch.",
         "{used} of {total} RAM is in use, {available} is available; {shmem} of it is shared memory, which host caches of SGLang are counted as.",
         "If a server crashed here, look for what is left of it (also outside this container) before the next start."},
        {"swap_in_use", "Pages are swapped out.", "{used} of {total} swap is in use: a host cache must not come into it.", ""},
        {"swap_on", "Swap is on.", "{total} of swap is on. Pinned pools are never swapped, but they push everything else out.", ""},
        {"overcommit_strict", "The kernel refuses reservations beyond its limit (vm.overcommit_memory = 2).",
         "Reservations are limited to {limit}, {committed} are taken: CUDA reserves far more address space than it uses.", "sysctl vm.overcommit_memory=0 (or 1)."},
        {"huge_pages_idle", "Huge pages are reserved and idle.", "{idle} of {total} huge pages are idle; nothing else can use this RAM.",
         "Release them (vm.nr_hugepages=0), or use them for the host pool (SGLANG_HUGEPAGE_SIZE)."},
        {"numa_nodes", "The RAM lies on several NUMA nodes.", "{nodes} NUMA nodes: newer engines take a rank's host pool from its GPU's node.", ""},
        {"cgroup_limit_below_ram", "The container's limit is below the RAM that is free.",
         "The container may take {left} more (limit {limit}); the machine shows {available}, which is what engines look at.", "Plan with --this-host or --cgroup-limit."},
        {"container_without_limit", "A container without a memory limit sees the whole host's RAM.",
         "This {container} container has no memory limit: the {available} that it sees are shared with everything else on the host.", ""},
        {"memlock_small", "Little memory may be locked.",
         "ulimit -l is {memlock}. Pinning by the NVIDIA driver is not counted against it; RDMA registration is.", "ulimit -l unlimited, or docker run --ulimit memlock=-1."},
    };
}

}  // namespace kvplan::exporting
