#include "gui/widgets/text.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "gui/raii.hpp"

namespace kvplan::gui {

void text(std::string_view words) { ImGui::TextUnformatted(words.data(), words.data() + words.size()); }

void text(std::string_view words, ImU32 colour) {
    const ColourScope scope(ImGuiCol_Text, colour);
    text(words);
}

namespace {

// ImGui breaks lines also after a comma, which would tear 118,963 apart: lines are broken here, at blanks only.
void wrapped_within(std::string_view words, float room) {
    std::string line;
    std::string broken;
    std::size_t at = 0;
    while (at < words.size()) {
        const std::size_t end = std::min(words.find_first_of(" \n", at), words.size());
        const std::string word(words.substr(at, end - at));
        const std::string longer = line.empty() ? word : line + " " + word;
        if (!line.empty() && width_of(longer) > room) broken += std::exchange(line, word) + "\n";
        else line = longer;
        if (end < words.size() && words[end] == '\n') broken += std::exchange(line, {}) + "\n";
        at = end + 1;
    }
    broken += line;
    // A single word that is too long, such as a path, is broken anywhere.
    ImGui::PushTextWrapPos(width_of(broken) > room ? ImGui::GetCursorPosX() + room : -1.0f);
    text(broken);
    ImGui::PopTextWrapPos();
}

}  // namespace

void wrapped(std::string_view words) { wrapped_within(words, ImGui::GetContentRegionAvail().x); }

void wrapped(std::string_view words, ImU32 colour) {
    const ColourScope scope(ImGuiCol_Text, colour);
    wrapped(words);
}

void heading(const Ui& ui, std::string_view words) {
    const FontScope font(ui.fonts.bold);
    text(words);
}

bool button(const Ui& ui, std::string_view name, bool enabled) {
    ImGui::BeginDisabled(!enabled);
    const bool pressed = ImGui::Button(std::string(name).c_str());
    ImGui::EndDisabled();
    ui.mark("button/" + std::string(name.substr(0, name.find("##"))));
    return pressed;
}

float width_of(std::string_view words) { return ImGui::CalcTextSize(words.data(), words.data() + words.size()).x; }

void why(const Ui& ui, std::string_view figure) {
    if (figure.empty() || !ImGui::IsItemHovered() || ui.document.planned() == nullptr) return;
    const Planned& planned = *ui.document.planned();
    const auto explained = explain(figure, &planned.scenario, &planned.plan);
    if (!explained) return;
    const TooltipScope tooltip;
    const FontScope regular(ui.fonts.regular);
    const float room = ui.px(520);
    const auto line = [&](const std::string& words, ImU32 colour) {
        const ColourScope scope(ImGuiCol_Text, colour);
        wrapped_within(words, room);
    };
    heading(ui, explained->name);
    if (!explained->meaning.empty()) line(explained->meaning, ui.theme.text);
    if (!explained->value.empty()) {
        const FontScope font(ui.fonts.bold);
        line("= " + explained->value, ui.theme.accent);
    }
    if (!explained->basis.empty()) line("Known as: " + explained->basis, ui.theme.muted);
    if (!explained->formula.empty()) {
        ImGui::Spacing();
        const FontScope font(ui.fonts.mono);
        line(explained->formula, ui.theme.text);
        if (!explained->with_numbers.empty()) line("= " + explained->with_numbers, ui.theme.muted);
    }
    if (!explained->inputs.empty()) ImGui::Spacing();
    for (const ExplainedInput& input : explained->inputs) line(input.name + " = " + input.value, ui.theme.muted);
    for (const std::string& source : explained->sources) line("Source: " + source, ui.theme.muted);
}

void figure_table(const Ui& ui, const char* id, const std::vector<FigureRow>& rows) {
    const bool notes = std::any_of(rows.begin(), rows.end(), [](const FigureRow& row) { return !row.note.empty(); });
    const TableScope table(id, notes ? 3 : 2, ImGuiTableFlags_RowBg | ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingFixedFit);
    if (!table) return;
    ImGui::TableSetupColumn("figure");
    ImGui::TableSetupColumn("value");
    if (notes) ImGui::TableSetupColumn("note", ImGuiTableColumnFlags_WidthStretch);
    float widest = 0;
    for (const FigureRow& row : rows) {
        const FontScope font(row.strong ? ui.fonts.bold : ui.fonts.regular);
        widest = std::max(widest, width_of(row.value));
    }
    for (const FigureRow& row : rows) {
        const FontScope font(row.strong ? ui.fonts.bold : ui.fonts.regular);
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        const float line = ImGui::GetTextLineHeight();
        if (row.swatch != 0) {
            const ImVec2 at = ImGui::GetCursorScreenPos();
            ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + line * 0.15f}, {at.x + line * 0.7f, at.y + line * 0.85f}, row.swatch, 2);
        }
        ImGui::SetCursorPosX(ImGui::GetCursorPosX() + line * (row.swatch != 0 ? 1.0f : 0.0f) + line * static_cast<float>(row.level));
        text(row.label);
        why(ui, row.figure);
        ImGui::TableNextColumn();
        ImGui::SetCursorPosX(ImGui::GetCursorPosX() + widest - width_of(row.value));
        text(row.value);
        if (!row.figure.empty()) ui.mark("figure/" + std::string(row.figure));
        why(ui, row.figure);
        if (notes) {
            ImGui::TableNextColumn();
            const FontScope plain(ui.fonts.regular);
            wrapped(row.note, ui.theme.muted);
        }
    }
}

}  // namespace kvplan::gui
