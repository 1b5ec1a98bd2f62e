#pragma once

#include <string>

#include "gui/view.hpp"

namespace kvplan::gui {

/// Where the window keeps what it remembers from run to run: kvplan/window.json below $XDG_CONFIG_HOME, else ~/.config; empty where
/// there is neither.
[[nodiscard]] std::string settings_path();

/// Recent files and the theme. A file that is absent or cannot be read changes nothing.
void read_settings(const std::string& path, View& view);
/// What went wrong; empty when nothing did.
[[nodiscard]] std::string write_settings(const std::string& path, const View& view);

}  // namespace kvplan::gui
