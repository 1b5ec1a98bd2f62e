#include <cmath>

#include "planner/export/plan_report.hpp"
#include "units/ascii.hpp"
#include "units/format.hpp"

namespace kvplan::exporting {

namespace {

std::string gib(Bytes bytes) { return fixed(in_gib(bytes), 2); }

std::string interval(const Estimate<Bytes>& estimate) {
    if (estimate.low == estimate.high) return std::string(name_of(estimate.basis));
    return std::string(name_of(estimate.basis)) + ", " + gib(estimate.low) + " to " + gib(estimate.high);
}

// Item names are codes; a reader sees words.
void add_weights(const Plan& plan, ReportTable& table) {
    table.rows.push_back({{"- weights", gib(plan.gpu.weights_bytes), interval(plan.weights.bytes_per_rank)}, 0, false});
    for (const WeightComponent& component : plan.weights.components)
        table.rows.push_back({{as_words(component.name), gib(component.bytes_per_rank), component.replicated ? "whole on every rank" : ""}, 1, false});
}

std::string fraction_note(const Scenario& scenario, const MemFraction& f) {
    const char* name = scenario.engine.kind == EngineKind::sglang ? "mem_fraction_static " : "gpu_memory_utilization ";
    std::string text = name + shortest(f.value, 4);
    if (f.source == FractionSource::engine_default) text += " (the engine's default)";
    // Rounded inwards, so that what is printed is feasible.
    if (f.feasible_min && f.feasible_max)
        text += "; feasible from " + fixed(std::ceil(*f.feasible_min * 1000 - 1e-6) / 1000, 3) + " to " + fixed(std::floor(*f.feasible_max * 1000 + 1e-6) / 1000, 3) + " at the most";
    else text += "; no value is feasible";
    if (f.recommended) text += "; recommended " + fixed(*f.recommended, 3);
    return text + ".";
}

}  // namespace

ReportSection gpu_section(const Scenario& scenario, const Plan& plan, bool verbose) {
    const GpuPlan& gpu = plan.gpu;
    ReportSection section;
    section.title = "Memory of one GPU";
    ReportTable& table = section.table;
    table.header = {"", "GiB", "known by"};
    table.rows.push_back({{"total", gib(gpu.total_bytes), "catalogue"}, 0, false});
    table.rows.push_back({{"- driver, context, communicator", gib(gpu.total_bytes - gpu.free_before_load_bytes.expected), ""}, 0, false});
    table.rows.push_back({{"= free before load", gib(gpu.free_before_load_bytes.expected), interval(gpu.free_before_load_bytes)}, 0, true});
    add_weights(plan, table);
    table.rows.push_back({{"- KV pool", gib(gpu.kv_pool_bytes), gpu.kv_pool_bytes.count() > 0 ? "engine_rule" : ""}, 0, true});
    if (gpu.state_pool_bytes.count() > 0) table.rows.push_back({{"- state pool", gib(gpu.state_pool_bytes), "engine_rule"}, 0, true});
    table.rows.push_back({{"= slack", gib(gpu.slack_bytes), ""}, 0, true});
    for (const NamedBytes& item : gpu.slack_items)
        if (verbose || std::abs(in_gib(item.bytes)) >= 0.005) table.rows.push_back({{as_words(item.name), gib(item.bytes), ""}, 1, false});
    if (gpu.left_after_graphs_bytes.high.count() != 0)
        table.rows.push_back({{"left after start-up (activations come while serving)", gib(gpu.left_after_graphs_bytes.expected), interval(gpu.left_after_graphs_bytes)}, 0, false});
    if (gpu.shortfall_bytes.count() > 0) table.rows.push_back({{"SHORTFALL", gib(gpu.shortfall_bytes), ""}, 0, true});
    section.sentences.push_back(fraction_note(scenario, gpu.mem_fraction));
    return section;
}

}  // namespace kvplan::exporting
