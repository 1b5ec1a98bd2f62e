#include <algorithm>
#include <cmath>

#include "planner/export/trace_export.hpp"
#include "units/format.hpp"

namespace kvplan::exporting {

namespace {

constexpr int kBarWidth = 40;

std::string tokens_text(const std::optional<std::int64_t>& tokens) { return tokens ? with_commas(*tokens) : "no limit"; }

std::string seconds_text(const std::optional<double>& seconds) { return seconds ? duration(*seconds) : "unknown"; }

ReportRow length_row(const std::string& name, const trace::LengthFacts& f) {
    return {{name, fixed(f.mean, 1), with_commas(f.p50), with_commas(f.p90), with_commas(f.p95), with_commas(f.p99), with_commas(f.max),
             fixed(f.cv2, 2)}};
}

std::vector<ReportSection> workload_sections(const trace::Analysis& a) {
    const trace::WorkloadFacts& w = a.workload;
    ReportSection lengths{"Lengths, tokens", {{"", "mean", "p50", "p90", "p95", "p99", "max", "c^2"}, {}}, {}};
    lengths.table.rows.push_back(length_row("prompt", w.input));
    lengths.table.rows.push_back(length_row("output", w.output));
    lengths.sentences.push_back("Correlation of prompt and output " + fixed(w.correlation, 2) + "; a request in flight holds " + fixed(w.mean_footprint, 0) +
                                " tokens on average (deviation " + fixed(w.footprint_deviation, 0) + ") when nothing is shared.");
    ReportSection facts{"Requests", {}, {}};
    const auto row = [&](const std::string& name, const std::string& value) { facts.table.rows.push_back({{name, value}}); };
    row("requests", with_commas(w.requests));
    if (w.span_seconds) row("span", duration(*w.span_seconds));
    if (w.requests_per_second) row("rate", fixed(*w.requests_per_second, 3) + " requests/s");
    row("prompt tokens", with_commas(w.input_tokens));
    row("output tokens", with_commas(w.output_tokens));
    if (a.curve) {
        row("block", with_commas(a.block_tokens) + " tokens");
        row("block references", with_commas(a.curve->blocks));
        row("distinct blocks", with_commas(a.distinct_blocks));
        row("prompt tokens seen before", percent(w.reusable_share.value_or(0.0)));
        row("common prefix of most", with_commas(w.common_prefix_tokens.value_or(0)) + " tokens");
    }
    if (w.logged_hit_rate) row("hit rate in the log", percent(*w.logged_hit_rate));
    const trace::ReadingFacts& r = a.reading;
    if (r.faulty_lines > 0) facts.sentences.push_back(with_commas(r.faulty_lines) + " lines could not be read and are left out.");
    if (r.sorted) facts.sentences.push_back(with_commas(r.disordered) + " requests were earlier than the one before; the trace was put in order of time.");
    if (r.ties > 0) facts.sentences.push_back(with_commas(r.ties) + " requests arrived at the same time as the one before; they keep the order of the lines.");
    if (r.short_of_ids > 0) facts.sentences.push_back(with_commas(r.short_of_ids) + " prompts have fewer ids than blocks; the rest of them never hits.");
    return {facts, lengths};
}

ReportSection curve_section(const trace::Analysis& a) {
    ReportSection section{"Hit rate against cache capacity", {{"tokens", "blocks", "hit tokens", "of tokens", "of blocks", "per request", ""}, {}}, {}};
    for (const trace::CurvePoint& p : a.points)
        section.table.rows.push_back({{tokens_text(p.tokens), p.blocks ? with_commas(*p.blocks) : "", with_commas(p.hits.tokens), percent(p.hits.token_rate, 2),
                                       percent(p.hits.block_rate, 2), percent(p.hits.request_rate, 2), bar(p.hits.token_rate, kBarWidth)}});
    section.sentences.push_back("Exact for a cache that keeps the most recent blocks, leaves first. Of tokens: hit tokens / prompt tokens; of blocks: hit blocks / blocks; "
                                "per request: mean over requests of hit blocks / blocks. The bars show the rate of tokens.");
    if (a.sample) {
        double error = 0.0;
        for (const trace::CurvePoint& p : a.points) error = std::max(error, p.error.value_or(0.0));
        section.sentences.push_back("Estimated from " + with_commas(a.workload.requests) + " of " + with_commas(a.sample->requests) + " requests (whole prefix trees); the rates of tokens lie within " +
                                    percent(error, 2) + " points of these in 95 of 100 samples.");
    }
    if (a.curve->warmup_requests > 0) section.sentences.push_back("The first " + with_commas(a.curve->warmup_requests) + " requests fill the cache and are not counted.");
    return section;
}

ReportSection tier_section(const trace::Analysis& a) {
    ReportSection section{"Two tiers, " + std::string(trace::name_of(*a.policy)), {{"GPU tokens", "host tokens", "GPU", "host", "storage", "total", "blocks loaded", "blocks written"}, {}}, {}};
    for (const trace::TierPoint& p : a.tiers) {
        const trace::TierResult& r = p.result;
        section.table.rows.push_back({{with_commas(p.sizes.device_blocks * a.block_tokens), with_commas(p.sizes.host_blocks * a.block_tokens), percent(r.device_rate(), 2),
                                       percent(r.rate(r.host_hit_tokens), 2), p.sizes.storage ? percent(r.rate(r.storage_hit_tokens), 2) : "none", percent(r.total_rate(), 2),
                                       with_commas(r.host_hit_blocks), with_commas(r.written_blocks)}});
    }
    return section;
}

std::string gb_text(const trace::HostSize& size) { return size.hicache_size_gb ? with_commas(*size.hicache_size_gb) + " GB per rank" : "no limit"; }

std::string verdict_text(const trace::Recommendation& r) {
    const std::string unlimited = percent(r.unlimited_rate);
    if (!r.device_rate)
        return "The knee lies at " + with_commas(r.knee_tokens) + " tokens (" + percent(r.knee_rate) + "); without a limit " + unlimited + " of the prompt tokens would hit.";
    std::string text = "Your GPU pool alone gives " + percent(*r.device_rate);
    if (r.largest_safe) text += ", the largest safe host pool (" + gb_text(*r.largest_safe) + ") gives " + percent(r.largest_safe->hit_rate);
    text += ", unlimited would give " + unlimited + ".";
    if (r.reason == "recommended") return text + " Recommended: --hicache-size " + std::to_string(r.recommended->hicache_size_gb.value_or(0)) + " (" + percent(r.recommended->hit_rate) + ").";
    if (r.reason == "no_gain") return text + " A host cache cannot pay: the GPU pool already gives nearly all there is.";
    if (r.reason == "no_room") return text + " No safe host pool is larger than the GPU pool, so it would add nothing.";
    if (r.reason == "small_gain") return text + " A host cache does not pay: the gain lies beyond any safe size.";
    return text + " Nothing is known of the host's memory, so no size can be called safe (--host-ram, --host-available).";
}

ReportSection recommendation_section(const trace::Recommendation& r) {
    ReportSection section{"Host cache", {}, {}};
    if (r.device_tokens)
        section.sentences.push_back(with_commas(r.device_tokens->count()) + " tokens of the GPU pool hold prompts" +
                                    (r.in_flight_requests ? " beside what " + fixed(*r.in_flight_requests, 1) + " running requests generate" : "") +
                                    "; if running requests shared nothing, the GPU pool would give " + percent(r.device_rate_low.value_or(0.0), 2) + ".");
    if (r.sizes.empty()) return section;
    section.table.header = {"--hicache-size", "host tokens", "hit rate", "gained", "prefill saved", "host link", "TTFT", "", ""};
    for (const trace::HostSize& s : r.sizes)
        section.table.rows.push_back({{gb_text(s), with_commas(s.host_tokens.count()), percent(s.hit_rate, 2), percent(s.gained, 2), fixed(s.prefill_saved_tokens, 0) + " tokens",
                                       seconds_text(s.link_seconds), s.ttft_change_seconds ? (*s.ttft_change_seconds < 0 ? "-" : "+") + duration(std::abs(*s.ttft_change_seconds)) : "unknown",
                                       s.safe ? "safe" : "not known safe", bar(s.hit_rate, kBarWidth / 2)}, 0, r.recommended && s.hicache_size_gb == r.recommended->hicache_size_gb});
    section.sentences.push_back("Policy " + std::string(trace::name_of(r.policy)) + ". Prefill saved, host link and TTFT are per request and beside the GPU pool alone; the TTFT figure takes prefill at its ceiling and no overlap of the reload, so the real change is better.");
    return section;
}

}  // namespace

std::string bar(double share, int width) {
    static const char* const kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const int eighths = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * width * 8));
    std::string text;
    for (int i = 0; i < eighths / 8; ++i) text += "█";
    return text + kEighths[eighths % 8];
}

Report trace_report(const trace::Analysis& a) {
    Report report{"Request trace: " + with_commas(a.workload.requests) + " requests", "", Tone::good, workload_sections(a)};
    if (!a.curve) {
        report.sections.front().sentences.push_back("The trace has no block ids: lengths and rates are known, hit rates are not.");
        return report;
    }
    report.sections.push_back(curve_section(a));
    if (a.policy) report.sections.push_back(tier_section(a));
    if (a.recommendation) {
        report.verdict = verdict_text(*a.recommendation);
        if (a.recommendation->device_rate) report.sections.push_back(recommendation_section(*a.recommendation));
        if (a.recommendation->device_rate && a.recommendation->reason != "recommended") report.tone = Tone::unsure;
    }
    return report;
}

}  // namespace kvplan::exporting
