#pragma once

#include <optional>

#include "planner/scenario.hpp"

namespace kvplan::sglang {

/// What the engine's rules ask of a GPU.
struct GpuFacts {
    Bytes total;                       // the driver's total
    std::optional<double> memory_mib;  // the engine's own reading: MiB of the driver's total; unset: unknown
    bool amd = false;
    int sm_major = 0, sm_minor = 0;    // CUDA compute capability; 0: not NVIDIA, or unknown
    bool unified = false;

    /// Kernels for 8-bit floats: from compute capability 8.9; AMD's of the catalogue have them.
    [[nodiscard]] bool has_fp8() const { return sm_major == 0 || sm_major > 8 || (sm_major == 8 && sm_minor >= 9); }
};
[[nodiscard]] GpuFacts gpu_facts(const Scenario& scenario);

}  // namespace kvplan::sglang
