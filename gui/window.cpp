#include "gui/window.hpp"

#include <algorithm>
#include <filesystem>

#include <imgui_internal.h>
#include <nlohmann/json.hpp>

#include "gui/compat.hpp"
#include "gui/panels/panels.hpp"
#include "gui/raii.hpp"
#include "gui/widgets/chart.hpp"
#include "gui/widgets/file_browser.hpp"
#include "gui/widgets/text.hpp"
#include "models/write_file.hpp"
#include "planner/export/csv.hpp"
#include "planner/export/json.hpp"
#include "planner/export/plan_report.hpp"
#include "planner/findings.hpp"

namespace kvplan::gui {

namespace {

constexpr float kInputsWidth = 400;
constexpr std::size_t kMostRecent = 8;

void remember(View& view, const std::string& path) {
    auto& recent = view.recent;
    recent.erase(std::remove(recent.begin(), recent.end(), path), recent.end());
    recent.insert(recent.begin(), path);
    if (recent.size() > kMostRecent) recent.resize(kMostRecent);
}

// The plan in the form that the name asks for; text unless it ends otherwise.
std::string plan_as(const Planned& planned, const std::string& path) {
    const std::string ending = std::filesystem::path(path).extension().string();
    if (ending == ".json" || ending == ".csv") {
        const nlohmann::ordered_json document = exporting::plan_json(planned.scenario, planned.plan);
        return ending == ".json" ? exporting::dump(document) : exporting::csv_of(document);
    }
    const exporting::Report report = exporting::plan_report(planned.scenario, planned.plan);
    return ending == ".md" ? exporting::render_markdown(report) : exporting::render_text(report, {100, false});
}

std::string first_error(const Diagnostics& diagnostics) {
    for (const Diagnostic& d : diagnostics.items())
        if (d.severity == Severity::error) return d.message + (d.hint.empty() ? "" : "; " + d.hint);
    return "it cannot be read";
}

}  // namespace

Window::Window(CatalogueOptions catalogues, Look look, float scale)
    : document_(catalogues), catalogue_(read_catalogue(catalogues)), theme_(theme_of(look)), fonts_(add_fonts(scale)) {
    view_.look = look;
    apply_style(theme_, scale);
}

void Window::frame() {
    if (view_.look != theme_.look) {
        theme_ = theme_of(view_.look);
        apply_style(theme_, fonts_.scale);
    }
    marks_.clear();
    worker_.poll();
    const Ui ui{document_, view_, worker_, catalogue_, theme_, fonts_, marks_};
    shortcuts(ui);
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
    const FontScope font(fonts_.regular);
    const WindowScope window("kvplan", ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_MenuBar);
    if (!window) return;
    // ImGui's own log holds what is drawn until the window ends.
    if (reading_) ImGui::LogToBuffer();
    draw(ui);
    if (reading_) read_ = ImGui::GetCurrentContext()->LogBuffer.c_str();
}

std::string Window::frame_as_text() {
    reading_ = true;
    frame();
    reading_ = false;
    return std::move(read_);
}

void Window::draw(const Ui& ui) {
    menu(ui);
    const float status_height = ImGui::GetFrameHeightWithSpacing();
    {
        const ChildScope inputs("inputs", {ui.px(kInputsWidth), -status_height});
        inputs_panel(ui);
    }
    ImGui::SameLine();
    {
        const ColourScope ground(ImGuiCol_ChildBg, theme_.background);
        const ChildScope results("results", {0, -status_height}, false);
        verdict(ui);
        tabs(ui);
        const ColourScope panel(ImGuiCol_ChildBg, theme_.panel);
        const ChildScope content("content", {0, 0});
        body(ui);
    }
    status(ui);
    files(ui);
}

void Window::shortcuts(const Ui& /*ui*/) {
    const ImGuiIO& io = ImGui::GetIO();
    if (!io.KeyCtrl || ImGui::IsAnyItemActive()) return;
    if (compat::pressed(compat::letter('Z'))) document_.undo();
    if (compat::pressed(compat::letter('Y'))) document_.redo();
    if (compat::pressed(compat::letter('V')) && ImGui::GetClipboardText() != nullptr) (void)paste(ImGui::GetClipboardText());
    if (compat::pressed(compat::letter('Q'))) view_.quit = true;
    if (compat::pressed(compat::letter('O'))) view_.browse = Browse::open;
    if (compat::pressed(compat::letter('S'))) {
        if (view_.file.empty()) view_.browse = Browse::save;
        else (void)save(view_.file);
    }
    const auto at = static_cast<std::size_t>(std::find(kTabs.begin(), kTabs.end(), view_.tab) - kTabs.begin());
    if (compat::pressed(ImGuiKey_PageDown)) view_.tab = kTabs[(at + 1) % kTabs.size()];
    if (compat::pressed(ImGuiKey_PageUp)) view_.tab = kTabs[(at + kTabs.size() - 1) % kTabs.size()];
}

void Window::menu(const Ui& ui) {
    if (!ImGui::BeginMenuBar()) return;
    if (const MenuScope file("File"); file) {
        if (ImGui::MenuItem("Open", "Ctrl+O")) view_.browse = Browse::open;
        for (const std::string& recent : view_.recent) {
            if (ImGui::MenuItem(recent.c_str())) {
                (void)open(recent);
                break;  // the list has changed
            }
        }
        ImGui::Separator();
        if (ImGui::MenuItem("Save", "Ctrl+S")) view_.file.empty() ? (void)(view_.browse = Browse::save) : (void)save(view_.file);
        if (ImGui::MenuItem("Save as")) view_.browse = Browse::save;
        if (ImGui::MenuItem("Export the plan")) view_.browse = Browse::plan;
        ImGui::Separator();
        if (ImGui::MenuItem("Quit", "Ctrl+Q")) view_.quit = true;
    }
    ui.mark("menu/File");
    if (const MenuScope edit("Edit"); edit) {
        if (ImGui::MenuItem("Undo", "Ctrl+Z", false, document_.can_undo())) document_.undo();
        if (ImGui::MenuItem("Redo", "Ctrl+Y", false, document_.can_redo())) document_.redo();
        if (ImGui::MenuItem("Paste command", "Ctrl+V") && ImGui::GetClipboardText() != nullptr) (void)paste(ImGui::GetClipboardText());
        ImGui::Separator();
        if (ImGui::MenuItem("Start again")) document_.replace(founding_values());
    }
    ui.mark("menu/Edit");
    if (const MenuScope look("View"); look) {
        if (ImGui::MenuItem("Light", nullptr, view_.look == Look::light)) view_.look = Look::light;
        if (ImGui::MenuItem("Dark", nullptr, view_.look == Look::dark)) view_.look = Look::dark;
    }
    ui.mark("menu/View");
    ImGui::EndMenuBar();
}

void Window::verdict(const Ui& ui) {
    const Planned* planned = document_.planned();
    if (planned == nullptr) return text("Nothing is planned yet.", theme_.muted);
    {
        const FontScope font(fonts_.title);
        wrapped(exporting::plan_title(planned->scenario, planned->plan));
    }
    const FontScope font(fonts_.bold);
    wrapped(exporting::verdict(planned->plan), is_sound(planned->plan) ? (planned->plan.safe ? theme_.good : theme_.warn) : theme_.bad);
    ui.mark("verdict");
    if (!document_.is_current()) wrapped("The plan shown is of the last valid input: see what is marked at the left.", theme_.warn);
}

void Window::tabs(const Ui& ui) {
    const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
    const Planned* planned = document_.planned();
    for (const Tab tab : kTabs) {
        std::string label(title_of(tab));
        if (tab == Tab::findings && planned != nullptr && !planned->plan.findings.empty()) label += " (" + std::to_string(planned->plan.findings.size()) + ")";
        const float width = width_of(label) + 2 * ImGui::GetStyle().FramePadding.x;
        if (tab != kTabs.front()) {
            ImGui::SameLine(0, ui.px(4));
            if (ImGui::GetCursorScreenPos().x + width > right) ImGui::NewLine();
        }
        const bool chosen = view_.tab == tab;
        const ColourScope ground(ImGuiCol_Button, chosen ? faded(theme_.accent, 0.35f) : ImGui::GetColorU32(ImGuiCol_Button));
        if (ImGui::Button((label + "###tab" + std::string(name_of(tab))).c_str())) view_.tab = tab;
        ui.mark("tab/" + std::string(name_of(tab)));
    }
}

void Window::body(const Ui& ui) {
    // A panel may change the document; what it draws in this frame stays as it was.
    const std::shared_ptr<const Planned> planned = document_.share();
    if (!planned) return;
    const Planned& shown = *planned;
    switch (view_.tab) {
        case Tab::gpu: return gpu_panel(ui, shown);
        case Tab::host: return host_panel(ui, shown);
        case Tab::findings: return findings_panel(ui, shown);
        case Tab::launch: return launch_panel(ui, shown);
        case Tab::capacity: return capacity_panel(ui, shown);
        case Tab::throughput: return throughput_panel(ui, shown);
        case Tab::what_if: return what_if_panel(ui, shown);
        case Tab::trace: return trace_panel(ui, shown);
        case Tab::compare: return compare_panel(ui, shown);
    }
}

void Window::status(const Ui& ui) {
    if (!view_.message.empty()) text(view_.message, view_.message_is_fault ? theme_.bad : theme_.muted);
    else if (!document_.remarks().empty()) text(document_.remarks().front(), theme_.muted);
    else text("Hover a figure to see where it comes from.", theme_.muted);
    ui.mark("status");
}

bool Window::take(std::optional<Opened> opened, const Diagnostics& diagnostics, const std::string& what) {
    if (!opened) {
        view_.message = what + ": " + first_error(diagnostics);
        view_.message_is_fault = true;
        return false;
    }
    document_.replace(std::move(opened->values), std::move(opened->launch));
    view_.message = "Opened " + what;
    view_.message_is_fault = false;
    return true;
}

bool Window::open(const std::string& path) {
    Diagnostics diagnostics;
    auto opened = open_path(path, document_.values(), diagnostics);
    const bool is_scenario = opened && !opened->launch && opened->values.find("model") != opened->values.end() && opened->values.at("model") != path;
    if (!take(std::move(opened), diagnostics, path)) return false;
    if (is_scenario) view_.file = path;
    remember(view_, path);
    return true;
}

bool Window::paste(const std::string& text) {
    Diagnostics diagnostics;
    return take(open_command(text, document_.values(), diagnostics), diagnostics, "the pasted command");
}

bool Window::save(const std::string& path) {
    if (!document_.is_current()) {
        view_.message = "Not saved: see what is marked at the left";
        view_.message_is_fault = true;
        return false;
    }
    if (!write(path, scenario_file_of(document_.values()), "Saved ")) return false;
    view_.file = path;
    remember(view_, path);
    return true;
}

bool Window::write(const std::string& path, const std::string& text, const std::string& done) {
    const std::string failure = write_file(path, text);
    view_.message = failure.empty() ? done + path : failure;
    view_.message_is_fault = !failure.empty();
    return failure.empty();
}

bool Window::export_plan(const std::string& path) {
    const Planned* planned = document_.planned();
    return planned != nullptr && write(path, plan_as(*planned, path), "Exported ");
}

void Window::export_chart(const std::string& path) {
    const auto bytes = view_.export_chart ? file_of(*view_.export_chart, path, view_.look) : std::nullopt;
    view_.export_chart.reset();
    if (bytes) return (void)write(path, *bytes, "Exported ");
    view_.message = "A chart is written as .png, .svg or .csv, by the ending of its name";
    view_.message_is_fault = true;
}

void Window::files(const Ui& ui) {
    if (view_.export_chart && view_.browse == Browse::none) view_.browse = Browse::chart;
    const Browse purpose = view_.browse;
    const auto path = file_browser(ui);
    if (view_.browse == Browse::none) view_.export_chart.reset();
    if (!path) return;
    view_.browse = Browse::none;
    switch (purpose) {
        case Browse::open: (void)open(*path); break;
        case Browse::save: (void)save(*path); break;
        case Browse::plan: (void)export_plan(*path); break;
        case Browse::chart: export_chart(*path); break;
        case Browse::trace: open_trace(ui, *path); break;
        case Browse::none: break;
    }
}

}  // namespace kvplan::gui
