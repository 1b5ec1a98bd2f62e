#include "charts/of_results.hpp"
#include "gui/panels/panels.hpp"
#include "gui/widgets/chart.hpp"
#include "gui/widgets/report.hpp"
#include "gui/widgets/text.hpp"
#include "planner/export/plan_report.hpp"
#include "units/format.hpp"

namespace kvplan::gui {

namespace {

std::string requests(const std::optional<double>& value) { return value ? fixed(*value, 1) : "unknown"; }

std::string tokens_text(const Estimate<Tokens>& tokens) {
    return tokens.low == tokens.high ? std::string(name_of(tokens.basis)) : with_commas(tokens.low.count()) + " to " + with_commas(tokens.high.count());
}

}  // namespace

void capacity_panel(const Ui& ui, const Planned& planned) {
    const Plan& plan = planned.plan;
    const CapacityPlan& capacity = plan.capacity;
    show_chart(ui, "concurrency", charts::concurrency_chart(plan), 190);
    std::vector<FigureRow> rows;
    rows.push_back({"tokens of one rank", with_commas(capacity.max_total_num_tokens.expected.count()), "capacity.max_total_num_tokens", tokens_text(capacity.max_total_num_tokens), 0, true});
    if (capacity.swa_tokens) rows.push_back({"in the sliding-window pool", with_commas(capacity.swa_tokens->count()), "capacity.swa_tokens", "", 1});
    if (capacity.state_slots) rows.push_back({"state slots", with_commas(*capacity.state_slots), "capacity.state_slots", "", 1});
    rows.push_back({"distinct tokens of the deployment", with_commas(capacity.distinct_tokens.count()), "capacity.distinct_tokens"});
    rows.push_back({"longest request", with_commas(capacity.longest_request_tokens.count()), "capacity.longest_request_tokens", "tokens"});
    rows.push_back({"most running requests", with_commas(capacity.max_running_requests.count()), "capacity.max_running_requests", "of one DP worker"});
    rows.push_back({"all at full length", requests(plan.concurrency.full_length), "concurrency.full_length", "every request at its last token", 0, true});
    rows.push_back({"retraction-free", requests(plan.concurrency.retraction_free), "concurrency.retraction_free", "retractions rarer than the risk that is accepted"});
    rows.push_back({"admission", requests(plan.concurrency.admission), "concurrency.admission", "what the scheduler lets in, limited by " + std::string(name_of(plan.concurrency.limited_by))});
    rows.push_back({"steady state", requests(plan.concurrency.steady_state), "concurrency.steady_state", "mean over the life of requests"});
    if (plan.concurrency.token_usage) rows.push_back({"pool in use", percent(*plan.concurrency.token_usage), "concurrency.token_usage", "at the admission concurrency"});
    ImGui::Spacing();
    figure_table(ui, "capacity", rows);
    if (!plan.concurrency.by_context.empty()) show_chart(ui, "by_context", charts::context_chart(plan), 300);
}

void throughput_panel(const Ui& ui, const Planned& planned) {
    const Plan& plan = planned.plan;
    if (plan.throughput.curve.empty()) wrapped("Throughput needs the lengths of a request: give prompt and output tokens at the left.", ui.theme.warn);
    else show_chart(ui, "throughput", charts::throughput_chart(plan), 380);
    ImGui::Spacing();
    const ThroughputPlan& t = plan.throughput;
    std::vector<FigureRow> rows;
    if (t.output) rows.push_back({"output, upper bound", fixed(t.output->value, 0) + " tokens/s", "throughput.output_tokens_per_second", "bound by " + std::string(t.limited_by), 0, true});
    if (t.expected_output_tokens_per_second)
        rows.push_back({"output, expected", fixed(t.expected_output_tokens_per_second->expected, 0) + " tokens/s", "throughput.expected_output_tokens_per_second",
                        fixed(t.expected_output_tokens_per_second->low, 0) + " to " + fixed(t.expected_output_tokens_per_second->high, 0), 0, true});
    if (t.decode) rows.push_back({"decode alone", fixed(t.decode->value, 0) + " tokens/s", "throughput.decode_tokens_per_second"});
    if (t.prefill) rows.push_back({"prefill alone", fixed(t.prefill->value, 0) + " tokens/s", "throughput.prefill_tokens_per_second"});
    if (plan.latency.ttft_seconds) rows.push_back({"time to first token", duration(plan.latency.ttft_seconds->low), "latency.ttft_seconds", "lower bound; expected " + duration(plan.latency.ttft_seconds->expected)});
    if (plan.latency.itl_seconds) rows.push_back({"time between tokens", duration(plan.latency.itl_seconds->low), "latency.itl_seconds", "lower bound; expected " + duration(plan.latency.itl_seconds->expected)});
    if (plan.latency.startup_seconds) rows.push_back({"start-up", duration(plan.latency.startup_seconds->expected), "latency.startup_seconds", duration(plan.latency.startup_seconds->low) + " to " + duration(plan.latency.startup_seconds->high)});
    figure_table(ui, "rates", rows);
    ImGui::Spacing();
    for (const exporting::ReportSection& section : exporting::rate_sections(planned.scenario, plan)) report_section(ui, section);
}

}  // namespace kvplan::gui
