// Inputs of one scenario field each: label (help on hover), value, mark and way back when it differs from the default, and what is
// wrong with it below.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gui/view.hpp"

namespace kvplan::gui {

void text_field(const Ui& ui, std::string_view field, std::string_view label, std::string_view hint = "default");
void toggle_field(const Ui& ui, std::string_view field, std::string_view label);
/// An empty choice is the default. Texts that are not among the choices can be typed.
void choice_field(const Ui& ui, std::string_view field, std::string_view label, const std::vector<std::string>& choices);
/// Typed with a list of the choices that match.
void search_field(const Ui& ui, std::string_view field, std::string_view label, const std::vector<Choice>& choices);

struct SliderMark {
    double at = 0;
    std::string label;
    ImU32 colour = 0;
};
struct SliderScale {
    double low = 0, high = 1, step = 0.01;
    int decimals = 2;
    std::optional<std::pair<double, double>> good;  // interval drawn as safe or feasible
    std::vector<SliderMark> marks;
};
/// A number to type, and a slider for it. `shown` is where the grip stands while the field has its default.
void slider_field(const Ui& ui, std::string_view field, std::string_view label, const SliderScale& scale, std::optional<double> shown);

}  // namespace kvplan::gui
