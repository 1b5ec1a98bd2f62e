#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace kvplan::charts {

/// Width of a line of text in points, by the embedded font (DejaVu Sans). UTF-8; bytes that are none count as "?".
[[nodiscard]] double text_width(std::string_view text, double size);

/// Height of capitals, for centring on a line.
[[nodiscard]] double capital_height(double size);

/// A line of text as coverage, 0 to 255, row by row; (0, base) of the picture is the text's origin.
struct TextImage {
    int width = 0, height = 0, base = 0, left = 0;  // `left`: columns before the origin
    std::vector<std::uint8_t> coverage;
};
[[nodiscard]] TextImage rasterised(std::string_view text, double size);

}  // namespace kvplan::charts
