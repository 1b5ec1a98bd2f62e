#pragma once

#include <optional>
#include <string>
#include <vector>

#include "units/bytes.hpp"

namespace kvplan {

struct NumaNode {
    int id = 0;
    std::optional<Bytes> total;
    std::optional<Bytes> free;
};

/// How much memory a process may lock; pinned host memory counts against it.
struct MemlockLimit {
    std::optional<Bytes> bytes;  ///< nothing: unlimited
};

/// One machine. Whatever is not known is empty, never 0.
struct HostSpec {
    std::string name;
    std::optional<std::string> gpu;  ///< the GPU that the machine is built with, as the catalogue names it
    std::optional<int> gpus;

    std::optional<Bytes> ram_total;
    std::optional<Bytes> ram_available;  ///< what a new process may take (Linux: MemAvailable)
    std::optional<Bytes> swap_total;
    std::optional<Bytes> cgroup_limit;  ///< of this container; empty also where none is set
    std::optional<Bytes> cgroup_used;
    std::optional<Bytes> shm_size;         ///< the size of /dev/shm
    std::optional<Bytes> hugepages_total;  ///< reserved huge pages, which are no part of ram_available
    std::optional<Bytes> hugepages_free;
    std::optional<MemlockLimit> memlock;

    std::optional<int> sockets;
    std::optional<int> numa_nodes;
    std::vector<NumaNode> nodes;  ///< empty: not known

    std::vector<std::string> sources;  ///< of a preset: keys of the data file's table of sources
};

}  // namespace kvplan
