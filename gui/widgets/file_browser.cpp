#include "gui/widgets/file_browser.hpp"

#include <algorithm>
#include <filesystem>

#include <imgui.h>
#include <imgui_stdlib.h>

#include "gui/raii.hpp"
#include "gui/widgets/text.hpp"

namespace kvplan::gui {

namespace {

namespace fs = std::filesystem;

struct Purpose {
    const char* title;
    const char* action;
    const char* hint;
    bool writes;
};

Purpose purpose_of(Browse browse) {
    switch (browse) {
        case Browse::open: return {"Open", "Open", "scenario, launch script, manifest, config.json or checkpoint folder", false};
        case Browse::save: return {"Save the scenario", "Save", "name.json", true};
        case Browse::plan: return {"Export the plan", "Export", "name.txt, .json, .csv or .md", true};
        case Browse::chart: return {"Export the chart", "Export", "name.png, .svg or .csv", true};
        case Browse::trace: return {"Choose a trace", "Open", "request trace", false};
        case Browse::none: break;
    }
    return {"", "", "", false};
}

bool exists(const std::string& path) {
    std::error_code error;
    return fs::exists(path, error);
}

}  // namespace

std::vector<FileEntry> entries_of(const std::string& folder) {
    std::vector<FileEntry> entries;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        std::string name = it->path().filename().string();
        std::error_code ignored;
        if (!name.empty() && name[0] != '.') entries.push_back({std::move(name), it->is_directory(ignored)});
    }
    std::sort(entries.begin(), entries.end(), [](const FileEntry& a, const FileEntry& b) { return a.folder != b.folder ? a.folder : a.name < b.name; });
    return entries;
}

std::optional<std::string> file_browser(const Ui& ui) {
    View& view = ui.view;
    if (view.browse == Browse::none) return std::nullopt;
    const Purpose purpose = purpose_of(view.browse);
    if (!ImGui::IsPopupOpen("##files")) {
        if (view.folder.empty()) {
            std::error_code ignored;
            view.folder = fs::current_path(ignored).string();
        }
        view.files = entries_of(view.folder);
        ImGui::OpenPopup("##files");
    }
    ImGui::SetNextWindowSize({ui.px(620), ui.px(460)}, ImGuiCond_Appearing);
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({display.x / 2, display.y / 2}, ImGuiCond_Appearing, {0.5f, 0.5f});
    const PopupScope popup("##files", ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoMove);
    if (!popup) return std::nullopt;
    heading(ui, purpose.title);
    wrapped(view.folder, ui.theme.muted);
    std::optional<std::string> enter;
    bool accept = false;
    {
        const ChildScope list("list", {0, -3 * ImGui::GetFrameHeightWithSpacing()});
        if (ImGui::Selectable("..")) enter = fs::path(view.folder).parent_path().string();
        for (const FileEntry& entry : view.files) {
            if (ImGui::Selectable((entry.name + (entry.folder ? "/" : "")).c_str(), view.file_name == entry.name, ImGuiSelectableFlags_AllowDoubleClick | ImGuiSelectableFlags_DontClosePopups)) {
                view.file_name = entry.name;
                if (ImGui::IsMouseDoubleClicked(0)) (entry.folder ? enter = (fs::path(view.folder) / entry.name).string() : enter), accept = !entry.folder;
            }
            ui.mark("file/" + entry.name);
        }
    }
    if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(-1);
    accept |= ImGui::InputTextWithHint("##name", purpose.hint, &view.file_name, ImGuiInputTextFlags_EnterReturnsTrue);
    ui.mark("field/file name");
    // Written over only what was there when the button says so.
    const std::string path = (fs::path(view.folder) / view.file_name).string();
    const bool over = purpose.writes && !view.file_name.empty() && exists(path);
    accept |= button(ui, std::string(over ? "Overwrite" : purpose.action) + "##accept", !view.file_name.empty());
    ImGui::SameLine();
    const bool close = button(ui, "Cancel");
    std::error_code ignored;
    if (accept && !purpose.writes && view.browse != Browse::open && fs::is_directory(path, ignored)) enter = path, accept = false;
    if (enter) {
        view.folder = *enter;
        view.file_name.clear();
        view.files = entries_of(view.folder);
    }
    if (!close && !(accept && !view.file_name.empty())) return std::nullopt;
    ImGui::CloseCurrentPopup();
    if (close) view.browse = Browse::none;
    return close ? std::nullopt : std::optional<std::string>(path);
}

}  // namespace kvplan::gui
