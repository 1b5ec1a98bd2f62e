#pragma once

#include <optional>

#include "models/hardware/gpu_spec.hpp"
#include "models/json/document.hpp"
#include "models/json/reader.hpp"

namespace kvplan::hardware {

/// One entry of "gpus" of a kvplan.gpus/1 document, whose root holds the table of sources. Nothing when a required
/// member is missing or any member is at fault; every fault is reported through `reader`. Required: name, vendor,
/// memory.nominal_gb, memory.bandwidth_bytes_per_s. Each fact is {"value", "sources", and optionally "lowest",
/// "ceiling", "verified", "remark"}.
[[nodiscard]] std::optional<GpuSpec> read_gpu(json::Reader& reader, const json::Value& entry, const json::Value& root);

}  // namespace kvplan::hardware
