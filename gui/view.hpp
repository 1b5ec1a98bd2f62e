// What the window remembers beside the document, and what each panel is handed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <imgui.h>

#include "charts/chart.hpp"
#include "gui/catalogue.hpp"
#include "gui/document.hpp"
#include "gui/theme.hpp"
#include "gui/what_if.hpp"
#include "gui/worker.hpp"
#include "planner/explain/explain.hpp"

namespace kvplan::trace {
struct Trace;
struct Analysis;
}

namespace kvplan::gui {

enum class Tab { gpu, host, capacity, throughput, what_if, trace, findings, launch, compare };
inline constexpr std::array<Tab, 9> kTabs = {Tab::gpu, Tab::host, Tab::capacity, Tab::throughput, Tab::what_if, Tab::trace, Tab::findings, Tab::launch, Tab::compare};
[[nodiscard]] std::string_view title_of(Tab tab);
[[nodiscard]] std::string_view name_of(Tab tab);  // "host", for --tab
[[nodiscard]] std::optional<Tab> tab_named(std::string_view name);

/// A scenario kept for comparison.
struct Pin {
    std::string name;
    std::shared_ptr<const Planned> planned;
};
inline constexpr std::size_t kMostPins = 4;

struct Rect {
    float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

/// Where things that can be clicked or read lie in the last frame, by name ("field/tp_size", "tab/host"): for tests and scripts.
using Marks = std::map<std::string, Rect, std::less<>>;

/// What is being typed into the field that has the focus.
struct Typing {
    std::string field;
    std::string text;
};

using ExportableChart = std::variant<charts::LineChart, charts::BarChart, charts::HeatMap>;

/// What the file dialog is open for.
enum class Browse { none, open, save, plan, chart, trace };

/// A line of the file dialog.
struct FileEntry {
    std::string name;
    bool folder = false;
};

struct WhatIfView {
    WhatIfQuestion question;
    std::optional<WhatIfQuestion> asked;      // what the answer is of, or will be
    std::int64_t asked_revision = -1;         // of the document
    std::optional<WhatIfAnswer> answer;
    std::string fault;
};

struct TraceView {
    std::string path;                         // empty: none
    std::shared_ptr<const trace::Trace> trace;
    std::shared_ptr<const trace::Analysis> analysis;
    std::int64_t asked_revision = -1;
};

struct View {
    Tab tab = Tab::gpu;
    Look look = Look::dark;
    std::string file;                     // that Save writes; empty: none yet
    std::string message;                  // of the last action, in the status line
    bool message_is_fault = false;
    bool quit = false;
    std::vector<Pin> pins;
    std::optional<std::string> scroll_to; // a field that a finding points to
    std::string flash;                    // the field that is outlined since
    std::map<std::string, bool, std::less<>> open_groups;
    Typing typing;
    WhatIfView what_if;
    TraceView trace;
    std::optional<std::size_t> unpin;
    std::string pick_filter;              // search line of an open list
    std::optional<ExportableChart> export_chart;
    Browse browse = Browse::none;
    std::string folder, file_name;        // of the file dialog
    std::vector<FileEntry> files;
    std::vector<std::string> recent;      // paths, the last one first
};

/// Handed to every panel for one frame.
struct Ui {
    Document& document;
    View& view;
    Worker& worker;
    const Catalogue& catalogue;
    const Theme& theme;
    const Fonts& fonts;
    Marks& marks;

    [[nodiscard]] float px(float units) const { return units * fonts.scale; }
    /// Notes where the last item lies.
    void mark(std::string name) const;
    void mark(std::string name, const Rect& rect) const { marks.insert_or_assign(std::move(name), rect); }
    void say(std::string message, bool fault = false) const;
};

}  // namespace kvplan::gui
