#include "planner/trace/analysis.hpp"

#include "charts/of_results.hpp"
#include "gui/panels/panels.hpp"
#include "gui/raii.hpp"
#include "gui/widgets/chart.hpp"
#include "gui/widgets/report.hpp"
#include "gui/widgets/text.hpp"
#include "planner/export/trace_export.hpp"

namespace kvplan::gui {

namespace {

// What the trace says for this deployment; the trace itself is read once.
trace::Analysis analysed(const trace::Trace& trace, Scenario scenario) {
    trace::AnalysisOptions options;
    if (const auto policy = trace::write_policy_named(scenario.engine.hicache.write_policy)) options.policy = *policy;
    trace::Analysis result = trace::analyse(trace, options);
    if (!result.curve) return result;
    trace::use_as_workload(result.workload, scenario);
    result.recommendation = trace::recommend(trace, *result.curve, result.workload, scenario, options.policy, options.warmup_share);
    return result;
}

std::shared_ptr<const trace::Trace> read(const std::string& path, Progress& progress) {
    trace::ReadOptions options;
    options.progress = [&progress](std::uint64_t done, std::uint64_t total) {
        if (progress.cancelled()) throw Cancelled{};
        if (total > 0) progress.set(0.9 * static_cast<double>(done) / static_cast<double>(total));
    };
    Diagnostics diagnostics;
    auto trace = trace::read_trace({path}, options, diagnostics);
    if (!trace) throw std::runtime_error(diagnostics.items().empty() ? "the trace cannot be read" : diagnostics.items().front().message);
    return std::make_shared<const trace::Trace>(std::move(*trace));
}

void start(const Ui& ui, const Planned& planned, std::shared_ptr<const trace::Trace> known) {
    TraceView& view = ui.view.trace;
    view.asked_revision = ui.document.revision();
    ui.worker.start("trace", [&view, path = view.path, known = std::move(known), scenario = planned.scenario](Progress& progress) -> Worker::Result {
        const std::shared_ptr<const trace::Trace> trace = known ? known : read(path, progress);
        auto result = std::make_shared<const trace::Analysis>(analysed(*trace, scenario));
        return [&view, trace, result] {
            view.trace = trace;
            view.analysis = result;
        };
    });
}

}  // namespace

void trace_panel(const Ui& ui, const Planned& planned) {
    TraceView& view = ui.view.trace;
    if (button(ui, "Choose a trace")) ui.view.browse = Browse::trace;
    ImGui::SameLine();
    text(view.path.empty() ? "or drop a file on the window: Mooncake, Qwen Bailian, Azure, BurstGPT, Vidur, SGLang logs" : view.path, ui.theme.muted);
    const bool working = ui.worker.busy() && ui.worker.name() == "trace";
    if (working) {
        ImGui::ProgressBar(static_cast<float>(ui.worker.share()), {ui.px(240), 0});
        ImGui::SameLine();
        if (button(ui, "Stop")) ui.worker.cancel();
    } else if (!view.path.empty() && ui.worker.name() == "trace" && !ui.worker.fault().empty()) {
        wrapped(ui.worker.fault(), ui.theme.bad);
    }
    if (view.path.empty()) return;
    if (!working && view.asked_revision != ui.document.revision()) start(ui, planned, view.trace);
    if (!view.analysis) return;
    if (view.analysis->curve) show_chart(ui, "hit_rate", charts::hit_rate_chart(*view.analysis), 340);
    for (const exporting::ReportSection& section : exporting::trace_report(*view.analysis).sections) report_section(ui, section);
}

void open_trace(const Ui& ui, const std::string& path) {
    ui.view.trace = {};
    ui.view.trace.path = path;
    ui.view.tab = Tab::trace;
}

}  // namespace kvplan::gui
