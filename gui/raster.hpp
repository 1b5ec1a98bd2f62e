// Draws ImGui's draw lists without a GPU: the same pixels each run, for pictures and tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct ImDrawData;
struct ImFontAtlas;

namespace kvplan::gui {

/// 8-bit RGBA, rows from the top.
struct Image {
    int width = 0, height = 0;
    std::vector<std::uint8_t> rgba;

    [[nodiscard]] const std::uint8_t* at(int x, int y) const { return &rgba[(static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)) * 4]; }
    friend bool operator==(const Image&, const Image&) = default;
};

/// Triangles by the top-left rule at pixel centres, the font atlas sampled bilinearly, blended over `background` (0xAABBGGRR).
/// Only the font atlas may be used as a texture.
[[nodiscard]] Image rasterise(const ImDrawData& data, ImFontAtlas& atlas, std::uint32_t background);

/// The picture as a PNG file's bytes.
[[nodiscard]] std::string png_of(const Image& image);

}  // namespace kvplan::gui
