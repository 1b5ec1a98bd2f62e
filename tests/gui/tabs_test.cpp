#include <filesystem>
#include <fstream>

#include "charts/area.hpp"
#include "gui/comparison.hpp"
#include "gui/settings.hpp"
#include "gui/widgets/chart.hpp"
#include "gui/widgets/file_browser.hpp"
#include "tests/gui/rig.hpp"

namespace kvplan::testing {

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string temporary(const std::string& name) {
    const auto folder = std::filesystem::temp_directory_path() / "kvplan-gui-tests";
    std::filesystem::create_directories(folder);
    const auto path = folder / name;
    std::filesystem::remove(path);
    return path.string();
}

std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

TEST_CASE("The Capacity tab tells the tokens of a rank and the four concurrencies", "[gui][tabs]") {
    Rig rig;
    rig.click("tab/capacity");
    const std::string text = rig.text();
    for (const char* part : {"tokens of one rank", "all at full length", "retraction-free", "admission", "steady state"}) CHECK(contains(text, part));
    CHECK(rig.has("chart/concurrency"));
}

TEST_CASE("The Throughput tab asks for lengths when there are none", "[gui][tabs]") {
    Rig rig;
    rig.click("tab/throughput");
    CHECK(rig.has("chart/throughput"));
    rig.window.document().set_all({{"input_tokens", ""}, {"output_tokens", ""}});
    rig.backend.frames(rig.window, 2);
    CHECK_FALSE(rig.has("chart/throughput"));
    CHECK(contains(rig.text(), "give prompt and output tokens"));
}

TEST_CASE("Hovering a figure says how it comes about", "[gui][why]") {
    Rig rig;
    const gui::Rect r = rig.at("figure/gpu.kv_pool_bytes");
    rig.backend.move((r.x0 + r.x1) / 2, (r.y0 + r.y1) / 2);
    rig.backend.frames(rig.window, 3);
    const std::string text = rig.text();
    CHECK(contains(text, "gpu.kv_pool_bytes"));
    CHECK(contains(text, "Source: "));
}

TEST_CASE("What-if draws a curve per value of the third field, of points that hold only", "[gui][what-if]") {
    gui::Progress progress;
    Diagnostics diagnostics;
    gui::Document document;
    const gui::Planned& planned = *document.planned();
    gui::WhatIfQuestion question;
    question.x_field = "hicache_size", question.x_values = "30:50:1";
    question.y_figure = "host.headroom_bytes";
    question.z_field = "", question.z_values = "";
    const auto found = gui::answer(question, planned.scenario, {}, progress, diagnostics);
    REQUIRE(found);
    CHECK(found->points == 21);
    // The safe maximum of the founding host is 39 (README), so 40 to 50 are left out.
    CHECK(found->infeasible == 11);
    REQUIRE(found->lines.series.size() == 1);
    CHECK(found->lines.series[0].points.size() == 10);
    // One GB more for each of 8 ranks takes 8 GB of the headroom; pools are whole tokens of 70,272 B.
    const auto& points = found->lines.series[0].points;
    CHECK(points[0].y - points[1].y == Approx(8e9).margin(8 * 70272.0));
    question.z_field = "tp_size", question.z_values = "4,8";
    const auto two = gui::answer(question, planned.scenario, {}, progress, diagnostics);
    REQUIRE(two);
    CHECK(two->map.cells.size() == 42);
    CHECK(two->map.rows.size() == 2);
    question.x_values = "30:30:0";
    CHECK_FALSE(gui::answer(question, planned.scenario, {}, progress, diagnostics));
    CHECK(diagnostics.has_errors());
    progress.cancel();
    question.x_values = "30:50:1";
    Diagnostics none;
    CHECK_THROWS_AS(gui::answer(question, planned.scenario, {}, progress, none), gui::Cancelled);
}

TEST_CASE("The What-if tab works beside the window and draws what it found", "[gui][what-if]") {
    Rig rig;
    rig.click("tab/what-if");
    rig.window.finish_work();
    rig.backend.frames(rig.window, 2);
    CHECK(rig.has("chart/what_if"));
    CHECK(rig.window.view().what_if.fault.empty());
}

TEST_CASE("Pinned scenarios stand beside the present one, with signed differences", "[gui][compare]") {
    Rig rig;
    rig.click("tab/compare");
    rig.click("button/Pin this scenario");
    CHECK(rig.window.view().pins.size() == 1);
    rig.window.document().set("hicache_size", "30");
    rig.backend.frames(rig.window, 2);
    const std::string text = rig.text();
    CHECK(contains(text, "hicache_size"));
    CHECK_FALSE(contains(text, "tp_size"));         // the same in both: no line
    CHECK_FALSE(contains(text, "draft_model"));     // not given in either
    CHECK(contains(text, "-72.00 GB"));   // (39 - 30) x 8 ranks less in the host pools
    CHECK(contains(text, "+72.00 GB"));   // and more left
    rig.click("unpin/0");
    rig.backend.frames(rig.window, 2);
    CHECK(rig.window.view().pins.empty());
}

TEST_CASE("A saved scenario opens as it was, distributions too", "[gui][files]") {
    Rig rig;
    rig.type_into("input_tokens", "12000:40000");
    REQUIRE(rig.window.document().is_current());
    const std::string path = temporary("scenario.json");
    REQUIRE(rig.window.save(path));
    const gui::Values saved = rig.window.document().values();
    rig.window.document().set("tp_size", "4");
    REQUIRE(rig.window.open(path));
    CHECK(rig.window.document().values() == saved);
    CHECK(rig.window.view().recent.front() == path);
    // What cannot be planned is not written.
    rig.window.document().set("host_ram", "80G");
    CHECK_FALSE(rig.window.save(temporary("faulty.json")));
    CHECK_FALSE(std::filesystem::exists(temporary("faulty.json")));
}

TEST_CASE("Recent files and the theme are kept from run to run", "[gui][files]") {
    const std::string path = temporary("config/window.json");
    gui::View view;
    view.look = gui::Look::light;
    view.recent = {"/a b.json", "/c.sh"};
    REQUIRE(gui::write_settings(path, view).empty());
    gui::View again;
    gui::read_settings(path, again);
    CHECK(again.look == gui::Look::light);
    CHECK(again.recent == view.recent);
    gui::View untouched;
    gui::read_settings(temporary("absent.json"), untouched);
    CHECK(untouched.look == gui::Look::dark);
    std::ofstream(temporary("broken.json")) << "{\"theme\": ";
    gui::read_settings(std::filesystem::path(path).parent_path().parent_path() / "broken.json", untouched);
    CHECK(untouched.recent.empty());
}

TEST_CASE("The plan is exported in the form that the name asks for", "[gui][files]") {
    Rig rig;
    const auto exported = [&](const char* name) {
        const std::string path = temporary(name);
        REQUIRE(rig.window.export_plan(path));
        return read(path);
    };
    CHECK(exported("plan.json").find("\"schema_version\"") != std::string::npos);
    CHECK(exported("plan.csv").find("gpu.kv_pool_bytes") != std::string::npos);
    CHECK(exported("plan.md").find("| ") != std::string::npos);
    CHECK(exported("plan.txt").find("KV pool") != std::string::npos);
}

TEST_CASE("A chart is exported as PNG, SVG or CSV by its name", "[gui][files]") {
    charts::LineChart chart{"title", {"x", charts::Unit::plain, false, {}, {}}, {"y", charts::Unit::plain, false, {}, {}}, {{"a", {{1, 2}, {2, 4.5}}, false}}, {}, {}};
    const auto png = gui::file_of(chart, "a.png", gui::Look::light);
    REQUIRE(png);
    CHECK(png->substr(1, 3) == "PNG");
    const auto svg = gui::file_of(chart, "a.svg", gui::Look::light);
    REQUIRE(svg);
    CHECK(contains(*svg, "<svg"));
    CHECK(gui::file_of(chart, "a.csv", gui::Look::light) == std::optional<std::string>("series,x,y\r\na,1,2\r\na,2,4.5\r\n"));
    CHECK_FALSE(gui::file_of(chart, "a.doc", gui::Look::light));
}

TEST_CASE("The file dialog opens a scenario that is chosen in it", "[gui][files]") {
    Rig rig;
    const std::string path = temporary("chosen.json");
    rig.window.document().set("tp_size", "4");
    REQUIRE(rig.window.save(path));
    rig.window.document().set("tp_size", "8");
    rig.window.view().folder = std::filesystem::path(path).parent_path().string();
    rig.backend.shortcut(rig.window, 'O');
    rig.backend.frames(rig.window, 3);
    rig.click("file/chosen.json", 0.05f);
    rig.click("button/Open");
    rig.backend.frames(rig.window, 2);
    CHECK(rig.window.view().browse == gui::Browse::none);
    CHECK(rig.window.document().value("tp_size") == "4");
}

TEST_CASE("A trace is read beside the window, and its hit rate drawn", "[gui][trace]") {
    const std::string path = temporary("trace.jsonl");
    {
        std::ofstream file(path);
        for (int i = 0; i < 40; ++i)
            file << R"({"timestamp": )" << i * 1000 << R"(, "input_length": 1536, "output_length": 64, "hash_ids": [1, 2, )" << 10 + i % 7 << "]}\n";
    }
    Rig rig;
    rig.window.view().trace.path = path;
    rig.click("tab/trace");
    rig.window.finish_work();
    rig.backend.frames(rig.window, 2);
    REQUIRE(rig.window.view().trace.analysis != nullptr);
    CHECK(rig.has("chart/hit_rate"));
    // A file that is none is told, and the window goes on.
    rig.window.view().trace = {};
    rig.window.view().trace.path = temporary("absent.jsonl");
    rig.backend.frames(rig.window, 2);
    rig.window.finish_work();
    CHECK(rig.window.view().trace.analysis == nullptr);
}

TEST_CASE("A task that is told to stop leaves nothing behind", "[gui][worker]") {
    gui::Worker worker;
    bool taken = false;
    worker.start("endless", [&](gui::Progress& progress) -> gui::Worker::Result {
        while (!progress.cancelled()) std::this_thread::yield();
        return [&] { taken = true; };
    });
    CHECK(worker.busy());
    worker.cancel();
    worker.finish();
    CHECK_FALSE(worker.busy());
    CHECK_FALSE(taken);
    worker.start("short", [&](gui::Progress&) -> gui::Worker::Result { return [&] { taken = true; }; });
    worker.finish();
    CHECK(taken);
}

}  // namespace kvplan::testing
