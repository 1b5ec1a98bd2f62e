#include "gui/settings.hpp"

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "models/json/document.hpp"
#include "models/write_file.hpp"

namespace kvplan::gui {

std::string settings_path() {
    namespace fs = std::filesystem;
    const char* config = std::getenv("XDG_CONFIG_HOME");
    const char* home = std::getenv("HOME");
    if (config != nullptr && *config != '\0') return (fs::path(config) / "kvplan" / "window.json").string();
    if (home != nullptr && *home != '\0') return (fs::path(home) / ".config" / "kvplan" / "window.json").string();
    return {};
}

void read_settings(const std::string& path, View& view) {
    std::error_code ignored;
    if (path.empty() || !std::filesystem::exists(path, ignored)) return;
    Diagnostics diagnostics;
    auto text = json::read_file(path, diagnostics);
    if (!text) return;
    const auto document = json::parse(std::move(*text), path, diagnostics);
    if (!document || !document->root().is_object()) return;
    for (const auto& [key, value] : document->root().members()) {
        if (key == "theme" && value.string()) view.look = *value.string() == "light" ? Look::light : Look::dark;
        if (key != "recent" || !value.is_array()) continue;
        for (const json::Value& entry : value.elements())
            if (const auto file = entry.string()) view.recent.emplace_back(*file);
    }
}

std::string write_settings(const std::string& path, const View& view) {
    if (path.empty()) return {};
    std::error_code failure;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failure);
    if (failure) return path + ": " + failure.message();
    const nlohmann::ordered_json document = {{"theme", view.look == Look::light ? "light" : "dark"}, {"recent", view.recent}};
    return write_file(path, document.dump(2) + "\n");
}

}  // namespace kvplan::gui
