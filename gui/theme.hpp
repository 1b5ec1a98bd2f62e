#pragma once

#include <array>
#include <cstdint>

#include <imgui.h>

namespace kvplan::gui {

enum class Look { light, dark };

/// Colours by meaning, and a series that also people with a colour deficiency tell apart (Okabe and Ito).
struct Theme {
    Look look = Look::dark;
    ImU32 background = 0, panel = 0, border = 0, grid = 0;
    ImU32 text = 0, muted = 0;
    ImU32 good = 0, warn = 0, bad = 0, accent = 0, changed = 0;
    std::array<ImU32, 8> series{};
    ImU32 reserve = 0, spare = 0;  // of bars: what is kept free, what is left
};
[[nodiscard]] Theme theme_of(Look look);

/// Faces at one scale. The atlas owns them.
struct Fonts {
    ImFont* regular = nullptr;
    ImFont* bold = nullptr;
    ImFont* title = nullptr;
    ImFont* mono = nullptr;
    ImFont* chart = nullptr;        // labels of charts
    ImFont* chart_title = nullptr;
    float scale = 1.0f;
};
/// Adds the embedded fonts to the atlas of the current context.
[[nodiscard]] Fonts add_fonts(float scale);

/// Sets the current context's style.
void apply_style(const Theme& theme, float scale);

/// `colour` with its opacity multiplied.
[[nodiscard]] inline ImU32 faded(ImU32 colour, float opacity) {
    const auto alpha = static_cast<ImU32>(static_cast<float>(colour >> IM_COL32_A_SHIFT) * opacity);
    return (colour & ~IM_COL32_A_MASK) | (alpha << IM_COL32_A_SHIFT);
}

}  // namespace kvplan::gui
