#include "charts/frame.hpp"

#include <algorithm>

#include "charts/text.hpp"

namespace kvplan::charts {

namespace {

constexpr double kLine = kTextSize * 1.5;

}  // namespace

Frame::Frame(Size size, const Theme& theme) : theme_(&theme), right_(size.width - 2 * kGap), bottom_(size.height - kGap) {
    drawing_.width = size.width;
    drawing_.height = size.height;
    drawing_.background = theme.background;
}

void Frame::label(Point at, std::string text, Color color, Align align, bool upward) { add(Label{at, std::move(text), color, kTextSize, align, upward}); }

void Frame::head(const std::string& title, const std::vector<Key>& keys) {
    if (!title.empty()) {
        // A title that is too long is written smaller, never cut.
        const double room = drawing_.width - 2 * kGap, width = text_width(title, kTitleSize);
        const double size = width > room ? kTitleSize * room / width : kTitleSize;
        add(Label{{kGap, top_ + kTitleSize}, title, theme_->text, size, Align::left, false});
        top_ += kTitleSize * 1.7;
    }
    double at = kGap;
    for (const Key& key : keys) {
        const double width = 24 + text_width(key.name, kTextSize) + 16;
        if (at > kGap && at + width > drawing_.width - kGap) at = kGap, top_ += kLine;
        const double middle = top_ + kTextSize * 0.65;
        if (key.square) add(Box{{at, middle - 6}, {at + 14, middle + 6}, key.color, key.hatched, {}});
        else add(Line{{{at, middle}, {at + 18, middle}}, key.color, 2.0, key.dashed});
        label({at + 23, top_ + kTextSize}, key.name, theme_->text);
        at += width;
    }
    if (!keys.empty()) top_ += kLine + 2;
}

void Frame::margins(const std::vector<std::string>& left, const std::string& left_title, const std::string& bottom_title) {
    double widest = 0.0;
    for (const std::string& text : left) widest = std::max(widest, text_width(text, kTextSize));
    left_ += widest + kGap + (left_title.empty() ? 0.0 : kLine);
    bottom_ -= kLine + (bottom_title.empty() ? 0.0 : kLine);
    top_ += kGap;
    if (!left_title.empty()) label({kGap + kTextSize, (top_ + bottom_) / 2}, left_title, theme_->muted, Align::centre, true);
    if (!bottom_title.empty()) label({(left_ + right_) / 2, drawing_.height - kGap - 2}, bottom_title, theme_->muted, Align::centre);
}

void Frame::x_axis(const Axis& axis, const Scale& scale) {
    double taken = -1e9;
    for (const double tick : scale.ticks) {
        const double at = x(scale.share(tick));
        const std::string text = number_text(axis.unit, tick);
        const double half = text_width(text, kTextSize) / 2;
        add(Line{{{at, top_}, {at, bottom_}}, theme_->grid, 1.0, false});
        const double centre = std::clamp(at, half + 2, drawing_.width - half - 2);
        if (centre - half < taken + 6) continue;  // no room for this number
        label({centre, bottom_ + kTextSize + 4}, text, theme_->muted, Align::centre);
        taken = centre + half;
    }
}

void Frame::y_axis(const Axis& axis, const Scale& scale) {
    for (const double tick : scale.ticks) {
        const double at = y(scale.share(tick));
        add(Line{{{left_, at}, {right_, at}}, theme_->grid, 1.0, false});
        label({left_ - kGap, at + capital_height(kTextSize) / 2}, number_text(axis.unit, tick), theme_->muted, Align::right);
    }
}

void Frame::border() { add(Line{{{left_, top_}, {left_, bottom_}, {right_, bottom_}}, theme_->muted, 1.0, false}); }

void Frame::markers(const std::vector<Marker>& markers, const Scale& scale) {
    std::vector<std::vector<std::pair<double, double>>> rows;  // ends of the names in each row
    for (const Marker& marker : markers)
        if (const double at = scale.share(marker.x); at >= 0.0 && at <= 1.0) add(Line{{{x(at), top_}, {x(at), bottom_}}, theme_->limit, 1.5, true});
    for (const Marker& marker : markers) {
        const double share = scale.share(marker.x);
        if (!(share >= 0.0 && share <= 1.0)) continue;
        const double at = x(share), width = text_width(marker.name, kTextSize);
        const bool left_of = at + 5 + width > drawing_.width - kGap;
        const double from = left_of ? at - 5 - width : at + 5;
        std::size_t row = 0;
        const auto clashes = [&](const std::pair<double, double>& other) { return from < other.second + 6 && from + width > other.first - 6; };
        while (row < rows.size() && std::any_of(rows[row].begin(), rows[row].end(), clashes)) ++row;
        if (row == rows.size()) rows.emplace_back();
        rows[row].push_back({from, from + width});
        const double base = top_ + kTextSize + static_cast<double>(row) * kLine;
        add(Box{{from - 2, base - kTextSize}, {from + width + 2, base + 3}, {theme_->background.r, theme_->background.g, theme_->background.b, 210}, false, {}});
        label({from, base}, marker.name, theme_->limit);
    }
}

void Frame::say(const std::string& text) { label({(left_ + right_) / 2, (top_ + bottom_) / 2}, text, theme_->muted, Align::centre); }

}  // namespace kvplan::charts
