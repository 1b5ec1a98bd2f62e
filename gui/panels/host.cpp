#include "gui/panels/panels.hpp"
#include "gui/raii.hpp"
#include "gui/widgets/bar.hpp"
#include "gui/widgets/report.hpp"
#include "gui/widgets/text.hpp"
#include "planner/export/plan_report.hpp"
#include "units/format.hpp"

namespace kvplan::gui {

namespace {

std::string limit_words(HostLimit limit) {
    std::string text(name_of(limit));
    for (char& c : text)
        if (c == '_') c = ' ';
    return text;
}

Bar node_bar(const Ui& ui, const Planned& planned) {
    const Plan& plan = planned.plan;
    const HostPlan& host = plan.host;
    const Theme& theme = ui.theme;
    Bar bar;
    const auto part = [&](std::string label, Bytes bytes, ImU32 colour, std::string_view figure = {}) {
        bar.parts.push_back({std::move(label), decimal_size(bytes), in_gb(bytes), colour, figure, false});
    };
    if (host.device_bytes.count() > 0) part("weights and KV", host.device_bytes, theme.series[0]);
    if (plan.hicache.enabled && plan.hicache.bytes_per_node.count() > 0) {
        // One part a rank, so that it is seen that the size counts for each.
        const std::int64_t ranks = host.ranks_per_node;
        for (std::int64_t i = 0; i < ranks; ++i) part("rank " + std::to_string(i), plan.hicache.bytes_per_rank, faded(theme.series[2], i % 2 == 0 ? 1.0f : 0.8f));
    }
    part("processes", host.process_bytes.expected, theme.series[0], "host.process_bytes");
    part("third tier", host.storage_bytes, theme.series[3]);
    part("offloaded weights", host.offloaded_weights_bytes, theme.series[5]);
    part("reserve", host.reserve_bytes, theme.reserve, "host.reserve_bytes");
    if (host.headroom_bytes) part("headroom", *host.headroom_bytes, theme.spare, "host.headroom_bytes");
    for (const HostBound& bound : host.bounds)
        if (!bound.per_rank) bar.lines.push_back({limit_words(bound.limit) + " " + decimal_size(bound.bytes), in_gb(bound.bytes), bound.limit == host.limited_by ? theme.bad : theme.muted});
    for (const BarLine& line : bar.lines) bar.end = std::max(bar.end, line.at);
    return bar;
}

void rank_bounds(const Ui& ui, const HostPlan& host) {
    std::vector<FigureRow> rows;
    for (const HostBound& bound : host.bounds)
        if (bound.per_rank) rows.push_back({limit_words(bound.limit) + " (pinned pools of one process)", decimal_size(bound.bytes), "", std::string(name_of(bound.basis))});
    if (rows.empty()) return;
    heading(ui, "Limits of each rank");
    figure_table(ui, "bounds", rows);
}

}  // namespace

void host_panel(const Ui& ui, const Planned& planned) {
    const HostPlan& host = planned.plan.host;
    Bar bar = node_bar(ui, planned);
    bar.name = "RAM of one node";
    stacked_bar(ui, bar);
    const bool unsafe = host.safe.has_value() && !*host.safe;
    if (!host.available_bytes) wrapped("Nothing is known of the host: give its RAM, what is available of it, or the container's limit.", ui.theme.warn);
    else if (unsafe) wrapped("Not safe: the high end of every cost is " + decimal_size(host.required_high_bytes) + " of " + decimal_size(*host.available_bytes) + ".", ui.theme.bad);
    else wrapped("Safe: even the high end of every cost, " + decimal_size(host.required_high_bytes) + ", stays within " + decimal_size(*host.available_bytes) + ".", ui.theme.good);
    ImGui::Spacing();
    for (const exporting::ReportSection& section : exporting::host_sections(planned.scenario, planned.plan)) report_section(ui, section);
    rank_bounds(ui, host);
}

}  // namespace kvplan::gui
