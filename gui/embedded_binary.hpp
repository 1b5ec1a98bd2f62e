#pragma once

#include <string_view>

namespace kvplan::gui {

/// A file that is part of the program ("DejaVuSans.ttf"); empty when there is none of that name.
[[nodiscard]] std::string_view embedded_binary(std::string_view name);

}  // namespace kvplan::gui
