#pragma once

#include <string>

namespace kvplan {

/// Writes `text` to `path`. A regular file (or one that does not exist yet) is written beside its place and renamed over
/// it, so that a reader sees the old text or the new, never a part; what is no regular file is written directly. Returns
/// what went wrong, empty when nothing did.
[[nodiscard]] std::string write_file(const std::string& path, const std::string& text);

}  // namespace kvplan
