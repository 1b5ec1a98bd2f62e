#include "gui/widgets/bar.hpp"

#include <algorithm>

#include "gui/raii.hpp"
#include "gui/widgets/text.hpp"

namespace kvplan::gui {

namespace {

// Black or white, whichever is read better on the colour.
ImU32 ink_on(ImU32 colour) {
    const ImVec4 c = ImGui::ColorConvertU32ToFloat4(colour);
    return 0.299f * c.x + 0.587f * c.y + 0.114f * c.z > 0.5f ? IM_COL32(16, 20, 24, 255) : IM_COL32(250, 250, 250, 255);
}

// Labels of limits above the bar: from left to right, each moved so that none overlaps another or leaves the window.
void draw_lines(const Ui& ui, const Bar& bar, const Rect& box, double end) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    std::vector<BarLine> lines = bar.lines;
    std::sort(lines.begin(), lines.end(), [](const BarLine& a, const BarLine& b) { return a.at < b.at; });
    const float line_height = ImGui::GetTextLineHeight();
    std::vector<float> row_ends;
    for (const BarLine& line : lines) {
        const float x = box.x0 + static_cast<float>(line.at / end) * (box.x1 - box.x0);
        const float width = width_of(line.label);
        const float left = std::clamp(x - width / 2, box.x0, std::max(box.x0, box.x1 - width));
        std::size_t row = 0;
        while (row < row_ends.size() && row_ends[row] > left) ++row;
        if (row == row_ends.size()) row_ends.push_back(0);
        row_ends[row] = left + width + ui.px(10);
        const float y = box.y1 + ui.px(6) + static_cast<float>(row) * line_height;
        list.AddLine({x, box.y0 - ui.px(4)}, {x, y + ui.px(1)}, line.colour, ui.px(2));
        list.AddText({left, y + ui.px(1)}, line.colour, line.label.c_str());
    }
    ImGui::Dummy({0, ui.px(8) + static_cast<float>(row_ends.size()) * line_height});
}

// What did not fit into its part of the bar is named below it.
void legend(const Ui& ui, const std::vector<const BarPart*>& parts) {
    const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x, square = ImGui::GetTextLineHeight() * 0.7f;
    for (const BarPart* part : parts) {
        const std::string words = part->label + " " + part->value;
        const float width = square + ui.px(6) + width_of(words);
        if (part != parts.front()) {
            ImGui::SameLine(0, ui.px(18));
            if (ImGui::GetCursorScreenPos().x + width > right) ImGui::NewLine();
        }
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float top = at.y + ImGui::GetTextLineHeight() * 0.15f;
        ImGui::GetWindowDrawList()->AddRectFilled({at.x, top}, {at.x + square, top + square}, part->colour, 2);
        ImGui::GetWindowDrawList()->AddRect({at.x, top}, {at.x + square, top + square}, ui.theme.border, 2);
        ImGui::SetCursorScreenPos({at.x + square + ui.px(6), at.y});
        text(words);
        if (!part->figure.empty()) why(ui, part->figure);
    }
}

}  // namespace

void hatch(ImDrawList& list, const Rect& rect, float step, ImU32 colour) {
    list.PushClipRect({rect.x0, rect.y0}, {rect.x1, rect.y1}, true);
    const float height = rect.y1 - rect.y0;
    for (float x = rect.x0 - height; x < rect.x1; x += step) list.AddLine({x, rect.y1}, {x + height, rect.y0}, colour, 1.5f);
    list.PopClipRect();
}

void stacked_bar(const Ui& ui, const Bar& bar) {
    double end = bar.end;
    double sum = 0;
    for (const BarPart& part : bar.parts) sum += part.length;
    end = std::max({end, sum, 1e-9});
    if (!bar.name.empty()) heading(ui, bar.name);
    const float width = ImGui::GetContentRegionAvail().x;
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    const Rect box{origin.x, origin.y + ui.px(4), origin.x + width, origin.y + ui.px(4) + ui.px(46)};
    ImGui::Dummy({width, ui.px(4)});
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled({box.x0, box.y0}, {box.x1, box.y1}, ui.theme.background);
    double from = 0;
    std::vector<const BarPart*> unnamed;
    for (std::size_t i = 0; i < bar.parts.size(); ++i) {
        const BarPart& part = bar.parts[i];
        if (part.length <= 0) continue;
        const Rect r{box.x0 + static_cast<float>(from / end) * width, box.y0, box.x0 + static_cast<float>((from + part.length) / end) * width, box.y1};
        from += part.length;
        if (part.hatched) hatch(list, r, ui.px(7), part.colour);
        else list.AddRectFilled({r.x0, r.y0}, {std::max(r.x0 + 1, r.x1 - 1), r.y1}, part.colour);
        const std::string& wide = part.label;
        const float room = r.x1 - r.x0 - ui.px(8);
        const ImU32 ink = part.hatched ? ui.theme.text : ink_on(part.colour);
        const float line = ImGui::GetTextLineHeight();
        if (std::max(width_of(wide), width_of(part.value)) <= room) {
            list.AddText({r.x0 + ui.px(5), r.y0 + ui.px(5)}, ink, wide.c_str());
            list.AddText({r.x0 + ui.px(5), r.y0 + ui.px(5) + line}, ink, part.value.c_str());
        } else {
            unnamed.push_back(&part);
        }
        ImGui::SetCursorScreenPos({r.x0, r.y0});
        const IdScope id(static_cast<int>(i));
        ImGui::InvisibleButton("part", {std::max(1.0f, r.x1 - r.x0), r.y1 - r.y0});
        ui.mark("bar/" + part.label);
        if (!part.figure.empty()) why(ui, part.figure);
        else if (ImGui::IsItemHovered()) {
            const TooltipScope tooltip;
            heading(ui, part.label);
            text(part.value);
        }
    }
    list.AddRect({box.x0, box.y0}, {box.x1, box.y1}, ui.theme.border);
    ImGui::SetCursorScreenPos({origin.x, box.y1});
    draw_lines(ui, bar, box, end);
    if (!unnamed.empty()) legend(ui, unnamed);
}

}  // namespace kvplan::gui
