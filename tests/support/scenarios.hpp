#pragma once

#include <memory>

#include "models/hardware/gpu_spec.hpp"
#include "planner/plan.hpp"
#include "tests/support/specs.hpp"

namespace kvplan::testing {

/// A GPU that is nothing but its memory and its compute capability (0: an AMD GPU).
[[nodiscard]] inline std::shared_ptr<const GpuSpec> bare_gpu(int sm_major, int sm_minor = 0) {
    auto gpu = std::make_shared<GpuSpec>();
    gpu->name = "test GPU";
    gpu->vendor = sm_major == 0 ? GpuVendor::amd : GpuVendor::nvidia;
    if (sm_major > 0) gpu->sm = ComputeCapability{sm_major, sm_minor};
    return gpu;
}

/// A deployment of `spec` on GPUs of `memory_mib` (the driver's total) with nothing else set.
[[nodiscard]] inline Scenario scenario_of(LlmSpec spec, std::int64_t tp, std::string version = "", std::int64_t memory_mib = 143771,
                                          int sm_major = 9) {
    Scenario s;
    s.model = std::make_shared<LlmSpec>(std::move(spec));
    s.gpu = bare_gpu(sm_major);
    s.engine.tp = tp;
    s.engine.version_text = std::move(version);
    s.hardware.gpu_memory = mebibytes(memory_mib);
    return s;
}

[[nodiscard]] inline Bytes gib(double value) { return nearest_bytes(value * static_cast<double>(kGiB)); }

/// Weights known only as a sum.
[[nodiscard]] inline WeightsPlan weights_of(Bytes bytes) {
    WeightsPlan plan;
    plan.bytes_per_rank = certain(bytes, Basis::measured);
    plan.stage_bytes = {bytes};
    return plan;
}

}  // namespace kvplan::testing
