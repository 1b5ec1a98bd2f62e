#pragma once

#include <string>

#include "gui/backend.hpp"
#include "gui/window.hpp"
#include "tests/support/catch.hpp"

namespace kvplan::testing {

/// A window without a screen, and hands for it.
struct Rig {
    gui::NullBackend backend;
    gui::Window window;

    explicit Rig(int width = 1280, int height = 1600, gui::Look look = gui::Look::dark) : backend(width, height), window({}, look, 1.0f) { backend.frames(window, 3); }

    [[nodiscard]] bool has(const std::string& mark) const { return window.marks().find(mark) != window.marks().end(); }
    [[nodiscard]] gui::Rect at(const std::string& mark) const {
        INFO("mark " << mark);
        const auto found = window.marks().find(mark);
        REQUIRE(found != window.marks().end());
        return found->second;
    }
    /// Presses at a share of the width of what is marked, and lets go in another frame.
    void click(const std::string& mark, float share = 0.5f) {
        const gui::Rect r = at(mark);
        backend.move(r.x0 + share * (r.x1 - r.x0), (r.y0 + r.y1) / 2);
        backend.frames(window, 2);
        backend.press(true);
        backend.frames(window, 2);
        backend.press(false);
        backend.frames(window, 2);
    }
    /// Presses at one share of the width, moves to another in steps, and lets go.
    void drag(const std::string& mark, float from, float to) {
        const gui::Rect r = at(mark);
        const float y = (r.y0 + r.y1) / 2;
        backend.move(r.x0 + from * (r.x1 - r.x0), y);
        backend.frames(window, 2);
        backend.press(true);
        backend.frame(window);
        for (int i = 1; i <= 5; ++i) {
            backend.move(r.x0 + (from + (to - from) * static_cast<float>(i) / 5.0f) * (r.x1 - r.x0), y);
            backend.frame(window);
        }
        backend.press(false);
        backend.frames(window, 2);
    }
    void type_into(const std::string& field, const std::string& text) {
        click("field/" + field, 0.2f);
        backend.type(text);
        backend.frames(window, 2);
        backend.key(window, ImGuiKey_Enter);
        backend.frames(window, 2);
    }
    [[nodiscard]] std::string text() { return backend.text(window); }
    [[nodiscard]] const Plan& plan() { return window.document().planned()->plan; }
    [[nodiscard]] bool finds(std::string_view code) {
        for (const Finding& finding : plan().findings)
            if (finding.code == code) return true;
        return false;
    }
};

}  // namespace kvplan::testing
