#pragma once

#include "models/hardware/free_memory.hpp"
#include "planner/scenario.hpp"
#include "units/estimate.hpp"

namespace kvplan {

/// The catalogue's answer for one GPU model, made once when names are resolved: it depends on the scenario only by
/// whether the GPU works alone or in a group.
struct FreeMemoryByGroup {
    FreeMemoryEstimate alone, grouped;
};

/// Memory of one GPU that is free just before the weights load, in bytes: `--gpu-free` when measured; else the catalogue's
/// estimate for this GPU alone or in a group (models/hardware/free_memory.hpp), shifted by `--gpu-memory` when that
/// differs from the catalogue's total.
[[nodiscard]] Estimate<Bytes> free_before_load(const Scenario& scenario);

/// Total memory of one GPU as the driver reports it.
[[nodiscard]] Bytes gpu_total(const Scenario& scenario);

}  // namespace kvplan
