#include "gui/widgets/chart.hpp"

#include <algorithm>
#include <cmath>

#include "charts/area.hpp"
#include "charts/picture.hpp"
#include "charts/text.hpp"
#include "gui/raii.hpp"
#include "gui/widgets/bar.hpp"
#include "gui/widgets/text.hpp"

namespace kvplan::gui {

namespace {

const charts::Theme& chart_theme(Look look) { return charts::theme_of(look == Look::dark ? charts::Look::dark : charts::Look::light); }

ImU32 packed(charts::Color c) { return IM_COL32(c.r, c.g, c.b, c.a); }

// ImGui counts a font's size from ascent to descent, the charts by its em: DejaVu Sans has (1901 + 483) / 2048.
constexpr float kHeightOfEm = 2384.0f / 2048.0f;

/// Draws commands at a place of the window, `scale` pixels a point.
class Painter {
public:
    Painter(const Ui& ui, ImVec2 origin) : ui_(ui), list_(*ImGui::GetWindowDrawList()), origin_(origin) {}

    void operator()(const charts::Box& box) {
        const ImVec2 a = at(box.least), b = at(box.most);
        if (box.hatched) hatch(list_, {a.x, a.y, b.x, b.y}, ui_.px(8), packed(box.fill));
        else list_.AddRectFilled(a, b, packed(box.fill));
        if (!box.hover.empty() && ImGui::IsMouseHoveringRect(a, b)) hover_ = box.hover;
    }
    void operator()(const charts::Line& line) {
        if (line.dashed) return dashes(line);
        std::vector<ImVec2> points;
        for (const charts::Point& p : line.points) points.push_back(at(p));
        list_.AddPolyline(points.data(), static_cast<int>(points.size()), packed(line.color), 0, static_cast<float>(line.width) * scale());
    }
    void operator()(const charts::Label& label) {
        const auto width = static_cast<float>(charts::text_width(label.text, label.size)) * scale();
        const float shift = label.align == charts::Align::left ? 0 : label.align == charts::Align::right ? width : width / 2;
        ImFont* font = label.size > 13 ? ui_.fonts.chart_title : ui_.fonts.chart;
        const float pixels = static_cast<float>(label.size) * scale() * kHeightOfEm, ascent = font->Ascent * pixels / font->FontSize;
        const ImVec2 base = at(label.at);
        // Whole pixels, where glyphs are sharp.
        const ImVec2 level{std::round(base.x - shift), std::round(base.y - ascent)};
        if (!label.upward) return list_.AddText(font, pixels, level, packed(label.color), label.text.c_str());
        // A turned text is drawn level first, where no glyph of it is left out as invisible, and then turned about its base.
        const ImVec2 visible = ImGui::GetWindowDrawList()->GetClipRectMin();
        const ImVec2 origin{visible.x + shift + 1, visible.y + ascent + 1};
        const int first = list_.VtxBuffer.Size;
        list_.AddText(font, pixels, {visible.x + 1, visible.y + 1}, packed(label.color), label.text.c_str());
        for (int i = first; i < list_.VtxBuffer.Size; ++i) {
            ImVec2& p = list_.VtxBuffer[i].pos;
            p = {std::round(base.x) + (p.y - origin.y), std::round(base.y) - (p.x - origin.x)};
        }
    }
    [[nodiscard]] const std::string& hover() const { return hover_; }
    [[nodiscard]] ImVec2 at(charts::Point p) const { return {origin_.x + static_cast<float>(p.x) * scale(), origin_.y + static_cast<float>(p.y) * scale()}; }

private:
    [[nodiscard]] float scale() const { return ui_.fonts.scale; }
    void dashes(const charts::Line& line) {
        const float dash = ui_.px(6), gap = ui_.px(4), width = static_cast<float>(line.width) * scale();
        float used = 0;  // of the pattern, carried on from segment to segment
        for (std::size_t i = 1; i < line.points.size(); ++i) {
            const ImVec2 a = at(line.points[i - 1]), b = at(line.points[i]);
            const float length = std::hypot(b.x - a.x, b.y - a.y);
            if (length <= 0) continue;
            for (float from = -used; from < length; from += dash + gap) {
                const float start = std::max(0.0f, from), end = std::min(length, from + dash);
                if (end > start) list_.AddLine({a.x + (b.x - a.x) * start / length, a.y + (b.y - a.y) * start / length}, {a.x + (b.x - a.x) * end / length, a.y + (b.y - a.y) * end / length}, packed(line.color), width);
            }
            used = std::fmod(used + length, dash + gap);
        }
    }

    const Ui& ui_;
    ImDrawList& list_;
    ImVec2 origin_;
    std::string hover_;
};

struct Canvas {
    ImVec2 origin;
    charts::Size size;   // in points
};

Canvas canvas(const Ui& ui, float height) {
    const float width = std::max(ui.px(200), ImGui::GetContentRegionAvail().x);
    return {ImGui::GetCursorScreenPos(), {static_cast<double>(width / ui.fonts.scale), static_cast<double>(height)}};
}

// The picture, the place it takes, and its export button; true while the mouse is over it.
bool place(const Ui& ui, const char* id, const Canvas& c, const charts::Drawing& drawing, const ExportableChart& chart) {
    const IdScope scope(id);
    ImGui::PushID("picture");
    ImGui::Dummy({ui.px(static_cast<float>(c.size.width)), ui.px(static_cast<float>(c.size.height))});
    ImGui::PopID();
    ui.mark(std::string("chart/") + id);
    const bool hovered = ImGui::IsItemHovered();
    Painter painter(ui, c.origin);
    for (const charts::Command& command : drawing.commands) std::visit(painter, command);
    if (hovered && !painter.hover().empty()) ImGui::SetTooltip("%s", painter.hover().c_str());
    const ImVec2 after = ImGui::GetCursorScreenPos();
    const float width = width_of("Export") + 2 * ImGui::GetStyle().FramePadding.x;
    ImGui::SetCursorScreenPos({c.origin.x + ui.px(static_cast<float>(c.size.width)) - width, c.origin.y});
    if (ImGui::SmallButton("Export")) ui.view.export_chart = chart;
    ui.mark(std::string("export/") + id);
    ImGui::SetCursorScreenPos(after);
    return hovered;
}

// The value of a curve at x, between its points; nothing outside them.
std::optional<double> curve_at(const charts::Series& series, double x) {
    const auto& points = series.points;
    if (points.size() < 2 || x < points.front().x || x > points.back().x) return std::nullopt;
    const auto right = std::lower_bound(points.begin(), points.end(), x, [](const charts::Point& p, double at) { return p.x < at; });
    if (right == points.begin()) return right->y;
    const auto left = right - 1;
    const double t = right->x > left->x ? (x - left->x) / (right->x - left->x) : 0.0;
    return left->y + t * (right->y - left->y);
}

void cross_hair(const Ui& ui, const Canvas& c, const charts::DataArea& area, const charts::LineChart& chart) {
    const Painter painter(ui, c.origin);
    const ImVec2 low = painter.at(area.least), high = painter.at(area.most), mouse = ImGui::GetIO().MousePos;
    if (mouse.x < low.x || mouse.x > high.x || mouse.y < low.y || mouse.y > high.y) return;
    const double x = charts::value_at(area.x, static_cast<double>((mouse.x - low.x) / (high.x - low.x)));
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddLine({mouse.x, low.y}, {mouse.x, high.y}, ui.theme.muted);
    const TooltipScope tooltip;
    text(chart.x.title + " " + charts::number_text(chart.x.unit, x), ui.theme.muted);
    const charts::Theme& theme = chart_theme(ui.view.look);
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        const auto y = curve_at(chart.series[i], x);
        if (!y) continue;
        const double share = area.y.share(*y);
        const ImU32 colour = packed(theme.series[i % theme.series.size()]);
        if (share >= 0 && share <= 1) list.AddCircleFilled({mouse.x, high.y - static_cast<float>(share) * (high.y - low.y)}, ui.px(4), colour);
        text((chart.series[i].name.empty() ? chart.y.title : chart.series[i].name) + ": " + charts::number_text(chart.y.unit, *y), colour);
    }
}

}  // namespace

void show_chart(const Ui& ui, const char* id, const charts::LineChart& chart, float height) {
    const Canvas c = canvas(ui, height);
    const charts::DrawnLines drawn = charts::draw_with_area(chart, c.size, chart_theme(ui.view.look));
    if (place(ui, id, c, drawn.drawing, chart) && drawn.area) cross_hair(ui, c, *drawn.area, chart);
}

void show_chart(const Ui& ui, const char* id, const charts::BarChart& chart, float height) {
    const Canvas c = canvas(ui, height);
    (void)place(ui, id, c, charts::draw(chart, c.size, chart_theme(ui.view.look)), chart);
}

void show_chart(const Ui& ui, const char* id, const charts::HeatMap& chart, float height) {
    const Canvas c = canvas(ui, height);
    (void)place(ui, id, c, charts::draw(chart, c.size, chart_theme(ui.view.look)), chart);
}

namespace {

std::string table_of(const charts::BarChart& chart) {
    charts::LineChart table;  // a bar is a series, its parts are the points
    table.x.title = "part", table.y.title = "value";
    for (const charts::Bar& bar : chart.bars) {
        charts::Series series{bar.name, {}, false};
        for (std::size_t i = 0; i < bar.parts.size(); ++i) series.points.push_back({static_cast<double>(i), bar.parts[i].value});
        table.series.push_back(std::move(series));
    }
    return charts::csv(table);
}
std::string table_of(const charts::LineChart& chart) { return charts::csv(chart); }
std::string table_of(const charts::HeatMap& chart) { return charts::csv(chart); }

}  // namespace

std::optional<std::string> file_of(const ExportableChart& chart, std::string_view name, Look look) {
    if (name.size() > 4 && name.substr(name.size() - 4) == ".csv") return std::visit([](const auto& c) { return table_of(c); }, chart);
    const charts::Drawing drawing = std::visit([&](const auto& c) { return charts::draw(c, {900, 500}, chart_theme(look)); }, chart);
    return charts::picture(drawing, name);
}

}  // namespace kvplan::gui
