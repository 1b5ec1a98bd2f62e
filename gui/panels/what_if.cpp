#include "gui/what_if.hpp"

#include <algorithm>

#include <imgui.h>
#include <imgui_stdlib.h>

#include "gui/panels/panels.hpp"
#include "gui/raii.hpp"
#include "gui/widgets/chart.hpp"
#include "gui/widgets/text.hpp"
#include "planner/sweep/figures.hpp"
#include "units/format.hpp"

namespace kvplan::gui {

namespace {

// A combo with a search line on top.
std::optional<std::string> pick(const Ui& ui, const char* id, const std::string& now, const std::vector<std::string>& names) {
    std::optional<std::string> chosen;
    const ComboScope combo(id, now.empty() ? "none" : now.c_str(), ImGuiComboFlags_HeightLarge);
    ui.mark(std::string("pick/") + (id + 2));
    if (!combo) return chosen;
    if (ImGui::IsWindowAppearing()) {
        ui.view.pick_filter.clear();
        ImGui::SetKeyboardFocusHere();
    }
    ImGui::InputTextWithHint("##filter", "search", &ui.view.pick_filter);
    for (const std::string& name : names) {
        if (name.find(ui.view.pick_filter) == std::string::npos) continue;
        if (ImGui::Selectable(name.empty() ? "none" : name.c_str(), name == now)) chosen = name;
        ui.mark("choice/" + name);
    }
    return chosen;
}

const std::vector<std::string>& field_choices() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const std::string_view name : field_names()) all.emplace_back(name);
        return all;
    }();
    return names;
}

void axis_inputs(const Ui& ui, const char* label, std::string& field, std::string& values, const Planned& planned, bool optional) {
    const IdScope id(label);
    ImGui::AlignTextToFramePadding();
    text(label);
    ImGui::SameLine(ui.px(90));
    ImGui::SetNextItemWidth(ui.px(230));
    std::vector<std::string> names = field_choices();
    if (optional) names.insert(names.begin(), std::string());
    if (const auto chosen = pick(ui, (std::string("##") + label).c_str(), field, names)) {
        field = *chosen;
        values = suggested_values(field, planned.scenario, planned.plan);
    }
    ImGui::SameLine();
    ImGui::SetNextItemWidth(std::max(ui.px(120), ImGui::GetContentRegionAvail().x));
    if (!field.empty()) ImGui::InputTextWithHint("##values", "start:stop:step, or a,b,c", &values);
    else ImGui::NewLine();
    ui.mark(std::string("values/") + label);
}

void start(const Ui& ui, const Planned& planned) {
    View& view = ui.view;
    const WhatIfQuestion question = view.what_if.question;
    WhatIfView& target = view.what_if;
    target.asked = question;
    target.asked_revision = ui.document.revision();
    ui.worker.start("what-if", [&target, question, scenario = planned.scenario, catalogues = ui.document.catalogues()](Progress& progress) -> Worker::Result {
        Diagnostics diagnostics;
        auto found = answer(question, scenario, catalogues, progress, diagnostics);
        std::string fault;
        for (const Diagnostic& d : diagnostics.items())
            if (d.severity == Severity::error && fault.empty()) fault = d.message + (d.expected.empty() ? "" : ": expected " + d.expected) + (d.hint.empty() ? "" : "; " + d.hint);
        return [&target, found = std::move(found), fault = std::move(fault)]() mutable {
            target.fault = std::move(fault);
            if (found) target.answer = std::move(found);
        };
    });
}

}  // namespace

void what_if_panel(const Ui& ui, const Planned& planned) {
    WhatIfView& what_if = ui.view.what_if;
    WhatIfQuestion& question = what_if.question;
    axis_inputs(ui, "x", question.x_field, question.x_values, planned, false);
    axis_inputs(ui, "curves", question.z_field, question.z_values, planned, true);
    ImGui::AlignTextToFramePadding();
    text("y");
    ImGui::SameLine(ui.px(90));
    ImGui::SetNextItemWidth(ui.px(360));
    if (const auto chosen = pick(ui, "##y", question.y_figure, sweep::figure_names())) question.y_figure = *chosen;
    ImGui::SameLine();
    ImGui::Checkbox("heat map", &question.map);
    ui.mark("button/heat map");
    const bool typing = ImGui::IsAnyItemActive();
    // A new question is asked as soon as it stands; an edit of the scenario asks the same question again.
    const bool other = !what_if.asked || !(*what_if.asked == question) || what_if.asked_revision != ui.document.revision();
    if (other && !typing) start(ui, planned);
    if (ui.worker.busy() && ui.worker.name() == "what-if") {
        ImGui::ProgressBar(static_cast<float>(ui.worker.share()), {ui.px(240), 0});
        ImGui::SameLine();
        if (button(ui, "Stop")) ui.worker.cancel();
    }
    if (!what_if.fault.empty()) wrapped(what_if.fault, ui.theme.bad);
    if (!what_if.answer) return;
    const float height = std::max(ui.px(260), ImGui::GetContentRegionAvail().y - 2 * ImGui::GetTextLineHeightWithSpacing()) / ui.fonts.scale;
    if (question.map) show_chart(ui, "what_if", what_if.answer->map, height);
    else show_chart(ui, "what_if", what_if.answer->lines, height);
    if (what_if.answer->infeasible > 0)
        wrapped(with_commas(static_cast<std::int64_t>(what_if.answer->infeasible)) + " of " + with_commas(static_cast<std::int64_t>(what_if.answer->points)) + " points do not fit, are not safe or cannot be planned; they are " + (question.map ? "hatched." : "left out."), ui.theme.muted);
}

}  // namespace kvplan::gui
