#include "planner/export/finding_text.hpp"

namespace kvplan::exporting {
namespace {

std::vector<FindingTemplate> lack_templates() {
    return {
        {"hicache_exceeds_host_ram", "The host pools of all ranks need more RAM than the host has.",
         "The host cache asks {asked} on this host ({ranks} ranks x {per_rank}); with processes and reserve {required} is needed, {available} is available "
         "(limit: {limit}).",
         "{advice}."},
        {"host_memory_tight", "The host pools fit only if the engine's processes stay small.",
         "{required} of {available} is needed, but {required_high} if each process grows to 10 GB.",
         "{advice}."},
        {"host_ram_too_small", "The engine's processes alone may need more RAM than the host has.",
         "{ranks} processes and the reserve need up to {required_high}; {available} is available (limit: {limit}).",
         "Free RAM, raise the container's limit, or give a smaller --host-reserve if the estimate is too careful."},
        {"hicache_exceeds_lock_limit", "A process may not lock as much memory as its host pools take.",
         "The pools of one rank take {per_rank}; the lock limit ({limit}) is {limit_bytes}.",
         "The start would end with an error of cudaHostRegister. Raise the limit (ulimit -l unlimited, docker run --ulimit memlock=-1) or take a smaller pool."},
        {"host_memory_unknown", "A host cache is on and nothing is known of the host, so nothing can be said about its safety.",
         "The host cache asks {asked} of a host that was not described.",
         "Give --host-available (MemAvailable of /proc/meminfo), --host-ram, or --this-host."},
        {"host_available_assumed", "Only the total RAM is known; a tenth is taken for in use by the system.",
         "Of {ram} in total, {available} is assumed to be available.", "Give --host-available (MemAvailable of /proc/meminfo) for a firm answer."},
        {"hicache_size_is_per_rank", "--hicache-size counts per rank; the figure looks like the node's total.",
         "--hicache-size {size} is per rank: {ranks} ranks ask {asked}. One rank's share of {size} GB would be {share} GB.",
         "Divide the total by the ranks on the host."},
        {"engine_check_blind", "The engine's own check would not stop this launch.",
         "The engine would start anyway: {how}. Expect a hang while {per_rank} a rank are pinned, or the kernel's OOM killer, and no error.",
         ""},
        {"engine_check_refuses", "The engine's own check stops this launch with an error.",
         "At this version the start ends with \"Not enough host memory available\": a rank's share of the free RAM is below {per_rank}. Where ranks start apart, "
         "earlier ones may have pinned theirs by then.", ""},
        {"engine_counts_one_server", "Replicas and other servers on the host are not in the engine's own check.",
         "{servers} servers share this host ({ranks} ranks); each one's check counts only itself.", ""},
        {"cgroup_limit_unseen", "The container's memory limit is below what the engine believes to have.",
         "The container may take {available}, but the engine's check reads the whole machine's free RAM.",
         "Size the host cache by the container's limit, or raise the limit."},
    };
}

std::vector<FindingTemplate> size_templates() {
    return {
        {"hicache_window_empty", "No size is both safe and large enough to be of use.",
         "The largest safe size is {safe_size} GB a rank, the smallest useful one {min_useful} GB ({reason}): a host pool must hold more than the device pool's "
         "{device_tokens} tokens.",
         "Cap the device pool (--max-total-tokens), or: {alternatives}."},
        {"hicache_refused_by_engine", "At this version the engine refuses a host pool that is not larger than the device pool.",
         "The host pool holds {host_tokens} tokens, the device pool {device_tokens}: the start ends with \"The host memory should be larger than the device "
         "memory\".",
         "Take a larger size, cap --max-total-tokens, or use a version since 2026-06-26."},
        {"hicache_not_larger_than_device", "With write-through, a host pool no larger than the device pool holds nothing that the device does not.",
         "The host pool holds {host_tokens} tokens, the device pool {device_tokens}: with write-through it adds almost no prefix that is not on the GPU.",
         "{ways}."},
        {"host_cache_no_concurrency", "A host cache raises the prefix hit rate; it does not let more requests run at once.",
         "The host cache saves prefill of prefixes that come again. Requests still run only in the device pool of {device_tokens} tokens.", ""},
        {"hicache_replicated_copies", "Each rank keeps the same tokens in its own host pool.",
         "The node's {node_bytes} hold {copies} copies of the same {distinct_tokens} tokens: a latent (or a KV head with fewer heads than ranks) is the same on "
         "every rank.",
         "{ways}."},
        {"hicache_power_of_two", "At this version each pinned block takes the next power of two.",
         "--hicache-size {size} takes {per_rank} of RAM a rank at this version, which the engine's check does not know.",
         "Take a size just below a power of two (8, 17, 34, 68 GB …) or v0.5.4.post2 and newer."},
        {"hicache_indexer_beyond_size", "The sparse indexer's keys are kept beside the size that was given.",
         "The indexer's pool takes {pool_bytes} a rank beyond --hicache-size; all pools together {per_rank}.", ""},
        {"hicache_draft_beyond_size", "The draft model's KV is kept beside the size that was given.",
         "The draft's pool takes {pool_bytes} a rank; all pools together {per_rank}.", ""},
        {"hicache_size_per_pool", "The size counts again for each further kind of pool (sliding window, Mamba state).",
         "The {pool} pool takes another {pool_bytes} a rank: the size is charged to each pool, {per_rank} together.", ""},
        {"hicache_size_overrides_ratio", "Where a size is given, the ratio has no effect.", "--hicache-size {size} overrides --hicache-ratio {ratio}.", ""},
        {"hicache_flags_without_effect", "Flags of the host cache without --enable-hierarchical-cache do nothing.",
         "A size or ratio of the host cache is given, but the host cache is off.", "Add --enable-hierarchical-cache, or take the flags away."},
    };
}

std::vector<FindingTemplate> setup_templates() {
    return {
        {"host_pool_exceeds_shm", "The host pool is a file in /dev/shm, which is too small for it.",
         "The pool of {asked} is a file in /dev/shm, which holds {shm}.", "Start the container with --ipc=host or a larger --shm-size."},
        {"shm_small", "/dev/shm is too small for ranks that talk through it.",
         "/dev/shm holds {shm}; {ranks} ranks exchange data through it and may fail at start.",
         "docker run --shm-size 32g (or --ipc=host); in Kubernetes an emptyDir of medium Memory at /dev/shm."},
        {"huge_pages_set_aside", "Reserved huge pages are RAM that nothing else can use.",
         "{huge_pages} is set aside as huge pages; the engine's check counts it as used.",
         "Release them (vm.nr_hugepages=0), or let the host pool use them (SGLANG_HUGEPAGE_SIZE)."},
        {"memlock_probed", "The lock limit of this shell is below the host pool.",
         "ulimit -l is {memlock}, the pools of a rank take {per_rank}. Pinning by the NVIDIA driver is not counted against it; RDMA registration (mooncake, "
         "nixl) and ROCm may be.",
         "ulimit -l unlimited, or docker run --ulimit memlock=-1."},
        {"startup_exceeds_watchdog", "Loading and pinning take longer than the watchdog waits.",
         "The start takes about {expected} (up to {high}); a watchdog or probe ends it after {limit}.",
         "Raise the limit of the health check or startup probe, or take a smaller host pool."},
        {"startup_may_exceed_watchdog", "On slow disks or with slow pinning the start takes longer than the watchdog waits.",
         "The start takes about {expected}, but up to {high} where disk and pinning are slow; a usual watchdog waits {limit}.", ""},
    };
}

std::vector<FindingTemplate> launch_templates() {
    return {
        {"unknown_flag", "The engine does not know a flag of the command; its parser stops on it.",
         "The engine is not known to have the flag {flag}: its parser stops the start, and nothing of it is planned.", "{way}"},
        {"flag_not_in_version", "A flag of the command does not exist in this version; the engine's parser stops on it.",
         "{flag} does not exist in {version}: the parser stops the start.", "{way}"},
        {"more_ranks_than_gpus", "The command starts more ranks than it is given GPUs.",
         "{ranks} ranks on this node, and only {gpus} GPUs are given to the command (CUDA_VISIBLE_DEVICES or the container).",
         "Give it as many GPUs as ranks, or fewer ranks."},
        {"one_of_several_servers", "A loop starts several such servers; one of them is judged alone.",
         "The command stands in a loop that starts {servers} servers side by side; this plan is of one of them alone on the host.",
         "Give --instances-per-node with the number of servers that share the host."},
        {"other_servers_counted", "The same file starts other servers; what they take of the host is counted as used.",
         "{servers} more servers are started by the same file; they take {taken} of the host at the high end.", ""},
        {"several_servers_by_loop", "A loop starts several such servers; they are judged together.",
         "The loop starts {servers} servers side by side: the host's figures are of all of them.", ""},
    };
}

}  // namespace

std::vector<FindingTemplate> host_finding_templates() {
    std::vector<FindingTemplate> all = lack_templates();
    for (auto* more : {&size_templates, &setup_templates, &launch_templates})
        for (const FindingTemplate& entry : (*more)()) all.push_back(entry);
    return all;
}

}  // namespace kvplan::exporting
