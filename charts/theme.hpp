#pragma once

#include <array>

#include "charts/drawing.hpp"

namespace kvplan::charts {

enum class Look { light, dark };

/// Colours by meaning. The series are Okabe and Ito's, which people with a colour deficiency tell apart; curves differ by
/// dashes too where they are of two kinds.
struct Theme {
    Color background, text, muted, grid, forbidden, limit;
    std::array<Color, 8> series;
    Color low, high;   // ends of a heat map
};
[[nodiscard]] const Theme& theme_of(Look look);

[[nodiscard]] Color mixed(Color a, Color b, double share_of_b);

}  // namespace kvplan::charts
