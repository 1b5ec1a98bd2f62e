#include "gui/raster.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include <imgui.h>
#include <stb_image_write.h>

namespace kvplan::gui {

namespace {

constexpr std::int64_t kSub = 256;  // positions in 1/256 pixel: edge functions are exact integers

struct Coverage {
    const unsigned char* alpha = nullptr;
    int width = 0, height = 0;

    [[nodiscard]] float texel(int x, int y) const {
        x = std::clamp(x, 0, width - 1);
        y = std::clamp(y, 0, height - 1);
        return static_cast<float>(alpha[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)]);
    }
    [[nodiscard]] float at(float u, float v) const {
        const float x = u * static_cast<float>(width) - 0.5f, y = v * static_cast<float>(height) - 0.5f;
        const float fx = std::floor(x), fy = std::floor(y), ax = x - fx, ay = y - fy;
        const int ix = static_cast<int>(fx), iy = static_cast<int>(fy);
        const float top = texel(ix, iy) * (1 - ax) + texel(ix + 1, iy) * ax;
        const float bottom = texel(ix, iy + 1) * (1 - ax) + texel(ix + 1, iy + 1) * ax;
        return (top * (1 - ay) + bottom * ay) / 255.0f;
    }
};

struct Point {
    std::int64_t x = 0, y = 0;
};

struct Colour {
    float channel[4] = {};  // r, g, b, a in 0..255
};

Colour unpack(ImU32 packed) {
    return {{static_cast<float>((packed >> IM_COL32_R_SHIFT) & 255u), static_cast<float>((packed >> IM_COL32_G_SHIFT) & 255u),
             static_cast<float>((packed >> IM_COL32_B_SHIFT) & 255u), static_cast<float>((packed >> IM_COL32_A_SHIFT) & 255u)}};
}

void blend(std::uint8_t* pixel, const Colour& colour, float coverage) {
    const float alpha = colour.channel[3] * coverage / 255.0f;
    for (int c = 0; c < 3; ++c) pixel[c] = static_cast<std::uint8_t>(static_cast<float>(pixel[c]) * (1 - alpha) + colour.channel[c] * alpha + 0.5f);
    pixel[3] = 255;
}

std::int64_t edge(Point a, Point b, Point p) { return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x); }

// A pixel on an edge belongs to the triangle whose top or left edge it is, so that neighbours share none.
std::int64_t bias(Point a, Point b) { return (a.y == b.y && b.x > a.x) || b.y < a.y ? 0 : -1; }

struct Clip {
    int x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

class Triangle {
public:
    Triangle(const ImDrawVert& a, const ImDrawVert& b, const ImDrawVert& c, ImVec2 offset) : vertices_{a, b, c} {
        for (int i = 0; i < 3; ++i) {
            points_[i].x = std::llround((vertices_[i].pos.x - offset.x) * static_cast<float>(kSub));
            points_[i].y = std::llround((vertices_[i].pos.y - offset.y) * static_cast<float>(kSub));
        }
        area_ = edge(points_[0], points_[1], points_[2]);
        if (area_ < 0) {
            std::swap(points_[1], points_[2]);
            std::swap(vertices_[1], vertices_[2]);
            area_ = -area_;
        }
        for (int i = 0; i < 3; ++i) colours_[i] = unpack(vertices_[i].col);
        flat_ = vertices_[0].col == vertices_[1].col && vertices_[1].col == vertices_[2].col;
        one_texel_ = same(vertices_[0].uv, vertices_[1].uv) && same(vertices_[1].uv, vertices_[2].uv);
    }

    void draw(Image& image, const Clip& clip, const Coverage& font) const {
        if (area_ == 0) return;
        const int x0 = std::max(clip.x0, first_pixel(std::min({points_[0].x, points_[1].x, points_[2].x})));
        const int x1 = std::min(clip.x1, last_pixel(std::max({points_[0].x, points_[1].x, points_[2].x})));
        const int y0 = std::max(clip.y0, first_pixel(std::min({points_[0].y, points_[1].y, points_[2].y})));
        const int y1 = std::min(clip.y1, last_pixel(std::max({points_[0].y, points_[1].y, points_[2].y})));
        const float texel = one_texel_ ? font.at(vertices_[0].uv.x, vertices_[0].uv.y) : 0.0f;
        for (int y = y0; y < y1; ++y) {
            std::int64_t w[3];
            const Point start{x0 * kSub + kSub / 2, y * kSub + kSub / 2};
            for (int i = 0; i < 3; ++i) w[i] = edge(points_[(i + 1) % 3], points_[(i + 2) % 3], start);
            std::uint8_t* pixel = image.rgba.data() + (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(x0)) * 4;
            for (int x = x0; x < x1; ++x, pixel += 4) {
                if (w[0] + bias(points_[1], points_[2]) >= 0 && w[1] + bias(points_[2], points_[0]) >= 0 && w[2] + bias(points_[0], points_[1]) >= 0) shade(pixel, w, texel, font);
                for (int i = 0; i < 3; ++i) w[i] -= (points_[(i + 2) % 3].y - points_[(i + 1) % 3].y) * kSub;
            }
        }
    }

private:
    static bool same(ImVec2 a, ImVec2 b) { return a.x == b.x && a.y == b.y; }
    static int first_pixel(std::int64_t x) { return static_cast<int>(std::floor(static_cast<double>(x) / kSub - 0.5)); }
    static int last_pixel(std::int64_t x) { return static_cast<int>(std::ceil(static_cast<double>(x) / kSub + 0.5)); }

    void shade(std::uint8_t* pixel, const std::int64_t (&w)[3], float texel, const Coverage& font) const {
        if (flat_ && one_texel_) return blend(pixel, colours_[0], texel);
        float part[3];
        for (int i = 0; i < 3; ++i) part[i] = static_cast<float>(static_cast<double>(w[i]) / static_cast<double>(area_));
        Colour colour = colours_[0];
        if (!flat_)
            for (int c = 0; c < 4; ++c) colour.channel[c] = part[0] * colours_[0].channel[c] + part[1] * colours_[1].channel[c] + part[2] * colours_[2].channel[c];
        if (!one_texel_) {
            const float u = part[0] * vertices_[0].uv.x + part[1] * vertices_[1].uv.x + part[2] * vertices_[2].uv.x;
            const float v = part[0] * vertices_[0].uv.y + part[1] * vertices_[1].uv.y + part[2] * vertices_[2].uv.y;
            texel = font.at(u, v);
        }
        blend(pixel, colour, texel);
    }

    ImDrawVert vertices_[3];
    Point points_[3];
    Colour colours_[3];
    std::int64_t area_ = 0;
    bool flat_ = false, one_texel_ = false;
};

void draw_list(Image& image, const ImDrawData& data, const ImDrawList& list, const Coverage& font) {
    for (const ImDrawCmd& command : list.CmdBuffer) {
        if (command.UserCallback != nullptr) continue;
        const Clip clip{std::max(0, static_cast<int>(command.ClipRect.x - data.DisplayPos.x)), std::max(0, static_cast<int>(command.ClipRect.y - data.DisplayPos.y)),
                        std::min(image.width, static_cast<int>(command.ClipRect.z - data.DisplayPos.x)), std::min(image.height, static_cast<int>(command.ClipRect.w - data.DisplayPos.y))};
        if (clip.x0 >= clip.x1 || clip.y0 >= clip.y1) continue;
        for (unsigned i = 0; i + 2 < command.ElemCount; i += 3) {
            const ImDrawIdx* index = list.IdxBuffer.Data + command.IdxOffset + i;
            const ImDrawVert* vertex = list.VtxBuffer.Data + command.VtxOffset;
            Triangle(vertex[index[0]], vertex[index[1]], vertex[index[2]], data.DisplayPos).draw(image, clip, font);
        }
    }
}

}  // namespace

Image rasterise(const ImDrawData& data, ImFontAtlas& atlas, std::uint32_t background) {
    Image image{static_cast<int>(data.DisplaySize.x), static_cast<int>(data.DisplaySize.y), {}};
    image.rgba.resize(static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height) * 4);
    for (std::size_t i = 0; i < image.rgba.size(); ++i) image.rgba[i] = static_cast<std::uint8_t>(background >> (8 * (i % 4)));
    unsigned char* pixels = nullptr;
    Coverage font;
    atlas.GetTexDataAsAlpha8(&pixels, &font.width, &font.height);
    font.alpha = pixels;
    for (int i = 0; i < data.CmdListsCount; ++i) draw_list(image, data, *data.CmdLists[i], font);
    return image;
}

std::string png_of(const Image& image) {
    std::string bytes;
    const auto append = [](void* context, void* data, int size) { static_cast<std::string*>(context)->append(static_cast<const char*>(data), static_cast<std::size_t>(size)); };
    if (stbi_write_png_to_func(append, &bytes, image.width, image.height, 4, image.rgba.data(), image.width * 4) == 0) return {};
    return bytes;
}

}  // namespace kvplan::gui
