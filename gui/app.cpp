#include "gui/app.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "gui/backend.hpp"
#include "gui/window.hpp"
#include "models/write_file.hpp"
#include "units/parse.hpp"

namespace kvplan::gui {

namespace {

constexpr const char* kHelp =
    "kvplan-gui: what-if exploration of a deployment in a window\n"
    "\n"
    "Usage: kvplan-gui [FILE] [options]\n"
    "  FILE               scenario (JSON), launch script, manifest, config.json or checkpoint directory\n"
    "  --scenario FILE    the same\n"
    "  --tab NAME         gpu, host, capacity, throughput, what-if, trace, findings, launch or compare\n"
    "  --theme NAME       light or dark (default: as it was left; dark for pictures)\n"
    "  --scale X          size of text and controls, 0.5 to 4 (default: the monitor's; 1 for pictures)\n"
    "  --size WxH         of the window or picture (default 1280x800)\n"
    "  --screenshot FILE  writes a picture (PNG) and ends; needs neither a screen nor a GPU\n"
    "  --marks FILE       with --screenshot: where fields and buttons lie (name and corners, a line each), for scripts\n"
    "  --hover NAME       with --screenshot: the mouse rests on what has this name there\n"
    "  --models-dir DIR, --hardware-dir DIR   more presets\n"
    "  --version, --help\n"
    "\n"
    "Example:\n"
    "  kvplan-gui --screenshot host.png --tab host --scenario my.json --theme light\n";

struct Options {
    ScreenOptions screen;
    std::string screenshot, marks, hover;
    bool help = false, version = false;
};

struct Fault {
    std::string text;
};

int whole(const std::string& text) {
    const Parsed<std::int64_t> parsed = parse_integer(text);
    const auto* n = std::get_if<std::int64_t>(&parsed);
    return n == nullptr || *n < 0 || *n > 1000000 ? -1 : static_cast<int>(*n);
}

void set_size(ScreenOptions& options, const std::string& text) {
    const std::size_t x = text.find('x');
    const int width = whole(text.substr(0, x)), height = x == std::string::npos ? -1 : whole(text.substr(x + 1));
    if (width < 640 || height < 400 || width > 8192 || height > 8192) throw Fault{"--size is WIDTHxHEIGHT, from 640x400 to 8192x8192, not " + text};
    options.width = width;
    options.height = height;
}

void set_scale(ScreenOptions& options, const std::string& text) {
    const Parsed<double> parsed = parse_real(text);
    const auto* scale = std::get_if<double>(&parsed);
    if (scale == nullptr || *scale < 0.5 || *scale > 4) throw Fault{"--scale is a number from 0.5 to 4, not " + text};
    options.scale = static_cast<float>(*scale);
}

void set_option(Options& options, const std::string& name, const std::string& value) {
    ScreenOptions& screen = options.screen;
    if (name == "--scenario") screen.open = value;
    else if (name == "--screenshot") options.screenshot = value;
    else if (name == "--marks") options.marks = value;
    else if (name == "--hover") options.hover = value;
    else if (name == "--size") set_size(screen, value);
    else if (name == "--scale") set_scale(screen, value);
    else if (name == "--models-dir") screen.catalogues.models_dir = value;
    else if (name == "--hardware-dir") screen.catalogues.hardware_dir = value;
    else if (name == "--tab") {
        if (!tab_named(value)) throw Fault{"--tab is gpu, host, capacity, throughput, what-if, trace, findings, launch or compare, not " + value};
        screen.tab = value;
    } else if (name == "--theme") {
        if (value != "light" && value != "dark") throw Fault{"--theme is light or dark, not " + value};
        screen.look = value == "light" ? Look::light : Look::dark;
    } else {
        throw Fault{"there is no option " + name + " (kvplan-gui --help)"};
    }
}

Options parse(const std::vector<std::string>& words) {
    Options options;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == "--help" || word == "-h") options.help = true;
        else if (word == "--version") options.version = true;
        else if (word.size() > 1 && word[0] == '-') {
            const std::size_t equals = word.find('=');
            if (equals == std::string::npos && i + 1 == words.size()) throw Fault{word + " needs a value, or is no option (kvplan-gui --help)"};
            set_option(options, word.substr(0, equals), equals == std::string::npos ? words[++i] : word.substr(equals + 1));
        } else if (!options.screen.open.empty()) {
            throw Fault{"one file can be opened: " + options.screen.open + " or " + word};
        } else {
            options.screen.open = word;
        }
    }
    return options;
}

std::string text_of(const Marks& marks) {
    std::string text;
    for (const auto& [name, r] : marks) {
        std::string word = name;
        std::replace(word.begin(), word.end(), ' ', '_');
        text += word;
        for (const float corner : {r.x0, r.y0, r.x1, r.y1}) text += " " + std::to_string(std::lround(corner));
        text += "\n";
    }
    return text;
}

void hover_over(NullBackend& backend, Window& window, const std::string& name) {
    const auto mark = window.marks().find(name);
    if (mark == window.marks().end()) throw Fault{"nothing is named " + name + " there; --marks lists the names"};
    backend.move((mark->second.x0 + mark->second.x1) / 2, (mark->second.y0 + mark->second.y1) / 2);
    backend.frames(window, 3);
}

int write_screenshot(const Options& options, std::ostream& err) {
    NullBackend backend(options.screen.width, options.screen.height);
    Window window(options.screen.catalogues, options.screen.look.value_or(Look::dark), options.screen.scale > 0 ? options.screen.scale : 1.0f);
    if (!options.screen.open.empty() && !window.open(options.screen.open)) throw Fault{window.view().message};
    if (const auto tab = tab_named(options.screen.tab)) window.view().tab = *tab;
    // Layouts of tables and scroll bars settle in the second frame; work in the background is waited for.
    backend.frames(window, 3);
    window.finish_work();
    backend.frames(window, 3);
    if (!options.hover.empty()) hover_over(backend, window, options.hover);
    std::string failure = write_file(options.screenshot, png_of(backend.picture(window)));
    if (failure.empty() && !options.marks.empty()) failure = write_file(options.marks, text_of(window.marks()));
    if (failure.empty()) return 0;
    err << "kvplan-gui: " << failure << "\n";
    return 2;
}

}  // namespace

int run(int argc, const char* const* argv, std::ostream& out, std::ostream& err) {
    try {
        const Options options = parse(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
        if (options.help) out << kHelp;
        else if (options.version) out << "kvplan-gui " KVPLAN_VERSION ", Dear ImGui " << ImGui::GetVersion() << "\n";
        else return options.screenshot.empty() ? run_on_screen(options.screen, err) : write_screenshot(options, err);
        return 0;
    } catch (const Fault& fault) {
        err << "kvplan-gui: " << fault.text << "\n";
        return 2;
    } catch (const std::exception& error) {
        err << "kvplan-gui: internal error: " << error.what() << "\n";
        return 70;
    }
}

}  // namespace kvplan::gui
