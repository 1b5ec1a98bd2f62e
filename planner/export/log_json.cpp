#include "planner/export/log_json.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "planner/export/finding_text.hpp"
#include "planner/export/json.hpp"

namespace kvplan::exporting {

namespace {

using nlohmann::ordered_json;

ordered_json bytes(const std::optional<Bytes>& b) { return b ? ordered_json(b->count()) : ordered_json(); }
template <class T>
ordered_json maybe(const std::optional<T>& value) { return value ? ordered_json(*value) : ordered_json(); }
ordered_json number(const std::optional<double>& x) {
    if (!x) return {};
    return *x == std::floor(*x) && std::abs(*x) < 9e15 ? ordered_json(static_cast<std::int64_t>(*x)) : ordered_json(*x);
}

void put(ordered_json& document, std::string_view dotted, ordered_json value) {
    const std::size_t dot = dotted.find('.');
    document[std::string(dotted.substr(0, dot))][std::string(dotted.substr(dot + 1))] = std::move(value);
}

ordered_json observed_json(const logs::Observed& seen) {
    ordered_json host_pools = ordered_json::array();
    for (const logs::HostPoolLine& pool : seen.host_pools)
        host_pools.push_back({{"name", pool.label}, {"bytes_per_rank", std::llround(pool.gb * static_cast<double>(kGB))}, {"tokens", number(pool.tokens)}});
    ordered_json o;
    o["weights"] = {{"bytes_per_rank", bytes(seen.weights)}, {"draft_bytes", bytes(seen.draft_weights)}};
    o["kv_cache"] = {{"bytes_per_token", number(seen.bytes_per_token)}, {"dtype", maybe(seen.kv_dtype)}};
    o["gpu"] = {{"total_bytes", bytes(seen.total)},
                {"free_before_load_bytes", bytes(seen.free_before_load)},
                {"free_after_load_bytes", bytes(seen.free_after_load)},
                {"budget_bytes", bytes(seen.requested)},
                {"weights_bytes", bytes(seen.weights)},
                {"kv_pool_bytes", bytes(seen.kv_pool)},
                {"draft_kv_pool_bytes", bytes(seen.draft_kv_pool)},
                {"state_pool_bytes", bytes(seen.state_pool)},
                {"graphs_bytes", bytes(seen.graphs)},
                {"activation_bytes", bytes(seen.activation)},
                {"non_torch_bytes", bytes(seen.non_torch)},
                {"left_after_pools_bytes", bytes(seen.left_after_pools)},
                {"left_after_graphs_bytes", bytes(seen.left_after_graphs)},
                {"mem_fraction", {{"value", number(seen.fraction)}, {"implied", number(seen.total ? std::nullopt : logs::implied_fraction(seen))}}}};
    o["capacity"] = {{"max_total_num_tokens", maybe(seen.max_total_num_tokens)},
                     {"swa_tokens", maybe(seen.swa_tokens)},
                     {"state_slots", maybe(seen.state_slots)},
                     {"max_running_requests", maybe(seen.max_running_requests)},
                     {"gpu_blocks", maybe(seen.gpu_blocks)},
                     {"context_length", maybe(seen.context_length)},
                     {"max_concurrency_full_context", number(seen.max_concurrency_full_context)}};
    o["hicache"] = {{"bytes_per_rank", bytes(seen.host_bytes_per_rank)}, {"pools", host_pools}};
    o["ranks"] = seen.ranks;
    return o;
}

ordered_json gaps_json(const std::vector<logs::Gap>& gaps) {
    ordered_json list = ordered_json::array();
    for (const logs::Gap& gap : gaps)
        list.push_back({{"field", std::string(gap.field)}, {"observed", number(gap.observed)}, {"planned", number(gap.planned)}, {"cause", gap.cause}, {"evidence", gap.evidence}});
    return list;
}

ordered_json outcome_json(const logs::StartAnalysis& analysis) {
    const logs::Outcome& outcome = analysis.outcome;
    const logs::DiagnosisText* text = logs::diagnosis_text(outcome.code);
    ordered_json o = {{"started", maybe(outcome.started)},
                      {"diagnosis", text != nullptr ? ordered_json(diagnosis_sentence(text->meaning, outcome.values)) : ordered_json()},
                      {"code", outcome.code.empty() ? ordered_json() : ordered_json(outcome.code)},
                      {"advice", text != nullptr ? ordered_json(diagnosis_sentence(text->advice, outcome.values)) : ordered_json()},
                      {"evidence", outcome.evidence}};
    ordered_json changes = ordered_json::array();
    if (analysis.remedy)
        for (const auto& change : analysis.remedy->changes) changes.push_back({{"flag", change.field}, {"from", change.from}, {"to", change.to}});
    o["remedy"] = analysis.remedy ? ordered_json{{"command", analysis.remedy->command}, {"changed", changes}} : ordered_json();
    return o;
}

ordered_json configuration_json(const logs::LoggedConfiguration& configuration) {
    ordered_json o = ordered_json::object();
    for (const logs::PythonMember& member : configuration.members) o[member.key] = member.value.text;
    return o;
}

ordered_json start_json(const logs::StartRecord& start, const logs::StartAnalysis& analysis) {
    ordered_json o;
    o["scenario"] = analysis.scenario ? scenario_json(*analysis.scenario) : ordered_json();
    o["settings"] = configuration_json(start.configuration);
    o["observed"] = observed_json(analysis.seen);
    ordered_json planned;
    if (analysis.comparison) {
        const Plan& plan = analysis.comparison->planned;
        for (const logs::FigureRow& row : analysis.comparison->rows) put(planned, row.field, number(row.planned));
        put(planned, "weights.bytes_per_rank", plan.weights.bytes_per_rank.expected.count());
        put(planned, "kv_cache.dtype", std::string(plan.kv_cache.dtype));
        planned["rule_set"] = plan.rule_set;
    }
    o["planned"] = planned;
    o["not_planned"] = analysis.not_planned.empty() ? ordered_json() : ordered_json(analysis.not_planned);
    o["gaps"] = analysis.comparison ? gaps_json(analysis.comparison->gaps) : ordered_json::array();
    o["outcome"] = outcome_json(analysis);
    o["startup_seconds"] = start.first_second && start.ready_second ? ordered_json(*start.ready_second - *start.first_second) : ordered_json();
    return o;
}

ordered_json serving_json(const logs::StartRecord& start, const logs::StartAnalysis& analysis) {
    const ServingSummary s = summarize(start);
    if (s.empty) return nullptr;
    const auto ceiling_value = analysis.ceiling ? std::optional(analysis.ceiling->decode_tokens_per_second) : std::nullopt;
    return {{"schedulers", s.schedulers},
            {"running_requests", {{"mean", number(s.running_mean)}, {"max", number(s.running_max)}}},
            {"queued_requests", {{"mean", number(s.queued_mean)}, {"max", number(s.queued_max)}}},
            {"token_usage", {{"mean", number(s.token_usage_mean)}, {"max", number(s.token_usage_max)}, {"swa_max", number(s.swa_usage_max)}, {"state_max", number(s.state_usage_max)}, {"idle_max", s.idle_usage}}},
            {"hit_rate", number(s.hit_rate)},
            {"external_hit_rate", number(s.external_hit_rate)},
            {"retractions", s.retraction_events},
            {"retracted_requests", s.retracted_requests},
            {"preemptions", s.preemptions},
            {"output_tokens_per_second", {{"mean", number(s.output_tokens_per_second_mean)}, {"max", number(s.output_tokens_per_second_max)}, {"ceiling", number(ceiling_value)},
                                          {"share_of_ceiling", ceiling_value && s.output_tokens_per_second_max && *ceiling_value > 0 ? ordered_json(*s.output_tokens_per_second_max / *ceiling_value) : ordered_json()}}},
            {"input_tokens_per_second", number(s.input_tokens_per_second_mean)},
            {"accept_length", number(s.accept_length)}};
}

void raise(std::optional<double>& most, const logs::Series& series) {
    if (series.count > 0) most = std::max(most.value_or(series.most), series.most);
}

void sum_means(std::optional<double>& sum, const logs::Series& series) {
    if (const auto mean = series.mean()) sum = sum.value_or(0) + *mean;
}

}  // namespace

ServingSummary summarize(const logs::StartRecord& start) {
    ServingSummary s;
    double new_tokens = 0, cached = 0;
    logs::Series usage, hits, external, accepted;
    for (const auto& [dp, serving] : start.serving) {
        s.empty = false;
        ++s.schedulers;
        // Requests and throughput add up over schedulers; shares do not.
        sum_means(s.running_mean, serving.running);
        sum_means(s.queued_mean, serving.queued);
        sum_means(s.output_tokens_per_second_mean, serving.gen_throughput);
        sum_means(s.input_tokens_per_second_mean, serving.input_throughput);
        if (serving.running.count > 0) s.running_max = s.running_max.value_or(0) + serving.running.most;
        if (serving.queued.count > 0) s.queued_max = s.queued_max.value_or(0) + serving.queued.most;
        if (serving.gen_throughput.count > 0) s.output_tokens_per_second_max = s.output_tokens_per_second_max.value_or(0) + serving.gen_throughput.most;
        if (const auto mean = serving.token_usage.mean()) usage.add(*mean);
        if (const auto mean = serving.accept_length.mean()) accepted.add(*mean);
        if (serving.hit_percent.count > 0) hits.add(serving.hit_percent.last / 100);
        if (serving.external_hit_percent.count > 0) external.add(serving.external_hit_percent.last / 100);
        raise(s.token_usage_max, serving.token_usage);
        raise(s.swa_usage_max, serving.swa_usage);
        raise(s.state_usage_max, serving.state_usage);
        new_tokens += serving.new_tokens;
        cached += serving.cached_tokens;
        s.retraction_events += serving.retraction_events;
        s.retracted_requests += serving.retracted;
        s.preemptions += serving.preemptions;
        s.idle_usage = std::max(s.idle_usage, serving.idle_usage);
    }
    s.token_usage_mean = usage.mean();
    s.accept_length = accepted.mean();
    s.hit_rate = new_tokens + cached > 0 ? std::optional(cached / (new_tokens + cached)) : hits.mean();
    s.external_hit_rate = external.mean();
    return s;
}

std::string diagnosis_sentence(std::string_view pattern, const std::vector<FindingValue>& values) {
    std::string text, clause;
    bool in_clause = false, known = true;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern.substr(i, 2) == "[[" || pattern.substr(i, 2) == "]]") {
            if (in_clause && known) text += clause;
            in_clause = pattern[i] == '[';
            known = true;
            clause.clear();
            ++i;
        } else if (pattern[i] == '{') {
            const std::size_t close = pattern.find('}', i);
            const std::string_view name = pattern.substr(i + 1, close - i - 1);
            const auto value = std::find_if(values.begin(), values.end(), [&](const FindingValue& v) { return v.name == name; });
            known = known && value != values.end();
            (in_clause ? clause : text) += value == values.end() ? "?" : text_of(*value);
            i = close;
        } else {
            (in_clause ? clause : text) += pattern[i];
        }
    }
    return text;
}

ordered_json log_json(const logs::LogRecord& log, const std::vector<logs::StartAnalysis>& starts) {
    ordered_json document;
    document["schema_version"] = kSchemaVersion;
    const logs::StartRecord* last = log.starts.empty() ? nullptr : &log.starts.back();
    document["engine"] = last == nullptr ? ordered_json() : ordered_json(last->engine() == EngineKind::sglang ? "sglang" : "vllm");
    document["version"] = ordered_json();
    if (last != nullptr) {
        const std::string version = !last->configuration.version.empty() ? last->configuration.version : logs::version_by_wording(*last);
        if (!version.empty()) document["version"] = version;
    }
    document["version_source"] = last == nullptr ? ordered_json() : ordered_json(last->configuration.version.empty() ? "wording and date of the log" : "printed");
    document["lines"] = log.lines;
    document["known_lines"] = log.known_lines;
    document["starts"] = ordered_json::array();
    ordered_json serving;
    for (std::size_t i = 0; i < starts.size() && i < log.starts.size(); ++i) {
        document["starts"].push_back(start_json(log.starts[i], starts[i]));
        if (auto of_start = serving_json(log.starts[i], starts[i]); !of_start.is_null()) serving = std::move(of_start);
    }
    document["serving"] = serving.is_null() ? ordered_json::object() : serving;
    return document;
}

}  // namespace kvplan::exporting
