#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "charts/drawing.hpp"

namespace kvplan::charts {

/// The drawing as an SVG document (UTF-8). Hover texts become titles.
[[nodiscard]] std::string svg(const Drawing& drawing);

/// The drawing as a PNG file, `scale` pixels a point. The same bytes on every run.
[[nodiscard]] std::string png(const Drawing& drawing, double scale = 2.0);

/// By the ending of a file's name (".svg", ".png", in any case); nothing for another.
[[nodiscard]] std::optional<std::string> picture(const Drawing& drawing, std::string_view file_name);

}  // namespace kvplan::charts
