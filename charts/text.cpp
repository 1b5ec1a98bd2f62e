#include "charts/text.hpp"

#include <stb_truetype.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "charts/embedded_font.hpp"

namespace kvplan::charts {
namespace {

const stbtt_fontinfo& font() {
    static const stbtt_fontinfo info = [] {
        stbtt_fontinfo made{};
        const auto* bytes = reinterpret_cast<const unsigned char*>(embedded_font("DejaVuSans.ttf").data());
        if (stbtt_InitFont(&made, bytes, stbtt_GetFontOffsetForIndex(bytes, 0)) == 0) throw std::logic_error("the embedded font cannot be read");
        return made;
    }();
    return info;
}

float scale_for(double size) { return stbtt_ScaleForMappingEmToPixels(&font(), static_cast<float>(size)); }

/// The next code point, which is taken off the front.
int take_code_point(std::string_view& text) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t length = first < 0x80 ? 1 : first >= 0xC2 && first < 0xE0 ? 2 : first >= 0xE0 && first < 0xF0 ? 3 : first >= 0xF0 && first < 0xF5 ? 4 : 0;
    if (length == 0 || length > text.size()) {
        text.remove_prefix(1);
        return '?';
    }
    int code = length == 1 ? first : first & (0xFF >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        const auto next = static_cast<unsigned char>(text[i]);
        if ((next & 0xC0) != 0x80) {
            text.remove_prefix(1);
            return '?';
        }
        code = code << 6 | (next & 0x3F);
    }
    text.remove_prefix(length);
    return code;
}

double advance(int code) {
    int width = 0, bearing = 0;
    stbtt_GetCodepointHMetrics(&font(), code, &width, &bearing);
    return width;
}

}  // namespace

double text_width(std::string_view text, double size) {
    double width = 0.0;
    while (!text.empty()) width += advance(take_code_point(text));
    return width * static_cast<double>(scale_for(size));
}

double capital_height(double size) {
    int x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    stbtt_GetCodepointBox(&font(), 'H', &x0, &y0, &x1, &y1);
    return y1 * static_cast<double>(scale_for(size));
}

TextImage rasterised(std::string_view text, double size) {
    TextImage image;
    const float scale = scale_for(size);
    const int pad = 2;
    image.left = pad;
    image.base = static_cast<int>(std::ceil(size)) + pad;
    image.height = image.base + static_cast<int>(std::ceil(size / 2)) + pad;
    image.width = static_cast<int>(std::ceil(text_width(text, size))) + 2 * pad + static_cast<int>(size / 2);
    image.coverage.assign(static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height), 0);
    double at = pad;
    while (!text.empty()) {
        const int code = take_code_point(text);
        const float shift = static_cast<float>(at - std::floor(at));
        int x0 = 0, y0 = 0, x1 = 0, y1 = 0;
        stbtt_GetCodepointBitmapBoxSubpixel(&font(), code, scale, scale, shift, 0, &x0, &y0, &x1, &y1);
        const int left = static_cast<int>(std::floor(at)) + x0, top = image.base + y0, wide = x1 - x0, high = y1 - y0;
        if (wide > 0 && high > 0) {
            std::vector<unsigned char> glyph(static_cast<std::size_t>(wide) * static_cast<std::size_t>(high));
            stbtt_MakeCodepointBitmapSubpixel(&font(), glyph.data(), wide, high, wide, scale, scale, shift, 0, code);
            for (int y = std::max(0, -top); y < high && top + y < image.height; ++y)
                for (int x = std::max(0, -left); x < wide && left + x < image.width; ++x) {
                    auto& pixel = image.coverage[static_cast<std::size_t>(top + y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(left + x)];
                    pixel = std::max(pixel, glyph[static_cast<std::size_t>(y) * static_cast<std::size_t>(wide) + static_cast<std::size_t>(x)]);
                }
        }
        at += advance(code) * static_cast<double>(scale);
    }
    return image;
}

}  // namespace kvplan::charts
