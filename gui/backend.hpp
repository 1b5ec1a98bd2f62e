// What stands between the window and a screen: a real one (GLFW and OpenGL), or none (pictures and tests).
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "gui/raster.hpp"
#include "gui/theme.hpp"
#include "planner/resolve.hpp"

namespace kvplan::gui {

class Window;

/// An ImGui context without a screen, input fed by hand. Time goes on by a sixtieth of a second each frame.
class NullBackend {
public:
    NullBackend(int width, int height);
    ~NullBackend();
    NullBackend(const NullBackend&) = delete;
    NullBackend& operator=(const NullBackend&) = delete;

    void frame(Window& window);
    void frames(Window& window, int count);
    /// One more frame, and all text that was drawn in it (what is scrolled out of sight is not), a line each.
    [[nodiscard]] std::string text(Window& window);

    // Input, seen from the next frame on.
    void move(float x, float y);
    void press(bool down);
    void type(std::string_view text);
    /// Holds and lets go over two frames, with Ctrl if asked for.
    void key(Window& window, ImGuiKey key);
    void shortcut(Window& window, char letter);

    /// The last frame as a picture.
    [[nodiscard]] Image picture(const Window& window) const;
};

struct ScreenOptions {
    int width = 1280, height = 800;
    std::optional<Look> look;        // unset: as it was left, or dark
    float scale = 0;                 // 0: the monitor's
    std::string open;                // path; empty: the founding scenario
    std::string tab;
    CatalogueOptions catalogues;
};

/// Opens a window and runs until it is closed. Returns the exit code; what is wrong goes to `err`.
[[nodiscard]] int run_on_screen(const ScreenOptions& options, std::ostream& err);

}  // namespace kvplan::gui
