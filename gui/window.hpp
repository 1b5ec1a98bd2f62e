// The whole window, drawn between ImGui::NewFrame and ImGui::Render by any back end.
#pragma once

#include <string>

#include "gui/view.hpp"

namespace kvplan::gui {

class Window {
public:
    Window(CatalogueOptions catalogues, Look look, float scale);

    /// Draws one frame over the whole display of the current ImGui context.
    void frame();

    /// A path that was dropped, or named on the command line; faults go to the status line. False when it could not be used.
    bool open(const std::string& path);
    /// A pasted launch command.
    bool paste(const std::string& text);
    bool save(const std::string& path);
    bool export_plan(const std::string& path);

    [[nodiscard]] Document& document() { return document_; }
    [[nodiscard]] View& view() { return view_; }
    [[nodiscard]] const Marks& marks() const { return marks_; }
    [[nodiscard]] const Theme& theme() const { return theme_; }
    /// A frame, and all text that was drawn in it, a line each (what is scrolled out of sight is not).
    [[nodiscard]] std::string frame_as_text();

    /// Whether something is worked at in the background.
    [[nodiscard]] bool busy() const { return worker_.busy(); }
    /// Waits for it.
    void finish_work() { worker_.finish(); }
    /// For the frame of a real window.
    [[nodiscard]] std::string title() const { return view_.file.empty() ? "kvplan" : view_.file + " - kvplan"; }

private:
    bool take(std::optional<Opened> opened, const Diagnostics& diagnostics, const std::string& what);
    void draw(const Ui& ui);
    void shortcuts(const Ui& ui);
    void menu(const Ui& ui);
    void verdict(const Ui& ui);
    void tabs(const Ui& ui);
    void body(const Ui& ui);
    void status(const Ui& ui);
    void files(const Ui& ui);
    void export_chart(const std::string& path);
    bool write(const std::string& path, const std::string& text, const std::string& done);

    Document document_;
    Catalogue catalogue_;
    View view_;
    Worker worker_;   // after what its results go to
    Theme theme_;
    Fonts fonts_;
    Marks marks_;
    bool reading_ = false;
    std::string read_;
};

}  // namespace kvplan::gui
