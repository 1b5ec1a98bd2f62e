#include "charts/theme.hpp"

#include <algorithm>
#include <cmath>

namespace kvplan::charts {

const Theme& theme_of(Look look) {
    static const Theme kLight{{255, 255, 255}, {32, 36, 42}, {92, 99, 110}, {222, 226, 231}, {140, 146, 156}, {190, 30, 45},
                              {{{0, 114, 178}, {230, 159, 0}, {0, 158, 115}, {204, 121, 167}, {86, 180, 233}, {213, 94, 0}, {150, 140, 20}, {90, 90, 90}}},
                              {236, 243, 250}, {0, 82, 136}};
    static const Theme kDark{{24, 27, 32}, {230, 233, 238}, {160, 167, 178}, {58, 64, 73}, {120, 127, 138}, {255, 107, 107},
                             {{{86, 180, 233}, {230, 159, 0}, {64, 200, 150}, {224, 150, 190}, {120, 150, 255}, {240, 120, 50}, {240, 228, 66}, {190, 190, 190}}},
                             {38, 50, 62}, {125, 205, 255}};
    return look == Look::light ? kLight : kDark;
}

Color mixed(Color a, Color b, double share_of_b) {
    const double s = std::clamp(share_of_b, 0.0, 1.0);
    const auto mix = [s](std::uint8_t x, std::uint8_t y) { return static_cast<std::uint8_t>(std::lround(x + (y - x) * s)); };
    return {mix(a.r, b.r), mix(a.g, b.g), mix(a.b, b.b), mix(a.a, b.a)};
}

}  // namespace kvplan::charts
