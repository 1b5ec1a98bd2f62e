// Parsing of a header's JSON. Internal to models/llm/safetensors*.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/llm/safetensors.hpp"

namespace kvplan::detail {

/// The sizes told by the header `json` (used up) of the file `path` with `data_bytes` bytes behind it.
[[nodiscard]] std::optional<TensorSizes> parse_safetensors_header(std::string json, const std::string& path, std::int64_t data_bytes,
                                                                  Diagnostics& diagnostics, const SafetensorsLimits& limits);

/// A diagnostic of `path`.
[[nodiscard]] Diagnostic checkpoint_fault(const std::string& path, std::string code, std::string message,
                                          Severity severity = Severity::error);

}  // namespace kvplan::detail
