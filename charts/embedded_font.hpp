#pragma once

#include <string_view>

namespace kvplan::charts {

/// A face that is part of the program: "DejaVuSans.ttf"; empty for another name.
[[nodiscard]] std::string_view embedded_font(std::string_view name);

}  // namespace kvplan::charts
