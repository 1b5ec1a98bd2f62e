#include "planner/export/simulate_export.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "units/format.hpp"

namespace kvplan::exporting {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kChartColumns = 72;

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json percentiles(const simulate::Percentiles& p) { return {{"mean", p.mean}, {"p50", p.p50}, {"p95", p.p95}, {"p99", p.p99}}; }

double seconds(std::int64_t us) { return static_cast<double>(us) / 1e6; }

double share(std::int64_t part, std::int64_t whole) { return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0; }

Json hit_rate(const SimulationStudy& s) {
    if (s.options.forest == nullptr) return nullptr;
    const simulate::Result& r = s.result;
    const double device = share(r.device_hit_tokens, r.prompt_tokens), host = share(r.host_hit_tokens, r.prompt_tokens);
    return {{"device", device}, {"host", host}, {"total", device + host}, {"prompt_tokens", r.prompt_tokens},
            {"device_hit_tokens", r.device_hit_tokens}, {"host_hit_tokens", r.host_hit_tokens}, {"host_written_tokens", r.host_written_tokens}};
}

/// One line of eight heights: the mean of each of the columns, from 0 to the largest.
std::string sparkline(const std::vector<double>& values) {
    static const char* const kHeights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const double most = values.empty() ? 0.0 : *std::max_element(values.begin(), values.end());
    const std::size_t columns = std::min(kChartColumns, values.size());
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) {
        const std::size_t first = c * values.size() / columns, last = (c + 1) * values.size() / columns;
        double sum = 0.0;
        for (std::size_t i = first; i < last; ++i) sum += values[i];
        const double mean = sum / static_cast<double>(last - first);
        line += kHeights[most > 0.0 ? std::min<std::size_t>(7, static_cast<std::size_t>(mean / most * 8.0)) : 0];
    }
    return line;
}

ReportSection timeline_section(const SimulationStudy& s) {
    ReportSection section{"Over time", {{"", "", "largest"}, {}}, {}};
    std::vector<double> running, queued, usage;
    for (const simulate::TimelinePoint& p : s.result.timeline) {
        running.push_back(static_cast<double>(p.running));
        queued.push_back(static_cast<double>(p.queued));
        usage.push_back(share(p.used_tokens, s.options.pool_tokens));
    }
    const auto row = [&](const char* name, const std::vector<double>& values, bool of_one) {
        const double most = *std::max_element(values.begin(), values.end());
        section.table.rows.push_back({{name, sparkline(values), of_one ? percent(most) : fixed(most, 0)}});
    };
    row("running", running, false);
    row("queued", queued, false);
    row("token usage", usage, true);
    return section;
}

ReportSection latency_section(const SimulationStudy& s) {
    ReportSection section{s.times_from == "ceilings" ? "Latency, from step times at the ceilings: lower bounds" : "Latency, from the step times given",
                          {{"", "mean", "p50", "p95", "p99"}, {}}, {}};
    const auto row = [&](const char* name, const std::optional<simulate::Percentiles>& p) {
        if (p) section.table.rows.push_back({{name, duration(p->mean), duration(p->p50), duration(p->p95), duration(p->p99)}});
    };
    row("time to first token", s.result.ttft_seconds);
    row("between tokens", s.result.itl_seconds);
    row("whole request", s.result.latency_seconds);
    return section;
}

ReportSection concurrency_section(const SimulationStudy& s) {
    const simulate::Result& r = s.result;
    ReportSection section{"Running requests", {{"", "mean", "p50", "p95", "p99"}, {}}, {}};
    section.table.rows.push_back({{"simulated, " + std::string(simulate::name_of(s.options.admission)), fixed(r.concurrency.mean, 2), fixed(r.concurrency.p50, 0),
                                   fixed(r.concurrency.p95, 0), fixed(r.concurrency.p99, 0)}, 0, true});
    const auto closed = [&](const char* name, const std::optional<double>& value) {
        if (value) section.table.rows.push_back({{name, fixed(*value, 2)}});
    };
    closed("formula: whole length reserved", s.full_length);
    closed("formula: mean, memory always full", s.steady_state);
    closed("formula: without retraction", s.retraction_free);
    closed("formula: the engine's admission", s.admission);
    return section;
}

}  // namespace

Json simulation_json(const SimulationStudy& s) {
    const simulate::Result& r = s.result;
    Json timeline = Json::array();
    for (const simulate::TimelinePoint& p : r.timeline)
        timeline.push_back({{"step", p.step}, {"time_seconds", s.options.times ? Json(seconds(p.time_us)) : Json(nullptr)}, {"running", p.running},
                            {"queued", p.queued}, {"token_usage", share(p.used_tokens, s.options.pool_tokens)}});
    Json latency = nullptr;
    if (r.ttft_seconds)
        latency = {{"basis", s.times_from}, {"ttft_seconds", percentiles(*r.ttft_seconds)}, {"itl_seconds", percentiles(*r.itl_seconds)},
                   {"request_seconds", percentiles(*r.latency_seconds)}};
    Json document{{"requests", r.requests},
                  {"warmup_requests", r.warmup_requests},
                  {"pools", s.pools},
                  {"requests_from", s.requests_from},
                  {"admission", simulate::name_of(s.options.admission)},
                  {"pool_tokens", s.options.pool_tokens},
                  {"page_size", s.options.page},
                  {"concurrency", percentiles(r.concurrency)},
                  {"retractions_per_request", r.retractions_per_request},
                  {"recomputed_tokens_per_request", r.recomputed_tokens_per_request},
                  {"token_usage", r.token_usage},
                  {"hit_rate", hit_rate(s)},
                  {"steps", {{"total", r.steps}, {"decode", r.decode_steps}, {"prefill", r.prefill_steps}}},
                  {"goodput",
                   {{"output_tokens_per_step", r.output_tokens_per_step},
                    {"requests_per_step", r.requests_per_step},
                    {"output_tokens_per_second", or_null(r.output_tokens_per_second)},
                    {"requests_per_second", or_null(r.requests_per_second)}}},
                  {"latency", latency},
                  {"refused", r.refused},
                  {"aborted", r.aborted},
                  {"formulas",
                   {{"full_length", or_null(s.full_length)},
                    {"steady_state", or_null(s.steady_state)},
                    {"retraction_free", or_null(s.retraction_free)},
                    {"admission", or_null(s.admission)}}}};
    if (!timeline.empty()) document["timeline"] = timeline;
    return document;
}

Report simulation_report(const SimulationStudy& s) {
    const simulate::Result& r = s.result;
    Report report{"Simulation of " + with_commas(r.requests) + " requests from " + s.requests_from + " on " + with_commas(s.options.pool_tokens) + " tokens",
                  fixed(r.concurrency.mean, 2) + " requests run at once on average." + (r.warmup_requests > 0 ? " The first " + with_commas(r.warmup_requests) + " requests fill the pool and are not measured." : ""), Tone::good, {concurrency_section(s)}};
    ReportSection facts{"Pool and scheduler", {}, {}};
    const auto row = [&](const std::string& name, const std::string& value) { facts.table.rows.push_back({{name, value}}); };
    row("token usage", percent(r.token_usage, 2));
    row("retractions per 1,000 requests", fixed(r.retractions_per_request * 1000.0, 1));
    row("tokens prefilled again per request", fixed(r.recomputed_tokens_per_request, 1));
    row("decode steps", with_commas(r.decode_steps));
    row("prefill steps", with_commas(r.prefill_steps));
    row("output tokens per step", fixed(r.output_tokens_per_step, 3));
    if (r.output_tokens_per_second) row("output tokens per second", fixed(*r.output_tokens_per_second, 1));
    if (r.requests_per_second) row("requests per second", fixed(*r.requests_per_second, 3));
    if (s.options.forest != nullptr) {
        row("hits on the GPU", percent(share(r.device_hit_tokens, r.prompt_tokens), 2));
        row("hits on the host", percent(share(r.host_hit_tokens, r.prompt_tokens), 2));
    }
    if (s.pools > 1) facts.sentences.push_back("One of the deployment's " + with_commas(s.pools) + " pools, to which requests are dealt in turn; all figures are of this one.");
    if (r.refused > 0) facts.sentences.push_back(with_commas(r.refused) + " requests can never fit and were refused.");
    if (r.aborted > 0) facts.sentences.push_back(with_commas(r.aborted) + " requests did not fit even alone and were given up.");
    if (!r.ttft_seconds) facts.sentences.push_back("Steps are counted, not timed: latencies need step times (--step-times).");
    report.sections.push_back(facts);
    if (r.ttft_seconds) report.sections.push_back(latency_section(s));
    if (!r.timeline.empty()) report.sections.push_back(timeline_section(s));
    return report;
}

std::string timeline_csv(const SimulationStudy& s) {
    std::string text = "step,time_seconds,running,queued,used_tokens,token_usage\n";
    for (const simulate::TimelinePoint& p : s.result.timeline) {
        text += std::to_string(p.step) + "," + (s.options.times ? Json(seconds(p.time_us)).dump() : std::string{}) + "," + std::to_string(p.running) + "," +
                std::to_string(p.queued) + "," + std::to_string(p.used_tokens) + "," + Json(share(p.used_tokens, s.options.pool_tokens)).dump() + "\n";
    }
    return text;
}

}  // namespace kvplan::exporting
