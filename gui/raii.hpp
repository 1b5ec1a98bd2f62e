// Begin and End of ImGui in pairs, whatever happens between.
#pragma once

#include <imgui.h>

namespace kvplan::gui {

/// Ends a window that lies above others. ImGui ends its log with any such window; here the log goes on.
void end_above(void (*end)());

class Scope {
public:
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    explicit operator bool() const { return open_; }

protected:
    explicit Scope(bool open) : open_(open) {}
    ~Scope() = default;
    bool open_;
};

struct WindowScope : Scope {
    WindowScope(const char* name, ImGuiWindowFlags flags) : Scope(ImGui::Begin(name, nullptr, flags)) {}
    ~WindowScope() { ImGui::End(); }
};

struct ChildScope : Scope {
    ChildScope(const char* id, ImVec2 size, bool border = true, ImGuiWindowFlags flags = 0) : Scope(ImGui::BeginChild(id, size, border, flags)) {}
    ~ChildScope() { ImGui::EndChild(); }
};

struct TableScope : Scope {
    TableScope(const char* id, int columns, ImGuiTableFlags flags) : Scope(ImGui::BeginTable(id, columns, flags)) {}
    ~TableScope() { if (open_) ImGui::EndTable(); }
};

struct MenuScope : Scope {
    explicit MenuScope(const char* name) : Scope(ImGui::BeginMenu(name)) {}
    ~MenuScope() { if (open_) end_above(ImGui::EndMenu); }
};

struct ComboScope : Scope {
    ComboScope(const char* id, const char* preview, ImGuiComboFlags flags = 0) : Scope(ImGui::BeginCombo(id, preview, flags)) {}
    ~ComboScope() { if (open_) end_above(ImGui::EndCombo); }
};

struct PopupScope : Scope {
    PopupScope(const char* name, ImGuiWindowFlags flags) : Scope(ImGui::BeginPopupModal(name, nullptr, flags)) {}
    ~PopupScope() { if (open_) end_above(ImGui::EndPopup); }
};

struct TooltipScope {
    TooltipScope() { ImGui::BeginTooltip(); }
    TooltipScope(const TooltipScope&) = delete;
    TooltipScope& operator=(const TooltipScope&) = delete;
    ~TooltipScope() { end_above(ImGui::EndTooltip); }
};

struct IdScope {
    explicit IdScope(const char* id) { ImGui::PushID(id); }
    explicit IdScope(int id) { ImGui::PushID(id); }
    IdScope(const IdScope&) = delete;
    IdScope& operator=(const IdScope&) = delete;
    ~IdScope() { ImGui::PopID(); }
};

struct FontScope {
    explicit FontScope(ImFont* font) { ImGui::PushFont(font); }
    FontScope(const FontScope&) = delete;
    FontScope& operator=(const FontScope&) = delete;
    ~FontScope() { ImGui::PopFont(); }
};

struct ColourScope {
    ColourScope(ImGuiCol what, ImU32 colour) { ImGui::PushStyleColor(what, colour); }
    ColourScope(const ColourScope&) = delete;
    ColourScope& operator=(const ColourScope&) = delete;
    ~ColourScope() { ImGui::PopStyleColor(); }
};

}  // namespace kvplan::gui
