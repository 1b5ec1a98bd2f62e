// Dear ImGui 1.86 and newer by one set of names.
#pragma once

#include <imgui.h>

namespace kvplan::gui::compat {

#if IMGUI_VERSION_NUM >= 18700
inline bool pressed(ImGuiKey key) { return ImGui::IsKeyPressed(key, true); }
inline void send_key(ImGuiKey key, bool down) { ImGui::GetIO().AddKeyEvent(key, down); }
inline void send_control(bool down) { ImGui::GetIO().AddKeyEvent(ImGuiMod_Ctrl, down); }
inline void send_mouse(float x, float y) { ImGui::GetIO().AddMousePosEvent(x, y); }
inline void send_button(bool down) { ImGui::GetIO().AddMouseButtonEvent(0, down); }
using Letter = ImGuiKey;
inline Letter letter(char c) { return static_cast<ImGuiKey>(ImGuiKey_A + (c - 'A')); }
#else
// 1.86 knows only some keys by name; letters are the back end's own numbers (GLFW: ASCII).
inline bool pressed(ImGuiKey key) { return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key), true); }
inline void send_key(ImGuiKey key, bool down) {
    ImGuiIO& io = ImGui::GetIO();
    if (io.KeyMap[key] >= 0) io.KeysDown[io.KeyMap[key]] = down;
}
inline void send_control(bool down) { ImGui::GetIO().KeyCtrl = down; }
inline void send_mouse(float x, float y) { ImGui::GetIO().MousePos = ImVec2(x, y); }
inline void send_button(bool down) { ImGui::GetIO().MouseDown[0] = down; }
struct Letter {
    int index = 0;
};
inline Letter letter(char c) { return {c}; }
inline bool pressed(Letter key) { return ImGui::IsKeyPressed(key.index, true); }
inline void send_key(Letter key, bool down) { ImGui::GetIO().KeysDown[key.index] = down; }
#endif

}  // namespace kvplan::gui::compat
