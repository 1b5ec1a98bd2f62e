#pragma once

#include <string_view>

namespace kvplan::gui {

/// A face that the window has beside that of the charts: "DejaVuSans-Bold.ttf", "DejaVuSansMono.ttf"; empty for another name.
[[nodiscard]] std::string_view embedded_font(std::string_view name);

}  // namespace kvplan::gui
