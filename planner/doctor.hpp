#pragma once

#include <vector>

#include "models/hardware/probe.hpp"
#include "planner/plan.hpp"
#include "planner/scenario.hpp"

namespace kvplan {

/// What a launch on this machine would run into, most severe first.
///
/// error    nothing_read, gpu_memory_held_by_no_process, host_memory_exhausted
/// warning  gpu_memory_in_use, gpus_unequal_free, host_memory_in_use, overcommit_strict, shm_small, memlock_small,
///          gpu_memory_of_hidden_process (the holders of other users cannot be seen)
/// note     container_without_limit, cgroup_limit_below_ram, huge_pages_idle, swap_in_use, swap_on, no_gpu, numa_nodes
[[nodiscard]] std::vector<Finding> doctor_findings(const Machine& machine);

/// Sets what a scenario does not say yet from this machine, origin "probe": the host's fields, the GPU and its memory.
void apply_machine(const Machine& machine, Scenario& scenario);

}  // namespace kvplan
