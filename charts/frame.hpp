// The parts that all charts share: title, axes with their numbers, legend, and where the data go.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "charts/chart.hpp"
#include "charts/ticks.hpp"

namespace kvplan::charts {

inline constexpr double kTextSize = 12.0, kTitleSize = 15.0, kGap = 8.0;

/// The rectangle of the data and what lies round it, while a drawing is made.
class Frame {
public:
    Frame(Size size, const Theme& theme);

    /// Title and legend at the top; the legend breaks into as many lines as it needs. `square`: names of faces, not of curves.
    struct Key {
        std::string name;
        Color color;
        bool dashed = false, square = false, hatched = false;
    };
    void head(const std::string& title, const std::vector<Key>& keys);
    /// Space beside the data for these names of rows, and below for the numbers and a title.
    void margins(const std::vector<std::string>& left, const std::string& left_title, const std::string& bottom_title);

    /// Numbers, grid and titles; call after head and margins.
    void x_axis(const Axis& axis, const Scale& scale);
    void y_axis(const Axis& axis, const Scale& scale);
    void border();
    /// Vertical lines with their names on top, which step down where they would overlap.
    void markers(const std::vector<Marker>& markers, const Scale& scale);
    void say(const std::string& text);   // in the middle, instead of data

    [[nodiscard]] double x(double share) const { return left_ + share * (right_ - left_); }
    [[nodiscard]] double y(double share) const { return bottom_ - share * (bottom_ - top_); }
    [[nodiscard]] double left() const { return left_; }
    [[nodiscard]] double right() const { return right_; }
    [[nodiscard]] double top() const { return top_; }
    [[nodiscard]] double bottom() const { return bottom_; }

    void add(Command command) { drawing_.commands.push_back(std::move(command)); }
    void label(Point at, std::string text, Color color, Align align = Align::left, bool upward = false);
    [[nodiscard]] Drawing take() { return std::move(drawing_); }
    [[nodiscard]] const Theme& theme() const { return *theme_; }

private:
    const Theme* theme_;
    Drawing drawing_;
    double left_ = kGap, right_, top_ = kGap, bottom_;
};

}  // namespace kvplan::charts
