#include "gui/widgets/field.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <imgui.h>
#include <imgui_stdlib.h>

#include "gui/raii.hpp"
#include "gui/widgets/text.hpp"
#include "units/format.hpp"

namespace kvplan::gui {

namespace {

float label_width(const Ui& ui) { return ui.px(132); }
float reset_width(const Ui& ui) { return ui.px(24); }

struct Row {
    const FieldSpec* spec;
    bool changed = false;
};

// Label with help; leaves the cursor where the input goes, with its width set.
Row begin_row(const Ui& ui, std::string_view field, std::string_view label) {
    const FieldSpec* spec = find_field(field);
    Row row{spec, !ui.document.value(field).empty()};
    if (ui.view.scroll_to == field) {
        ImGui::SetScrollHereY(0.3f);
        ui.view.flash = std::string(field);
        ui.view.scroll_to.reset();
    }
    ImGui::AlignTextToFramePadding();
    const float left = ImGui::GetCursorPosX();
    text(label, row.changed ? ui.theme.changed : ui.theme.text);
    if (ImGui::IsItemHovered() && spec != nullptr) {
        const TooltipScope tooltip;
        ImGui::PushTextWrapPos(ui.px(420));
        heading(ui, spec->flags.front());
        text(spec->help);
        if (row.changed) text("Differs from the default.", ui.theme.changed);
        ImGui::PopTextWrapPos();
    }
    ImGui::SameLine(left + label_width(ui));
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - reset_width(ui));
    return row;
}

void end_row(const Ui& ui, std::string_view field, const Row& row) {
    ui.mark("field/" + std::string(field));
    const auto fault = ui.document.faults().find(field);
    const bool at_fault = fault != ui.document.faults().end();
    if (at_fault || ui.view.flash == field)
        ImGui::GetWindowDrawList()->AddRect(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), at_fault ? ui.theme.bad : ui.theme.accent, ui.px(3), 0, ui.px(2));
    if (ImGui::IsItemActive()) ui.view.flash.clear();
    if (row.changed) {
        ImGui::SameLine(0, ui.px(4));
        if (ImGui::Button("\xC3\x97", {reset_width(ui) - ui.px(4), 0})) ui.document.set(field, "");
        ui.mark("reset/" + std::string(field));
        if (ImGui::IsItemHovered()) ImGui::SetTooltip("Back to the default");
    }
    if (at_fault) wrapped(fault->second, ui.theme.bad);
}

// The text of a field while it has the focus is the person's. True when Enter was pressed or the focus left: it is to be taken.
bool edit_text(const Ui& ui, std::string_view field, std::string_view hint) {
    Typing& typing = ui.view.typing;
    std::string shown = typing.field == field ? typing.text : std::string(ui.document.value(field));
    ImGui::InputTextWithHint("##value", std::string(hint).c_str(), &shown, ImGuiInputTextFlags_AutoSelectAll);
    if (ImGui::IsItemActive()) typing = {std::string(field), shown};
    return ImGui::IsItemDeactivated() && typing.field == field;
}

void take_text(const Ui& ui) {
    const Typing taken = std::exchange(ui.view.typing, {});
    ui.document.set(taken.field, taken.text);
}

std::string default_hint(const Ui& ui, const FieldSpec* spec, std::string_view hint) {
    if (hint != "default" || ui.document.planned() == nullptr || spec == nullptr) return std::string(hint);
    const std::string resolved = text_of(spec->get(ui.document.planned()->scenario));
    return resolved.empty() || !ui.document.value(spec->name).empty() ? "default" : resolved + " (default)";
}

void draw_slider(const Ui& ui, const SliderScale& scale, std::optional<double> value, const Rect& box) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float middle = (box.y0 + box.y1) / 2, half = ui.px(3);
    const auto x_of = [&](double v) { return box.x0 + static_cast<float>(std::clamp((v - scale.low) / (scale.high - scale.low), 0.0, 1.0)) * (box.x1 - box.x0); };
    list.AddRectFilled({box.x0, middle - half}, {box.x1, middle + half}, ui.theme.grid, half);
    if (scale.good) list.AddRectFilled({x_of(scale.good->first), middle - half}, {x_of(scale.good->second), middle + half}, ui.theme.good, half);
    for (const SliderMark& mark : scale.marks) list.AddLine({x_of(mark.at), box.y0}, {x_of(mark.at), box.y1}, mark.colour, ui.px(2));
    if (!value) return;
    const bool inside = !scale.good || (*value >= scale.good->first && *value <= scale.good->second);
    list.AddCircleFilled({x_of(*value), middle}, ui.px(7), inside ? ui.theme.accent : ui.theme.bad);
    list.AddCircle({x_of(*value), middle}, ui.px(7), ui.theme.panel, 0, ui.px(1.5f));
}

}  // namespace

void text_field(const Ui& ui, std::string_view field, std::string_view label, std::string_view hint) {
    const IdScope id(std::string(field).c_str());
    const Row row = begin_row(ui, field, label);
    if (edit_text(ui, field, default_hint(ui, row.spec, hint))) take_text(ui);
    end_row(ui, field, row);
}

void toggle_field(const Ui& ui, std::string_view field, std::string_view label) {
    const IdScope id(std::string(field).c_str());
    const Row row = begin_row(ui, field, label);
    bool on = ui.document.value(field) == "true";
    if (ImGui::Checkbox("##value", &on)) ui.document.set(field, on ? "true" : "");
    end_row(ui, field, row);
}

void choice_field(const Ui& ui, std::string_view field, std::string_view label, const std::vector<std::string>& choices) {
    const IdScope id(std::string(field).c_str());
    const Row row = begin_row(ui, field, label);
    const std::string now(ui.document.value(field));
    if (const ComboScope combo("##value", now.empty() ? "default" : now.c_str()); combo) {
        for (const std::string& choice : choices) {
            if (ImGui::Selectable(choice.empty() ? "default" : choice.c_str(), choice == now)) ui.document.set(field, choice);
            ui.mark("choice/" + choice);
        }
    }
    end_row(ui, field, row);
}

void search_field(const Ui& ui, std::string_view field, std::string_view label, const std::vector<Choice>& choices) {
    const IdScope id(std::string(field).c_str());
    const Row row = begin_row(ui, field, label);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const bool done = edit_text(ui, field, "type to search");
    const bool active = ImGui::IsItemActive();
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    end_row(ui, field, row);
    if (active && !ImGui::IsPopupOpen("list")) ImGui::OpenPopup("list");
    ImGui::SetNextWindowPos({at.x, high.y + ui.px(2)});
    ImGui::SetNextWindowSizeConstraints({high.x - low.x, 0}, {ui.px(520), ui.px(300)});
    if (!ImGui::BeginPopup("list", ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoNav)) {
        if (ui.view.typing.field == field && !active) take_text(ui);
        return;
    }
    const std::string typed = ui.view.typing.field == field && ui.view.typing.text != ui.document.value(field) ? ui.view.typing.text : std::string();
    bool close = false;
    for (const std::size_t i : matching(choices, typed)) {
        const IdScope entry(static_cast<int>(i));
        if (ImGui::Selectable(choices[i].name.c_str(), false)) {
            ui.view.typing = {};
            ui.document.set(field, choices[i].name);
            close = true;
        }
        ui.mark("choice/" + choices[i].name);
        ImGui::SameLine(0, ui.px(12));
        text(choices[i].detail, ui.theme.muted);
    }
    // A press in the list takes the focus from the input, and is no end of typing.
    const bool in_list = ImGui::IsWindowHovered(ImGuiHoveredFlags_RootAndChildWindows | ImGuiHoveredFlags_AllowWhenBlockedByActiveItem) && ImGui::IsMouseDown(0);
    if (done && !in_list) {
        take_text(ui);
        close = true;
    }
    if (close) ImGui::CloseCurrentPopup();
    end_above(ImGui::EndPopup);
}

void slider_field(const Ui& ui, std::string_view field, std::string_view label, const SliderScale& scale, std::optional<double> shown) {
    const IdScope id(std::string(field).c_str());
    const Row row = begin_row(ui, field, label);
    const float number = ui.px(74), left = ImGui::GetCursorScreenPos().x;
    const float right = left + ImGui::GetContentRegionAvail().x - reset_width(ui);
    ImGui::SetNextItemWidth(number);
    if (edit_text(ui, field, shown ? shortest(*shown, scale.decimals) : "default")) take_text(ui);
    const ImVec2 edit_low = ImGui::GetItemRectMin(), edit_high = ImGui::GetItemRectMax();
    const std::string mark = "number/" + std::string(field);
    ui.mark(mark);
    ImGui::SameLine(0, ui.px(14));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = ImGui::GetFrameHeight();
    // The grip may stand at either end without being cut.
    const Rect box{at.x, at.y, right - ui.px(8), at.y + height};
    ImGui::InvisibleButton("slide", {std::max(ui.px(20), right - at.x), height});
    static_assert(sizeof(ImGuiID) <= sizeof(std::int64_t));
    if (ImGui::IsItemActive()) {
        const double part = std::clamp(static_cast<double>((ImGui::GetIO().MousePos.x - box.x0) / std::max(1.0f, box.x1 - box.x0)), 0.0, 1.0);
        const double value = std::round((scale.low + part * (scale.high - scale.low)) / scale.step) * scale.step;
        // One press of the button is one step of undo: the time it was pressed tells presses apart.
        const auto gesture = static_cast<std::int64_t>(ImGui::GetIO().MouseClickedTime[0] * 1e6) + 1;
        std::string typed = shortest(value, scale.decimals);
        typed.erase(std::remove(typed.begin(), typed.end(), ','), typed.end());
        ui.document.set(field, typed, gesture);
    }
    const bool hovered = ImGui::IsItemHovered();
    draw_slider(ui, scale, shown, box);
    ui.mark("slider/" + std::string(field), box);
    if (hovered && !ImGui::IsItemActive() && !scale.marks.empty()) {
        const TooltipScope tooltip;
        for (const SliderMark& m : scale.marks) text(m.label, m.colour);
    }
    end_row(ui, field, row);
    ui.mark("field/" + std::string(field), {edit_low.x, edit_low.y, edit_high.x, edit_high.y});
}

}  // namespace kvplan::gui
