#include <string>

#include <imgui.h>

#include "gui/backend.hpp"
#include "gui/compat.hpp"
#include "gui/window.hpp"

namespace kvplan::gui {

namespace {

// Without a screen the clipboard is the context's own.
const char* read_clipboard(void* text) { return static_cast<std::string*>(text)->c_str(); }
void build_atlas() {
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    if (!atlas.IsBuilt()) atlas.GetTexDataAsAlpha8(&pixels, &width, &height);
}

void write_clipboard(void* text, const char* words) { *static_cast<std::string*>(text) = words; }

}  // namespace

NullBackend::NullBackend(int width, int height) {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
    io.DeltaTime = 1.0f / 60.0f;
    io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
    io.ConfigInputTextCursorBlink = false;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    io.ClipboardUserData = new std::string;
    io.GetClipboardTextFn = read_clipboard;
    io.SetClipboardTextFn = write_clipboard;
#if IMGUI_VERSION_NUM < 18700
    for (int key = 0; key < ImGuiKey_COUNT; ++key) io.KeyMap[key] = 256 + key;  // letters are their ASCII codes
#endif
}

NullBackend::~NullBackend() {
    delete static_cast<std::string*>(ImGui::GetIO().ClipboardUserData);
    ImGui::DestroyContext();
}

void NullBackend::frame(Window& window) {
    build_atlas();
    ImGui::NewFrame();
    window.frame();
    ImGui::Render();
}

void NullBackend::frames(Window& window, int count) {
    for (int i = 0; i < count; ++i) frame(window);
}

std::string NullBackend::text(Window& window) {
    build_atlas();
    ImGui::NewFrame();
    std::string text = window.frame_as_text();
    ImGui::Render();
    return text;
}

void NullBackend::move(float x, float y) { compat::send_mouse(x, y); }
void NullBackend::press(bool down) { compat::send_button(down); }
void NullBackend::type(std::string_view text) { ImGui::GetIO().AddInputCharactersUTF8(std::string(text).c_str()); }

void NullBackend::key(Window& window, ImGuiKey key) {
    compat::send_key(key, true);
    frame(window);
    compat::send_key(key, false);
    frame(window);
}

void NullBackend::shortcut(Window& window, char letter) {
    compat::send_control(true);
    compat::send_key(compat::letter(letter), true);
    frame(window);
    compat::send_key(compat::letter(letter), false);
    compat::send_control(false);
    frame(window);
}

Image NullBackend::picture(const Window& window) const { return rasterise(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts, window.theme().background); }

}  // namespace kvplan::gui
