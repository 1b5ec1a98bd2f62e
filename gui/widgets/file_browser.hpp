// A small file dialog of our own: no toolkit is needed, and it is the same on every screen.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gui/view.hpp"

namespace kvplan::gui {

/// Folders first, each kind by name; hidden ones left out. Empty when it cannot be read.
[[nodiscard]] std::vector<FileEntry> entries_of(const std::string& folder);

/// Draws the dialog while `view.browse` asks for one. The path that was chosen, once.
[[nodiscard]] std::optional<std::string> file_browser(const Ui& ui);

}  // namespace kvplan::gui
