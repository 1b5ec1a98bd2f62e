#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace kvplan {

/// The text of a data file that was part of the source tree at build time, by its path below the repository
/// root (`models/hardware/data/gpus.json`). The text lives as long as the program.
[[nodiscard]] std::optional<std::string_view> embedded_file(std::string_view path);

/// The paths of all embedded files below a folder (`models/llm/data/`), sorted.
[[nodiscard]] std::vector<std::string_view> embedded_files_below(std::string_view folder);

}  // namespace kvplan
