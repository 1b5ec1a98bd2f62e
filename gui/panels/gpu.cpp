#include <cmath>

#include "gui/panels/panels.hpp"
#include "gui/widgets/bar.hpp"
#include "gui/widgets/report.hpp"
#include "gui/widgets/text.hpp"
#include "planner/export/plan_report.hpp"
#include "units/ascii.hpp"
#include "units/format.hpp"

namespace kvplan::gui {

namespace {

std::string interval(const Estimate<Bytes>& estimate) {
    std::string text(name_of(estimate.basis));
    if (estimate.low != estimate.high) text += ", " + binary_size(estimate.low) + " to " + binary_size(estimate.high);
    return as_words(text);
}

Bar memory_bar(const Ui& ui, const GpuPlan& gpu) {
    Bar bar;
    const auto part = [&](std::string label, Bytes bytes, ImU32 colour, std::string_view figure, bool hatched = false) {
        bar.parts.push_back({std::move(label), binary_size(bytes), in_gib(bytes), colour, figure, hatched});
    };
    const Theme& theme = ui.theme;
    part("driver and context", gpu.total_bytes - gpu.free_before_load_bytes.expected, theme.reserve, "gpu.free_before_load_bytes");
    part("weights", gpu.weights_bytes, theme.series[0], "gpu.weights_bytes");
    part("KV pool", gpu.kv_pool_bytes, theme.series[2], "gpu.kv_pool_bytes");
    part("state pool", gpu.state_pool_bytes, theme.series[3], "gpu.state_pool_bytes");
    part("slack", gpu.slack_bytes, theme.series[1], "gpu.slack_bytes");
    bar.end = in_gib(gpu.total_bytes);
    if (gpu.shortfall_bytes.count() > 0) bar.lines.push_back({"missing: " + binary_size(gpu.shortfall_bytes), bar.end, theme.bad});
    else bar.lines.push_back({"total " + binary_size(gpu.total_bytes), bar.end, theme.muted});
    return bar;
}

std::vector<FigureRow> memory_rows(const Ui& ui, const Plan& plan) {
    const GpuPlan& gpu = plan.gpu;
    const Theme& theme = ui.theme;
    std::vector<FigureRow> rows;
    rows.push_back({"total", binary_size(gpu.total_bytes), "gpu.total_bytes", "catalogue"});
    rows.push_back({"driver, context, communicator", binary_size(gpu.total_bytes - gpu.free_before_load_bytes.expected), "", "", 1, false, theme.reserve});
    rows.push_back({"free before load", binary_size(gpu.free_before_load_bytes.expected), "gpu.free_before_load_bytes", interval(gpu.free_before_load_bytes), 0, true});
    rows.push_back({"weights", binary_size(gpu.weights_bytes), "gpu.weights_bytes", interval(plan.weights.bytes_per_rank), 0, true, theme.series[0]});
    for (const WeightComponent& component : plan.weights.components)
        rows.push_back({as_words(component.name), binary_size(component.bytes_per_rank), "", component.replicated ? "whole on every rank" : "", 2});
    rows.push_back({"KV pool", binary_size(gpu.kv_pool_bytes), "gpu.kv_pool_bytes", with_commas(plan.capacity.max_total_num_tokens.expected.count()) + " tokens", 0, true, theme.series[2]});
    if (gpu.state_pool_bytes.count() > 0) rows.push_back({"state pool", binary_size(gpu.state_pool_bytes), "gpu.state_pool_bytes", "", 0, true, theme.series[3]});
    rows.push_back({"slack", binary_size(gpu.slack_bytes), "gpu.slack_bytes", "what the engine leaves for the rest", 0, true, theme.series[1]});
    for (const NamedBytes& item : gpu.slack_items)
        if (std::abs(in_gib(item.bytes)) >= 0.005) rows.push_back({as_words(item.name), binary_size(item.bytes), "", "", 2});
    if (gpu.left_after_graphs_bytes.high.count() != 0) rows.push_back({"left after start-up", binary_size(gpu.left_after_graphs_bytes.expected), "gpu.left_after_graphs_bytes", interval(gpu.left_after_graphs_bytes)});
    if (gpu.shortfall_bytes.count() > 0) rows.push_back({"SHORTFALL", binary_size(gpu.shortfall_bytes), "gpu.shortfall_bytes", "", 0, true, theme.bad});
    return rows;
}

// Only pipeline stages hold different weights; all else is the same on every rank.
void stages(const Ui& ui, const Plan& plan) {
    if (plan.weights.stage_bytes.size() < 2) return;
    ImGui::Spacing();
    heading(ui, "Weights of each pipeline stage");
    std::vector<FigureRow> rows;
    for (std::size_t i = 0; i < plan.weights.stage_bytes.size(); ++i) rows.push_back({"stage " + std::to_string(i), binary_size(plan.weights.stage_bytes[i]), ""});
    figure_table(ui, "stages", rows);
}

}  // namespace

void gpu_panel(const Ui& ui, const Planned& planned) {
    Bar bar = memory_bar(ui, planned.plan.gpu);
    const Parallelism& p = planned.plan.parallelism;
    bar.name = p.ranks > 1 ? "Memory of one rank (" + std::to_string(p.ranks) + " ranks" + (p.pp > 1 ? ", the largest pipeline stage)" : ", all alike)") : "Memory of the GPU";
    stacked_bar(ui, bar);
    report_sentences(ui, exporting::gpu_section(planned.scenario, planned.plan, false));
    ImGui::Spacing();
    figure_table(ui, "memory", memory_rows(ui, planned.plan));
    stages(ui, planned.plan);
    ImGui::Spacing();
    heading(ui, "KV cache");
    for (const std::string& formula : exporting::kv_formulas(planned.scenario, planned.plan.kv_cache)) wrapped(formula);
}

}  // namespace kvplan::gui
