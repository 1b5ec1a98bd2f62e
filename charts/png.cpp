#include <stb_image_write.h>

#include <algorithm>
#include <cmath>

#include "charts/picture.hpp"
#include "charts/text.hpp"

namespace kvplan::charts {
namespace {

/// Pixels of a drawing; every shape is first its coverage, then one blend.
class Canvas {
public:
    Canvas(double width, double height, Color background, double scale)
        : width_(std::max(1, static_cast<int>(std::ceil(width * scale)))), height_(std::max(1, static_cast<int>(std::ceil(height * scale)))), scale_(scale),
          pixels_(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_), background) {}

    void operator()(const Box& box) {
        const double x0 = box.least.x * scale_, x1 = box.most.x * scale_, y0 = box.least.y * scale_, y1 = box.most.y * scale_;
        for (int y = row(y0); y <= row(y1) && y < height_; ++y)
            for (int x = column(x0); x <= column(x1) && x < width_; ++x) {
                const double cover = overlap(x, x0, x1) * overlap(y, y0, y1);
                if (cover > 0.0) blend(x, y, box.fill, cover * (box.hatched ? hatch(x, y) : 1.0));
            }
    }
    void operator()(const Line& line) {
        cover_.assign(pixels_.size(), 0.0F);
        double travelled = 0.0;
        for (std::size_t i = 1; i < line.points.size(); ++i) travelled = stroke(line, line.points[i - 1], line.points[i], travelled);
        for (int y = 0; y < height_; ++y)
            for (int x = 0; x < width_; ++x)
                if (const float cover = cover_[index(x, y)]; cover > 0.0F) blend(x, y, line.color, static_cast<double>(cover));
    }
    void operator()(const Label& label) {
        const TextImage image = rasterised(label.text, label.size * scale_);
        const double width = text_width(label.text, label.size) * scale_;
        const double before = label.align == Align::left ? 0.0 : label.align == Align::centre ? width / 2 : width;
        const int x0 = static_cast<int>(std::lround(label.at.x * scale_)), y0 = static_cast<int>(std::lround(label.at.y * scale_)), shift = static_cast<int>(std::lround(before));
        for (int v = 0; v < image.height; ++v)
            for (int u = 0; u < image.width; ++u) {
                const int along = u - image.left - shift, across = v - image.base;
                const int x = label.upward ? x0 + across : x0 + along, y = label.upward ? y0 - along : y0 + across;
                const std::uint8_t cover = image.coverage[static_cast<std::size_t>(v) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(u)];
                if (cover > 0 && x >= 0 && x < width_ && y >= 0 && y < height_) blend(x, y, label.color, cover / 255.0);
            }
    }

    [[nodiscard]] std::string encoded() const {
        std::string bytes;
        std::vector<std::uint8_t> raw;
        raw.reserve(pixels_.size() * 3);
        for (const Color& c : pixels_) raw.insert(raw.end(), {c.r, c.g, c.b});
        const auto append = [](void* target, void* data, int size) { static_cast<std::string*>(target)->append(static_cast<const char*>(data), static_cast<std::size_t>(size)); };
        stbi_write_png_to_func(append, &bytes, width_, height_, 3, raw.data(), width_ * 3);
        return bytes;
    }

private:
    [[nodiscard]] std::size_t index(int x, int y) const { return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x); }
    [[nodiscard]] int column(double x) const { return std::clamp(static_cast<int>(std::floor(x)), 0, width_); }
    [[nodiscard]] int row(double y) const { return std::clamp(static_cast<int>(std::floor(y)), 0, height_); }
    [[nodiscard]] static double overlap(int pixel, double from, double to) { return std::clamp(std::min<double>(pixel + 1, to) - std::max<double>(pixel, from), 0.0, 1.0); }
    /// Lines at 45 degrees, a point wide, six points apart.
    [[nodiscard]] double hatch(int x, int y) const {
        const double apart = 6.0 * scale_, place = std::fmod(x + y + 0.5, apart);
        return std::clamp(scale_ * 0.9 - std::abs(place - apart / 2), 0.0, 1.0);
    }

    void blend(int x, int y, Color color, double cover) {
        const double alpha = cover * color.a / 255.0;
        Color& under = pixels_[index(x, y)];
        const auto mix = [alpha](std::uint8_t below, std::uint8_t above) { return static_cast<std::uint8_t>(std::lround(below + (above - below) * alpha)); };
        under = {mix(under.r, color.r), mix(under.g, color.g), mix(under.b, color.b), 255};
    }

    /// Coverage by the distance from a segment; dashes count along the whole line.
    double stroke(const Line& line, Point a, Point b, double travelled) {
        const double ax = a.x * scale_, ay = a.y * scale_, bx = b.x * scale_, by = b.y * scale_;
        const double length = std::hypot(bx - ax, by - ay), half = std::max(0.5, line.width * scale_ / 2);
        if (!(length > 0.0)) return travelled;
        const double dx = (bx - ax) / length, dy = (by - ay) / length, on = 6.0 * scale_, period = 10.0 * scale_;
        for (int y = row(std::min(ay, by) - half - 1); y <= row(std::max(ay, by) + half + 1) && y < height_; ++y)
            for (int x = column(std::min(ax, bx) - half - 1); x <= column(std::max(ax, bx) + half + 1) && x < width_; ++x) {
                const double px = x + 0.5 - ax, py = y + 0.5 - ay, along = std::clamp(px * dx + py * dy, 0.0, length);
                if (line.dashed && std::fmod(travelled + along, period) > on) continue;
                const double distance = std::hypot(px - along * dx, py - along * dy);
                const auto cover = static_cast<float>(std::clamp(half + 0.5 - distance, 0.0, 1.0));
                cover_[index(x, y)] = std::max(cover_[index(x, y)], cover);
            }
        return travelled + length;
    }

    int width_, height_;
    double scale_;
    std::vector<Color> pixels_;
    std::vector<float> cover_;
};

}  // namespace

std::string png(const Drawing& drawing, double scale) {
    Canvas canvas(drawing.width, drawing.height, drawing.background, scale);
    for (const Command& command : drawing.commands) std::visit([&canvas](const auto& c) { canvas(c); }, command);
    return canvas.encoded();
}

}  // namespace kvplan::charts
