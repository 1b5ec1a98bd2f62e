#include "gui/panels/panels.hpp"
#include "gui/raii.hpp"
#include "gui/widgets/text.hpp"
#include "planner/export/finding_text.hpp"

namespace kvplan::gui {

namespace {

ImU32 colour_of(const Ui& ui, FindingSeverity severity) {
    switch (severity) {
        case FindingSeverity::error: return ui.theme.bad;
        case FindingSeverity::warning: return ui.theme.warn;
        case FindingSeverity::note: break;
    }
    return ui.theme.muted;
}

std::string change_text(const Finding& finding) {
    std::string words;
    for (const Finding::Change& change : finding.remedy) {
        const FieldSpec* field = find_field(change.field);
        words += (words.empty() ? "" : ", ") + std::string(field == nullptr ? change.field : field->flags.front()) + (change.value.empty() ? " taken away" : " " + change.value);
    }
    return words;
}

void one(const Ui& ui, const Finding& finding) {
    const exporting::FindingText words = exporting::text_of(finding);
    const ImU32 colour = colour_of(ui, finding.severity);
    const ImVec2 top = ImGui::GetCursorScreenPos();
    ImGui::Indent(ui.px(14));
    {
        const FontScope font(ui.fonts.bold);
        text(name_of(finding.severity), colour);
        ImGui::SameLine();
        text(finding.code, ui.theme.muted);
        ui.mark("finding/" + std::string(finding.code));
        why(ui, finding.code);
    }
    wrapped(words.message);
    if (!words.remedy.empty()) wrapped(words.remedy, ui.theme.muted);
    for (const std::string_view field : finding.fields) {
        const FieldSpec* spec = find_field(field);
        if (spec == nullptr) continue;
        if (ImGui::SmallButton(std::string(spec->flags.front()).c_str())) {
            ui.view.open_groups.clear();
            ui.view.scroll_to = std::string(spec->name);
        }
        ui.mark("goto/" + std::string(finding.code) + "/" + std::string(spec->name));
        if (ImGui::IsItemHovered()) ImGui::SetTooltip("Show the field");
        ImGui::SameLine();
    }
    if (!finding.remedy.empty()) {
        const ColourScope ink(ImGuiCol_Text, ui.theme.accent);
        if (ImGui::SmallButton(("Apply: " + change_text(finding)).c_str())) apply_remedy(ui, finding);
        ui.mark("apply/" + std::string(finding.code));
    } else {
        ImGui::NewLine();
    }
    ImGui::Unindent(ui.px(14));
    const ImVec2 bottom = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddRectFilled(top, {top.x + ui.px(4), bottom.y - ui.px(4)}, colour, ui.px(2));
    ImGui::Dummy({0, ui.px(6)});
}

}  // namespace

void apply_remedy(const Ui& ui, const Finding& finding) {
    Values changes;
    for (const Finding::Change& change : finding.remedy) {
        const FieldSpec* field = find_field(change.field);
        const bool off = field != nullptr && field->kind == FieldKind::boolean && change.value == "false" && field->name != "async_scheduling" && field->name != "enable_multimodal";
        changes[std::string(change.field)] = off ? std::string() : change.value;
    }
    ui.document.set_all(changes);
    ui.say("Applied: " + change_text(finding) + " (Ctrl+Z takes it back)");
}

void findings_panel(const Ui& ui, const Planned& planned) {
    if (planned.plan.findings.empty()) return wrapped("Nothing to say: it fits, it is safe, and no rule of the engine is in the way.", ui.theme.good);
    // A remedy changes the plan that is being drawn: the list is of this frame.
    const std::vector<Finding> findings = planned.plan.findings;
    for (std::size_t i = 0; i < findings.size(); ++i) {
        const IdScope id(static_cast<int>(i));
        one(ui, findings[i]);
    }
}

}  // namespace kvplan::gui
