#pragma once

#include <string_view>

namespace kvplan::charts {

/// DejaVuSans.ttf, part of the program.
[[nodiscard]] std::string_view embedded_font();

}  // namespace kvplan::charts
