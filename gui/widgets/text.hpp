#pragma once

#include <string_view>

#include "gui/view.hpp"

namespace kvplan::gui {

void text(std::string_view words);
void text(std::string_view words, ImU32 colour);
/// Broken at the right edge of the window.
void wrapped(std::string_view words);
void wrapped(std::string_view words, ImU32 colour);
void heading(const Ui& ui, std::string_view words);
/// A button; true when it was pressed. Its place is marked as "button/NAME".
[[nodiscard]] bool button(const Ui& ui, std::string_view name, bool enabled = true);
[[nodiscard]] float width_of(std::string_view words);

/// When the last item is hovered: how the plan's figure of this name comes about (formula, inputs, source, basis, interval).
void why(const Ui& ui, std::string_view figure);

/// One line of a table of figures.
struct FigureRow {
    std::string label;
    std::string value;
    std::string_view figure = {};   // dotted name in the plan, for "why?"; empty: none
    std::string note = {};
    int level = 0;
    bool strong = false;
    ImU32 swatch = 0;          // colour in the chart beside; 0: none
};
void figure_table(const Ui& ui, const char* id, const std::vector<FigureRow>& rows);

}  // namespace kvplan::gui
