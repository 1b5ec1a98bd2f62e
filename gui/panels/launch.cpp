#include "gui/panels/panels.hpp"
#include "gui/raii.hpp"
#include "gui/widgets/text.hpp"
#include "planner/export/launch.hpp"
#include "planner/launch/correct.hpp"

namespace kvplan::gui {

namespace {

void command_box(const Ui& ui, const char* id, const std::string& command) {
    const IdScope scope(id);
    const float inner = ImGui::GetContentRegionAvail().x - ui.px(24);
    float height = 0;
    {
        const FontScope font(ui.fonts.mono);
        height = ImGui::CalcTextSize(command.c_str(), nullptr, false, inner).y;
    }
    {
        const ColourScope ground(ImGuiCol_ChildBg, ui.theme.background);
        const ChildScope box("box", {0, height + ui.px(24)});
        const FontScope font(ui.fonts.mono);
        wrapped(command);
    }
    if (button(ui, std::string("Copy##") + id)) {
        ImGui::SetClipboardText(command.c_str());
        ui.say("The command is in the clipboard");
    }
}

struct Change {
    std::string field, from, to;
};

// What the fields say now against what the pasted command said.
std::vector<Change> changes_since(const launch::ParsedLaunch& launch, const Document& document) {
    Scenario given;
    Diagnostics ignored;  // told when the command was opened
    launch::apply(launch, given, ignored);
    const Values before = values_of(given);
    std::vector<Change> changes;
    for (const FieldSpec& field : scenario_fields()) {
        if (field.group != FieldGroup::engine && field.group != FieldGroup::model) continue;
        const auto old_value = before.find(field.name);
        const std::string was = old_value == before.end() ? std::string() : old_value->second, is(document.value(field.name));
        if (was != is) changes.push_back({std::string(field.name), was, is});
    }
    return changes;
}

void against_pasted(const Ui& ui, const launch::ParsedLaunch& launch) {
    const std::vector<Change> changes = changes_since(launch, ui.document);
    ImGui::Spacing();
    heading(ui, "Against the command that was given (" + launch.source + ")");
    std::vector<launch::FlagChange> flags;
    for (const Change& change : changes) {
        const FieldSpec* field = find_field(change.field);
        const std::string name(field->flags.front());
        if (!change.from.empty()) text("- " + name + " " + change.from, ui.theme.bad);
        if (!change.to.empty()) text("+ " + name + " " + change.to, ui.theme.good);
        flags.push_back({change.field, change.to.empty() && field->kind == FieldKind::boolean ? "false" : change.to});
    }
    for (const launch::UnknownFlag& flag : launch.unknown) text("? " + flag.name + " is no flag that is known here", ui.theme.warn);
    if (changes.empty()) return text("No difference.", ui.theme.muted);
    command_box(ui, "rewritten", launch::rewritten(launch, flags));
}

}  // namespace

void launch_panel(const Ui& ui, const Planned& planned) {
    const exporting::LaunchText launch = exporting::launch_text(planned.scenario, planned.plan);
    heading(ui, "The command that this plan stands for");
    command_box(ui, "command", launch.command);
    for (const std::string& note : launch.notes) wrapped(note, ui.theme.muted);
    if (ui.document.launch()) against_pasted(ui, *ui.document.launch());
    else wrapped("Paste a launch command with Ctrl+V (or Edit, Paste command), or drop a script or manifest on the window.", ui.theme.muted);
}

}  // namespace kvplan::gui
