#include <algorithm>
#include <ostream>

#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>

#include "gui/backend.hpp"
#include "gui/settings.hpp"
#include "gui/window.hpp"

namespace kvplan::gui {

namespace {

/// GLFW's library and one window, given back in the right order.
class Screen {
public:
    Screen(const ScreenOptions& options, std::ostream& err) {
        glfwSetErrorCallback(remember);
        ready_ = glfwInit() == GLFW_TRUE;
        if (ready_) {
            glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
            glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 2);
            glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
            glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
            window_ = glfwCreateWindow(options.width, options.height, "kvplan", nullptr, nullptr);
        }
        if (window_ == nullptr) err << "kvplan-gui: no window can be opened here: " << last_error() << "\nkvplan-gui --screenshot FILE.png needs none; kvplan plan tells the same as text.\n";
    }
    ~Screen() {
        if (window_ != nullptr) glfwDestroyWindow(window_);
        if (ready_) glfwTerminate();
    }
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;
    [[nodiscard]] GLFWwindow* window() const { return window_; }

private:
    static std::string& last_error() {
        static thread_local std::string text;
        return text;
    }
    static void remember(int, const char* text) { last_error() = text; }

    bool ready_ = false;
    GLFWwindow* window_ = nullptr;
};

/// ImGui with its two back ends.
class Drawing {
public:
    explicit Drawing(GLFWwindow* window) {
        glfwMakeContextCurrent(window);
        glfwSwapInterval(1);
        ImGui::CreateContext();
        ImGui::GetIO().IniFilename = nullptr;
        ImGui::GetIO().ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
        ImGui_ImplGlfw_InitForOpenGL(window, true);
        ImGui_ImplOpenGL3_Init("#version 150");
    }
    ~Drawing() {
        ImGui_ImplOpenGL3_Shutdown();
        ImGui_ImplGlfw_Shutdown();
        ImGui::DestroyContext();
    }
    Drawing(const Drawing&) = delete;
    Drawing& operator=(const Drawing&) = delete;

    void frame(GLFWwindow* screen, Window& window) {
        ImGui_ImplOpenGL3_NewFrame();
        ImGui_ImplGlfw_NewFrame();
        ImGui::NewFrame();
        window.frame();
        ImGui::Render();
        int width = 0, height = 0;
        glfwGetFramebufferSize(screen, &width, &height);
        glViewport(0, 0, width, height);
        const ImVec4 ground = ImGui::ColorConvertU32ToFloat4(window.theme().background);
        glClearColor(ground.x, ground.y, ground.z, 1);
        glClear(GL_COLOR_BUFFER_BIT);
        ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
        glfwSwapBuffers(screen);
    }
};

float monitor_scale(GLFWwindow* window) {
    float x = 1, y = 1;
    glfwGetWindowContentScale(window, &x, &y);
    return std::clamp(std::max(x, y), 1.0f, 4.0f);
}

void dropped(GLFWwindow* screen, int count, const char** paths) {
    if (count > 0) (void)static_cast<Window*>(glfwGetWindowUserPointer(screen))->open(paths[0]);
}

}  // namespace

int run_on_screen(const ScreenOptions& options, std::ostream& err) {
    const Screen screen(options, err);
    if (screen.window() == nullptr) return 2;
    Drawing drawing(screen.window());
    Window window(options.catalogues, options.look.value_or(Look::dark), options.scale > 0 ? options.scale : monitor_scale(screen.window()));
    const std::string settings = settings_path();
    read_settings(settings, window.view());
    if (options.look) window.view().look = *options.look;
    glfwSetWindowUserPointer(screen.window(), &window);
    glfwSetDropCallback(screen.window(), dropped);
    if (!options.open.empty() && !window.open(options.open)) err << "kvplan-gui: " << window.view().message << "\n";
    if (const auto tab = tab_named(options.tab)) window.view().tab = *tab;
    int quiet = 0;  // frames since the last event
    while (glfwWindowShouldClose(screen.window()) == GLFW_FALSE && !window.view().quit) {
        // Nothing moves by itself: after an event a few frames settle the layout, then the loop sleeps until the next one.
        const bool settled = quiet >= 4 && !window.busy() && !ImGui::IsAnyItemActive();
        const double most = settled ? 1.0 : 1.0 / 60.0, before = glfwGetTime();
        glfwWaitEventsTimeout(most);
        quiet = glfwGetTime() - before < most * 0.95 ? 0 : quiet + 1;
        drawing.frame(screen.window(), window);
        glfwSetWindowTitle(screen.window(), window.title().c_str());
    }
    if (const std::string failure = write_settings(settings, window.view()); !failure.empty()) err << "kvplan-gui: " << failure << "\n";
    return 0;
}

}  // namespace kvplan::gui
