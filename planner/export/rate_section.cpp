#include <cmath>

#include "planner/export/plan_report.hpp"
#include "units/format.hpp"

namespace kvplan::exporting {

namespace {

ReportSection concurrency(const Scenario& scenario, const Plan& plan) {
    const ConcurrencyPlan& c = plan.concurrency;
    ReportSection section{"Concurrency, whole deployment", {}, {}};
    const auto row = [&](const char* name, const std::optional<double>& value, const char* meaning) {
        if (value) section.table.rows.push_back({{name, fixed(*value, 1), meaning}, 0, false});
    };
    row("full length", c.full_length, "no retraction ever: prompt and whole output reserved");
    row("retraction-free", c.retraction_free, "pool exceeded only in the stated share of the time");
    if (c.offered) row("at the offered rate", c.offered, "in flight by Little's law; the pool would hold more");
    else row("admission", c.admission, "what the engine's own rule lets in");
    row("steady state", c.steady_state, "mean when the pool is always full");
    if (c.steady_state_low && c.steady_state_high)
        section.sentences.push_back("The split of " + shortest(scenario.workload.request_tokens.value_or(0.0), 0) + " tokens is unknown: steady state lies between " +
                                    fixed(*c.steady_state_low, 1) + " and " + fixed(*c.steady_state_high, 1) +
                                    ". --input-tokens, --output-tokens, their spread (mean:p95), --max-new-tokens and --shared-prefix-tokens narrow it.");
    if (c.limited_by != ConcurrencyLimit::none) section.sentences.push_back("Limited by " + std::string(name_of(c.limited_by)) + ".");
    return section;
}

ReportSection by_context(const ConcurrencyPlan& c) {
    ReportSection section{"Requests at once by context", {}, {}};
    section.table.header = {"tokens a request", "full length", "steady state"};
    for (const ConcurrencyByContext& row : c.by_context)
        section.table.rows.push_back({{with_commas(row.context_tokens.count()), with_commas(row.full_length), fixed(row.steady_state, 1)}, 0, false});
    return section;
}

ReportSection throughput(const Plan& plan) {
    const ThroughputPlan& t = plan.throughput;
    ReportSection section{"Throughput that nothing can exceed, tokens/s, whole deployment", {}, {}};
    const auto row = [&](const char* name, const std::optional<TokensPerSecond>& value) {
        if (value) section.table.rows.push_back({{name, fixed(value->value, 0)}, 0, false});
    };
    row("decode", t.decode);
    row("prefill", t.prefill);
    row("output", t.output);
    if (!t.limited_by.empty()) section.sentences.push_back("Limited by " + std::string(t.limited_by) + (t.limited_by == "admission" ? ": one more request at once would still raise it." : "."));
    if (t.hardware)
        section.sentences.push_back("If memory held any number of requests, the hardware could give out up to " + fixed(t.hardware->output_tokens_per_second.value, 0) + " output tokens/s (limited by " +
                                    std::string(t.hardware->limited_by) + "), nine tenths of it at " + with_commas(std::llround(t.hardware->concurrency)) + " at once.");
    if (t.expected_output_tokens_per_second) {
        const auto& expected = *t.expected_output_tokens_per_second;
        section.sentences.push_back("Expected: " + fixed(expected.expected, 0) + " output tokens/s (" + fixed(expected.low, 0) + " to " + fixed(expected.high, 0) + ", an estimate).");
    }
    if (plan.latency.ttft_seconds) section.sentences.push_back("Time to first token: at least " + duration(plan.latency.ttft_seconds->low) + ", expected " + duration(plan.latency.ttft_seconds->expected) + "; waiting in a queue comes on top.");
    if (plan.latency.itl_seconds) section.sentences.push_back("Inter-token latency: at least " + duration(plan.latency.itl_seconds->low) + ", expected " + duration(plan.latency.itl_seconds->expected) + ".");
    for (const ThroughputChange& change : t.changes)
        section.sentences.push_back("From " + fixed(change.concurrency, 0) + " requests at once " + std::string(change.to) + " takes the most time, below it " + std::string(change.from) + ".");
    if (t.host_tier)
        section.sentences.push_back("All hits from the host tier: " + duration(t.host_tier->prefill_seconds_saved) + " of prefill saved a request, " + duration(t.host_tier->host_link_seconds) +
                                    " of host link spent, " + (t.host_tier->output_change_per_second < 0 ? "" : "+") + fixed(t.host_tier->output_change_per_second, 0) + " output tokens/s expected.");
    return section;
}

}  // namespace

std::vector<ReportSection> rate_sections(const Scenario& scenario, const Plan& plan) {
    std::vector<ReportSection> sections;
    if (plan.concurrency.full_length || plan.concurrency.steady_state) sections.push_back(concurrency(scenario, plan));
    if (!plan.concurrency.by_context.empty()) sections.push_back(by_context(plan.concurrency));
    if (plan.throughput.output || plan.throughput.decode) sections.push_back(throughput(plan));
    return sections;
}

}  // namespace kvplan::exporting
