#include <cmath>

#include "planner/export/log_json.hpp"
#include "units/ascii.hpp"
#include "units/format.hpp"

namespace kvplan::exporting {

namespace {

std::string value_text(std::optional<double> value, logs::RowUnit unit) {
    if (!value) return "-";
    if (unit == logs::RowUnit::bytes) return binary_size(Bytes{static_cast<std::int64_t>(std::llround(*value))});
    if (unit == logs::RowUnit::bytes_per_token) return shortest(*value, 1) + " B";
    return with_commas(static_cast<std::int64_t>(std::llround(*value)));
}

std::string words(std::string_view field) {
    if (field == "hicache.bytes_per_rank") return "host pools of a rank";
    constexpr std::string_view kUnit = "_bytes";
    field.remove_prefix(field.find('.') + 1);
    if (field.size() > kUnit.size() && field.ends_with(kUnit)) field.remove_suffix(kUnit.size());
    return as_words(field);
}

std::string cause_sentence(const logs::Gap& gap) {
    std::string text = words(gap.field) + ": ";
    for (const logs::CauseText& cause : logs::causes())
        if (cause.code == gap.cause) text += cause.meaning;
    for (std::size_t i = 0; i < gap.evidence.size(); ++i) text += (i == 0 ? " (" : "; ") + gap.evidence[i];
    return text + (gap.evidence.empty() ? "" : ")");
}

ReportSection figures_section(const logs::StartAnalysis& analysis) {
    ReportSection section;
    section.title = "Observed and planned";
    section.table.header = {"", "observed", "planned", "difference"};
    for (const logs::FigureRow& row : analysis.comparison->rows) {
        std::string difference = "-";
        if (row.observed && row.planned && *row.planned != 0) {
            const double share = (*row.observed - *row.planned) / *row.planned;
            difference = (share >= 0 ? "+" : "") + percent(share);
        }
        section.table.rows.push_back({{words(row.field), value_text(row.observed, row.unit), value_text(row.planned, row.unit), difference}, 0, false});
    }
    for (const logs::Gap& gap : analysis.comparison->gaps) section.sentences.push_back(cause_sentence(gap));
    return section;
}

ReportSection observed_section(const logs::StartAnalysis& analysis) {
    ReportSection section;
    section.title = "Observed";
    const logs::Observed& seen = analysis.seen;
    const auto add = [&](const char* name, std::optional<double> value, logs::RowUnit unit) {
        if (value) section.table.rows.push_back({{name, value_text(value, unit)}, 0, false});
    };
    const auto of = [](const std::optional<Bytes>& b) { return b ? std::optional(static_cast<double>(b->count())) : std::nullopt; };
    const auto count = [](const std::optional<std::int64_t>& n) { return n ? std::optional(static_cast<double>(*n)) : std::nullopt; };
    add("free before load", of(seen.free_before_load), logs::RowUnit::bytes);
    add("weights", of(seen.weights), logs::RowUnit::bytes);
    add("KV pool", of(seen.kv_pool), logs::RowUnit::bytes);
    add("state pool", of(seen.state_pool), logs::RowUnit::bytes);
    add("max total num tokens", count(seen.max_total_num_tokens), logs::RowUnit::tokens);
    add("max running requests", count(seen.max_running_requests), logs::RowUnit::requests);
    add("left after pools", of(seen.left_after_pools), logs::RowUnit::bytes);
    add("left after graphs", of(seen.left_after_graphs), logs::RowUnit::bytes);
    add("host pools of a rank", of(seen.host_bytes_per_rank), logs::RowUnit::bytes);
    if (!analysis.not_planned.empty()) section.sentences.push_back("Not compared with a plan: " + analysis.not_planned + ".");
    return section;
}

std::string pair(std::optional<double> mean, std::optional<double> most, int decimals = 1) {
    return mean ? fixed(*mean, decimals) + " (at most " + fixed(most.value_or(*mean), decimals) + ")" : "-";
}

ReportSection serving_section(const logs::StartRecord& start, const logs::StartAnalysis& analysis) {
    const ServingSummary s = summarize(start);
    ReportSection section;
    section.title = "Serving";
    auto& rows = section.table.rows;
    const auto add = [&rows](const char* name, std::optional<double> mean, std::optional<double> most, int decimals = 1) {
        if (mean) rows.push_back({{name, pair(mean, most, decimals)}, 0, false});
    };
    add("running requests", s.running_mean, s.running_max);
    add("queued requests", s.queued_mean, s.queued_max);
    add("token usage", s.token_usage_mean, s.token_usage_max, 2);
    if (s.hit_rate) rows.push_back({{"prefix hit rate", percent(*s.hit_rate)}, 0, false});
    add("output tokens/s", s.output_tokens_per_second_mean, s.output_tokens_per_second_max);
    if (s.accept_length) rows.push_back({{"accepted tokens a step", fixed(*s.accept_length, 2)}, 0, false});
    if (s.retraction_events > 0) section.sentences.push_back(fixed(s.retracted_requests, 0) + " requests were taken back in " + fixed(s.retraction_events, 0) + " retractions: the pool is too small for what runs at once.");
    if (s.preemptions > 0) section.sentences.push_back(fixed(s.preemptions, 0) + " preemptions: the pool is too small for what runs at once.");
    if (s.idle_usage > 0.02) section.sentences.push_back("Token usage was " + fixed(s.idle_usage, 2) + " while nothing ran: this version counts cached prefixes as used; they can be evicted and are no leak.");
    if (s.schedulers > 1) section.sentences.push_back("Requests and throughput are sums over " + std::to_string(s.schedulers) + " schedulers; usage is their mean.");
    if (analysis.ceiling && s.output_tokens_per_second_max) {
        const logs::ServedCeiling& c = *analysis.ceiling;
        section.sentences.push_back("No server of this kind decodes faster than " + with_commas(std::llround(c.decode_tokens_per_second)) + " tokens/s with " + fixed(c.running, 0) + " requests of " +
                                    with_commas(std::llround(c.context_tokens)) + " tokens at once: the best line reached " + percent(*s.output_tokens_per_second_max / c.decode_tokens_per_second) + " of that.");
    }
    return section;
}

ReportSection outcome_section(const logs::StartAnalysis& analysis) {
    ReportSection section;
    section.title = "Diagnosis";
    const logs::DiagnosisText* text = logs::diagnosis_text(analysis.outcome.code);
    section.sentences.push_back(text != nullptr ? diagnosis_sentence(text->meaning, analysis.outcome.values) : analysis.outcome.code);
    for (const std::string& line : analysis.outcome.evidence) section.sentences.push_back("Seen: " + line.substr(0, 240));
    if (text != nullptr) section.sentences.push_back(diagnosis_sentence(text->advice, analysis.outcome.values));
    return section;
}

ReportSection remedy_section(const logs::CheckedCommand& remedy) {
    ReportSection section{"Corrected command", {}, {"It was planned again with the measured memory, and fits."}, {remedy.command}};
    for (const auto& change : remedy.changes) section.sentences.push_back(change.field + (change.from.empty() ? " added: " : " " + change.from + " -> ") + change.to + ".");
    return section;
}

std::string title_of(const logs::StartRecord& start, std::size_t index, std::size_t count) {
    std::string title = count > 1 ? "Start " + std::to_string(index + 1) + " of " + std::to_string(count) + ": " : "";
    title += start.engine() == EngineKind::sglang ? "SGLang" : "vLLM";
    if (!start.configuration.version.empty()) title += " " + start.configuration.version;
    return title;
}

}  // namespace

Report log_report(const logs::LogRecord& log, const std::vector<logs::StartAnalysis>& starts, bool verbose) {
    Report report;
    report.title = "Server log";
    std::size_t failed = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const logs::StartAnalysis& analysis = starts[i];
        const bool bad = !analysis.outcome.code.empty() && analysis.outcome.code != "incomplete";
        failed += bad ? 1 : 0;
        ReportSection head{title_of(log.starts[i], i, starts.size()), {}, {}};
        if (analysis.scenario && analysis.gpu_is_guessed) head.sentences.push_back("The GPU is taken to be " + analysis.scenario->hardware.gpu_name + " by its memory; --gpu names another.");
        if (log.starts[i].configuration.version.empty() && analysis.scenario && !analysis.scenario->engine.version_text.empty())
            head.sentences.push_back("The log names no version; its wording and date stand for the rules of " + analysis.scenario->engine.version_text + ".");
        if (verbose && !analysis.settings_without_field.empty()) head.sentences.push_back(std::to_string(analysis.settings_without_field.size()) + " settings have no bearing on the plan.");
        report.sections.push_back(std::move(head));
        if (!analysis.outcome.code.empty()) report.sections.push_back(outcome_section(analysis));
        if (analysis.remedy) report.sections.push_back(remedy_section(*analysis.remedy));
        report.sections.push_back(analysis.comparison ? figures_section(analysis) : observed_section(analysis));
        if (!log.starts[i].serving.empty()) report.sections.push_back(serving_section(log.starts[i], analysis));
    }
    report.tone = failed > 0 ? Tone::bad : Tone::good;
    report.verdict = failed > 0 ? std::to_string(failed) + " of " + std::to_string(starts.size()) + " starts failed" : std::to_string(starts.size()) + (starts.size() == 1 ? " start" : " starts");
    return report;
}

}  // namespace kvplan::exporting
