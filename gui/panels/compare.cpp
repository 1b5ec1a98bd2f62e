#include "gui/comparison.hpp"

#include <algorithm>

#include "gui/panels/panels.hpp"
#include "gui/raii.hpp"
#include "gui/widgets/text.hpp"
#include "planner/export/plan_report.hpp"

namespace kvplan::gui {

namespace {

ImU32 colour_of(const Ui& ui, Change change) {
    switch (change) {
        case Change::better: return ui.theme.good;
        case Change::worse: return ui.theme.bad;
        case Change::other: return ui.theme.accent;
        case Change::none: break;
    }
    return ui.theme.text;
}

void rows_of(const Ui& ui, const std::vector<ComparedRow>& rows) {
    for (const ComparedRow& row : rows) {
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        wrapped(row.label);
        for (const ComparedCell& cell : row.cells) {
            ImGui::TableNextColumn();
            text(cell.value, cell.difference.empty() ? colour_of(ui, cell.change) : ui.theme.text);
            // The sign says it too, so that nothing hangs on the colour.
            if (!cell.difference.empty()) text(cell.difference, colour_of(ui, cell.change));
        }
    }
}

void heads(const Ui& ui, const std::vector<NamedPlan>& plans) {
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    ImGui::TableNextColumn();
    for (std::size_t i = 0; i < plans.size(); ++i) {
        ImGui::TableNextColumn();
        const IdScope id(static_cast<int>(i));
        const FontScope font(ui.fonts.bold);
        wrapped(plans[i].name);
        if (i < ui.view.pins.size()) {
            if (ImGui::SmallButton("Unpin")) ui.view.unpin = i;
            ui.mark("unpin/" + std::to_string(i));
        }
    }
}

}  // namespace

void compare_panel(const Ui& ui, const Planned& planned) {
    if (ui.view.unpin && *ui.view.unpin < ui.view.pins.size()) ui.view.pins.erase(ui.view.pins.begin() + static_cast<std::ptrdiff_t>(*ui.view.unpin));
    ui.view.unpin.reset();
    if (button(ui, "Pin this scenario", ui.view.pins.size() < kMostPins)) {
        ui.view.pins.push_back({std::string(1, static_cast<char>('A' + ui.view.pins.size())) + ": " + exporting::plan_title(planned.scenario, planned.plan), ui.document.share()});
        return;
    }
    ImGui::SameLine();
    text(ui.view.pins.empty() ? "Pin it, then change something at the left: the differences stand here." : "Differences are against the first column.", ui.theme.muted);
    std::vector<NamedPlan> plans;
    for (const Pin& pin : ui.view.pins) plans.push_back({pin.name, &pin.planned->scenario, &pin.planned->plan});
    plans.push_back({"now: " + exporting::plan_title(planned.scenario, planned.plan), &planned.scenario, &planned.plan});
    ImGui::Spacing();
    const TableScope table("compare", static_cast<int>(plans.size()) + 1, ImGuiTableFlags_RowBg | ImGuiTableFlags_BordersInner | ImGuiTableFlags_SizingStretchProp);
    if (!table) return;
    ImGui::TableSetupColumn("figure", ImGuiTableColumnFlags_WidthFixed, ui.px(180));
    heads(ui, plans);
    rows_of(ui, differing_fields(plans));
    rows_of(ui, compare(plans));
}

}  // namespace kvplan::gui
