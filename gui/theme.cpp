#include "gui/theme.hpp"

#include <string_view>

#include "charts/embedded_font.hpp"
#include "gui/embedded_font.hpp"

namespace kvplan::gui {

namespace {

constexpr std::string_view kRegular = "DejaVuSans.ttf";  // the charts' face, too

constexpr ImU32 rgb(std::uint32_t hex) { return IM_COL32((hex >> 16) & 255u, (hex >> 8) & 255u, hex & 255u, 255); }

ImVec4 vec(ImU32 colour) { return ImGui::ColorConvertU32ToFloat4(colour); }

ImFont* add(std::string_view name, float pixels) {
    // Latin, Greek, punctuation, arrows and mathematical signs that reports use.
    static constexpr ImWchar kRanges[] = {0x20, 0x17F, 0x370, 0x3FF, 0x2010, 0x205E, 0x2070, 0x209C, 0x2190, 0x21FF, 0x2200, 0x22FF, 0x25A0, 0x25FF, 0x2713, 0x2717, 0};
    const std::string_view bytes = name == kRegular ? charts::embedded_font(name) : embedded_font(name);
    ImFontConfig config;
    config.FontDataOwnedByAtlas = false;
    config.OversampleH = 1;
    config.PixelSnapH = true;
    // ImGui only reads from the pointer.
    return ImGui::GetIO().Fonts->AddFontFromMemoryTTF(const_cast<char*>(bytes.data()), static_cast<int>(bytes.size()), pixels, &config, kRanges);
}

}  // namespace

Theme theme_of(Look look) {
    Theme t;
    t.look = look;
    if (look == Look::dark) {
        t.background = rgb(0x14191f), t.panel = rgb(0x1b222a), t.border = rgb(0x36424e), t.grid = rgb(0x2c3640);
        t.text = rgb(0xe6ebf0), t.muted = rgb(0x9aa7b4);
        t.good = rgb(0x3fc69b), t.warn = rgb(0xf0b341), t.bad = rgb(0xff7b5c), t.accent = rgb(0x4aa8e8), t.changed = rgb(0x8fc7f2);
        t.series = {rgb(0x56b4e9), rgb(0xe69f00), rgb(0x009e73), rgb(0xcc79a7), rgb(0xf0e442), rgb(0x0072b2), rgb(0xd55e00), rgb(0xb0b8c0)};
        t.reserve = rgb(0x6b7785), t.spare = rgb(0x2a343f);
    } else {
        t.background = rgb(0xf3f5f7), t.panel = rgb(0xffffff), t.border = rgb(0xc4ccd4), t.grid = rgb(0xe2e7ec);
        t.text = rgb(0x1a222a), t.muted = rgb(0x566472);
        t.good = rgb(0x00765a), t.warn = rgb(0x9a6200), t.bad = rgb(0xbf3a0f), t.accent = rgb(0x0067a8), t.changed = rgb(0x00558c);
        t.series = {rgb(0x3a9bd3), rgb(0xd98f00), rgb(0x009e73), rgb(0xb8608f), rgb(0xc9b800), rgb(0x005a91), rgb(0xc65400), rgb(0x7d8790)};
        t.reserve = rgb(0x9aa5b0), t.spare = rgb(0xe4e9ee);
    }
    return t;
}

Fonts add_fonts(float scale) {
    Fonts fonts;
    fonts.scale = scale;
    fonts.regular = add(kRegular, 14.0f * scale);
    fonts.bold = add("DejaVuSans-Bold.ttf", 14.0f * scale);
    fonts.title = add("DejaVuSans-Bold.ttf", 17.0f * scale);
    fonts.mono = add("DejaVuSansMono.ttf", 13.0f * scale);
    // The sizes in which charts write (12 and 15 to the em), so that their glyphs are not scaled.
    fonts.chart = add(kRegular, 13.97f * scale);
    fonts.chart_title = add(kRegular, 17.46f * scale);
    return fonts;
}

void apply_style(const Theme& theme, float scale) {
    ImGuiStyle style;
    style.WindowRounding = style.ChildRounding = 0;
    style.FrameRounding = style.GrabRounding = style.PopupRounding = 3;
    style.WindowPadding = {10, 8};
    style.FramePadding = {6, 3};
    style.ItemSpacing = {8, 5};
    style.CellPadding = {6, 3};
    style.FrameBorderSize = 1;
    style.WindowBorderSize = 0;
    style.ScrollbarSize = 12;
    style.ScaleAllSizes(scale);
    const bool dark = theme.look == Look::dark;
    if (dark) ImGui::StyleColorsDark(&style);
    else ImGui::StyleColorsLight(&style);
    ImVec4* c = style.Colors;
    c[ImGuiCol_Text] = vec(theme.text);
    c[ImGuiCol_TextDisabled] = vec(theme.muted);
    c[ImGuiCol_WindowBg] = vec(theme.background);
    c[ImGuiCol_ChildBg] = vec(theme.panel);
    c[ImGuiCol_PopupBg] = vec(theme.panel);
    c[ImGuiCol_MenuBarBg] = vec(theme.background);
    c[ImGuiCol_Border] = vec(theme.border);
    c[ImGuiCol_FrameBg] = vec(dark ? rgb(0x232c35) : rgb(0xf7f9fa));
    c[ImGuiCol_FrameBgHovered] = vec(dark ? rgb(0x2d3843) : rgb(0xe9eff4));
    c[ImGuiCol_FrameBgActive] = vec(dark ? rgb(0x34414d) : rgb(0xdfe8ef));
    c[ImGuiCol_Button] = vec(dark ? rgb(0x2a3540) : rgb(0xe6ebf0));
    c[ImGuiCol_ButtonHovered] = vec(dark ? rgb(0x364552) : rgb(0xd6e0e8));
    c[ImGuiCol_ButtonActive] = vec(dark ? rgb(0x3f5160) : rgb(0xc5d4e0));
    c[ImGuiCol_Header] = vec(faded(theme.accent, 0.25f));
    c[ImGuiCol_HeaderHovered] = vec(faded(theme.accent, 0.35f));
    c[ImGuiCol_HeaderActive] = vec(faded(theme.accent, 0.45f));
    c[ImGuiCol_CheckMark] = vec(theme.accent);
    c[ImGuiCol_SliderGrab] = c[ImGuiCol_SliderGrabActive] = vec(theme.accent);
    c[ImGuiCol_TableHeaderBg] = vec(dark ? rgb(0x222b34) : rgb(0xecf0f3));
    c[ImGuiCol_TableRowBgAlt] = vec(faded(theme.text, 0.03f));
    c[ImGuiCol_TableBorderLight] = c[ImGuiCol_TableBorderStrong] = vec(theme.grid);
    c[ImGuiCol_NavHighlight] = vec(theme.accent);
    ImGui::GetStyle() = style;
}

}  // namespace kvplan::gui
