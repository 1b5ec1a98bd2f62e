#pragma once

#include <string>
#include <vector>

#include "gui/view.hpp"

namespace kvplan::gui {

struct BarPart {
    std::string label;
    std::string value;          // as text, shown on hover and when there is room
    double length = 0;          // in the bar's unit
    ImU32 colour = 0;
    std::string_view figure;    // for "why?"
    bool hatched = false;       // beyond what there is
};
struct BarLine {
    std::string label;
    double at = 0;
    ImU32 colour = 0;
};

/// One stacked bar over the whole width, with lines for limits and a hover text for each part.
struct Bar {
    std::string name;
    std::vector<BarPart> parts;
    std::vector<BarLine> lines;
    double end = 0;             // right end of the axis; at least the sum of the parts is drawn
};
void stacked_bar(const Ui& ui, const Bar& bar);

/// Diagonal lines over a rectangle.
void hatch(ImDrawList& list, const Rect& rect, float step, ImU32 colour);

}  // namespace kvplan::gui
