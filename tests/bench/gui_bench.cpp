// Frames over the null back end: what the window costs beside the drawing itself. Aims: 4 ms a frame, 1 ms a recomputation.
#include <benchmark/benchmark.h>

#include <string>

#include "gui/backend.hpp"
#include "gui/window.hpp"

namespace {

using namespace kvplan::gui;

void frame_of_tab(benchmark::State& state) {
    NullBackend backend(1280, 800);
    Window window({}, Look::dark, 1.0f);
    window.view().tab = kTabs[static_cast<std::size_t>(state.range(0))];
    backend.frames(window, 3);
    window.finish_work();
    for (auto step : state) backend.frame(window);
    state.SetLabel(std::string(name_of(window.view().tab)));
}
BENCHMARK(frame_of_tab)->DenseRange(0, static_cast<int>(kTabs.size()) - 1)->Unit(benchmark::kMillisecond);

void recomputation(benchmark::State& state) {
    Document document;
    std::int64_t size = 0;
    for (auto step : state) document.set("hicache_size", std::to_string(20 + ++size % 30), 1);
}
BENCHMARK(recomputation)->Unit(benchmark::kMillisecond);

void first_picture(benchmark::State& state) {
    for (auto step : state) {
        NullBackend backend(1280, 800);
        Window window({}, Look::dark, 1.0f);
        backend.frames(window, 2);
        benchmark::DoNotOptimize(backend.picture(window));
    }
}
BENCHMARK(first_picture)->Unit(benchmark::kMillisecond);

}  // namespace
