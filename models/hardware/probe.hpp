#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/file_source.hpp"
#include "models/hardware/host_spec.hpp"
#include "units/bytes.hpp"

namespace kvplan {

enum class ContainerKind { none, docker, kubernetes, lxc, other };
[[nodiscard]] std::string_view name_of(ContainerKind kind);

/// A control group with a memory limit, from the process's own up to the root.
struct CgroupLevel {
    std::string path;
    Bytes limit;
    Bytes used;       // without clean page cache, which the kernel gives back
    [[nodiscard]] Bytes left() const { return limit - used; }
};

struct GpuHolder {
    std::int64_t pid = 0;
    std::string command;
};

/// One GPU as the driver's tool shows it. Whatever is not told is empty.
struct GpuReading {
    int index = 0;
    std::string name;
    std::optional<Bytes> total, used, free;
    std::string bus_id;
    std::vector<GpuHolder> holders;   // processes that can be seen from here
};

struct MemoryReading {
    std::optional<Bytes> swap_total, swap_free, shmem, locked, committed, commit_limit;
    std::optional<int> overcommit;    // vm.overcommit_memory
};

/// What a launch on this machine would find.
struct Machine {
    HostSpec host;                    // cgroup_limit and cgroup_used are those of the level that leaves least
    MemoryReading memory;
    ContainerKind container = ContainerKind::none;
    int cgroup_version = 0;           // 0: none found
    std::vector<CgroupLevel> cgroups; // with a limit, the process's own first
    std::optional<Bytes> shm_used;
    std::vector<GpuReading> gpus;
    bool holders_known = false;       // a list of the devices' holders could be read
    std::vector<GpuHolder> unplaced_holders;  // of a device that stands for all GPUs (/dev/kfd)
    bool root = false;                // else the holders of other users cannot be seen
};

/// Reads a machine: memory, control groups (v1 and v2, every level), limits, huge pages, /dev/shm, NUMA, GPUs and their
/// holders. Never fails: what cannot be read is empty.
[[nodiscard]] Machine probe(const FileSource& source);

/// Parts of probe(), each for its own files.
void probe_memory(const FileSource& source, Machine& machine);
void probe_cgroups(const FileSource& source, Machine& machine);
void probe_gpus(const FileSource& source, Machine& machine);

/// The number behind `key` in lines of "key: 123 kB" or "key 123", in bytes.
[[nodiscard]] std::optional<std::int64_t> number_after(std::string_view text, std::string_view key);

}  // namespace kvplan
