#include "planner/log/log_reader.hpp"

#include <algorithm>

#include "planner/log/start_lines.hpp"
#include "planner/log/text.hpp"

namespace kvplan::logs {

namespace {

constexpr std::size_t kClipped = 600;

bool is_serving(LineKind kind) {
    return kind == LineKind::prefill_batch || kind == LineKind::decode_batch || kind == LineKind::retraction || kind == LineKind::vllm_stats;
}

bool is_configuration(LineKind kind) {
    return kind == LineKind::server_args || kind == LineKind::vllm_config || kind == LineKind::vllm_arguments || kind == LineKind::vllm_version;
}

// A start that has come this far does not print its configuration or load its weights once more.
bool is_past_start(const StartRecord& start) { return start.ready || start.phase == Phase::serving || start.phase == Phase::sized; }

// A traceback shows lines of source: `raise RuntimeError(f"NCCL error: {error_str}")` is not the error itself.
bool is_source(std::string_view prefix) {
    if (prefix.empty() || (prefix.back() != '"' && prefix.back() != '\'')) return false;
    prefix.remove_suffix(1);
    if (!prefix.empty() && (prefix.back() == 'f' || prefix.back() == 'r')) prefix.remove_suffix(1);
    const std::size_t last = prefix.find_last_not_of(' ');
    return last == std::string_view::npos || prefix[last] == '(';
}

// Loading begins anew once the server was up; before that, another DP worker may still load when the first has its sizes.
bool is_restart(const StartRecord& start, const RankTag& tag) {
    if (start.ready || start.phase == Phase::serving) return true;
    if (start.phase != Phase::sized) return false;
    const auto rank = start.ranks.find(tag);
    return rank != start.ranks.end() && rank->second.max_tokens.has_value();
}

}  // namespace

void LogReader::feed(std::string_view piece) {
    log_.bytes += static_cast<std::int64_t>(piece.size());
    splitter_.feed(piece, [this](std::string_view line, bool complete) { take_line(line, complete); });
}

LogRecord LogReader::finish() {
    splitter_.finish([this](std::string_view line, bool complete) {
        take_line(line, complete);
        if (!log_.starts.empty()) log_.starts.back().ended_within_line = true;
    });
    LogRecord done = std::move(log_);
    log_ = {};
    if (!done.starts.empty() && done.starts.front().empty()) done.starts.erase(done.starts.begin());
    return done;
}

LogRecord read_log(std::string_view text) {
    LogReader reader;
    reader.feed(text);
    return reader.finish();
}

void LogReader::take_line(std::string_view raw, bool complete) {
    ++log_.lines;
    const std::string_view line = unwrapped(raw, buffer_);
    bool known = false;
    read_line(line, complete, [&](const Event& event) {
        known = true;
        take(event);
    });
    if (known) ++log_.known_lines;
    else if (in_traceback_) take_python_error(line);
}

void LogReader::take(const Event& event) {
    const LineKind kind = event.rule->kind;
    const LinePrefix prefix = read_prefix(event.prefix);
    if (is_configuration(kind)) {
        take_configuration(event);
        note_time(prefix, kind);
        return;
    }
    if (is_serving(kind)) {
        take_serving(event, prefix.rank.dp);
        return;
    }
    if (kind == LineKind::ready) {
        current().ready = true;
        note_time(prefix, kind);
        return;
    }
    if (kind == LineKind::traceback) {
        in_traceback_ = true;
        return;
    }
    if (kind == LineKind::failure || kind == LineKind::allocation_tried) {
        take_fault(event, prefix.rank);
        return;
    }
    const bool begins = kind == LineKind::init_begin || kind == LineKind::load_begin || kind == LineKind::load_end;
    if (begins && !log_.starts.empty() && is_restart(current(), prefix.rank)) begin_start();
    RankRecord& rank = rank_record(prefix.rank);
    if (take_sglang_start(event, rank) || take_vllm_start(event, rank)) note_wording(*event.rule);
    current().pinning = kind == LineKind::host_pool || kind == LineKind::offload_file;
    note_time(prefix, kind);
}

StartRecord& LogReader::current() {
    if (log_.starts.empty()) log_.starts.emplace_back();
    return log_.starts.back();
}

void LogReader::begin_start() {
    in_traceback_ = false;
    if (!log_.starts.empty() && log_.starts.back().empty()) return;
    if (log_.starts.size() >= kMostStarts) log_.starts.erase(log_.starts.begin());
    log_.starts.emplace_back();
}

RankRecord& LogReader::rank_record(const RankTag& tag) {
    auto& ranks = current().ranks;
    if (ranks.size() >= kMostRanks && ranks.find(tag) == ranks.end()) return ranks.begin()->second;
    return ranks[tag];
}

void LogReader::reach(Phase phase) { current().phase = std::max(current().phase, phase); }

void LogReader::note_time(const LinePrefix& prefix, LineKind kind) {
    StartRecord& start = current();
    if (prefix.day != 0) {
        if (start.first_day == 0) start.first_day = prefix.day;
        start.last_day = prefix.day;
    }
    if (!prefix.seconds) return;
    // A start over midnight is counted on.
    constexpr std::int64_t kDay = 86400;
    if (!start.first_second) start.first_second = prefix.seconds;
    if (kind == LineKind::ready && !start.ready_second)
        start.ready_second = *prefix.seconds < *start.first_second ? *prefix.seconds + kDay : *prefix.seconds;
}

void LogReader::note_wording(const LineRule& rule) {
    StartRecord& start = current();
    start.since = std::max(start.since, rule.since);
    if (rule.until.yyyymmdd == 0) return;
    if (start.until.yyyymmdd == 0 || rule.until < start.until) start.until = rule.until;
}

void LogReader::take_configuration(const Event& event) {
    const LineKind kind = event.rule->kind;
    const std::string_view text = event.text;
    // The version and the arguments come before the config line of the same start; data-parallel engines print it again.
    const bool engine_line = kind == LineKind::vllm_config;
    if (!log_.starts.empty()) {
        const StartRecord& start = current();
        const bool faulty = !start.faults.empty() || !start.ranks.empty();
        if (engine_line ? is_past_start(start) : (faulty || !start.configuration.empty() || is_past_start(start))) {
            if (!(kind == LineKind::vllm_arguments && start.ranks.empty() && start.faults.empty() && start.configuration.find("model") == nullptr)) begin_start();
        }
    }
    LoggedConfiguration& configuration = current().configuration;
    if (kind == LineKind::server_args) read_server_args(text, configuration);
    else if (engine_line) read_vllm_config(text, configuration);
    else if (kind == LineKind::vllm_arguments) read_vllm_arguments(text, configuration);
    else {
        configuration.engine = EngineKind::vllm;
        const std::string_view version = text_after(text, "version ", " ,");
        configuration.version = std::string(version.substr(0, 64));
    }
    if (configuration.engine == EngineKind::sglang && !event.complete) configuration.cut = true;
}

void LogReader::take_fault(const Event& event, const RankTag& tag) {
    if (in_traceback_ && is_source(event.prefix)) return;
    StartRecord& start = current();
    if (event.rule->kind == LineKind::allocation_tried) {
        // "Tried to allocate 970.00 MiB. GPU 0 has a total capacity of 94.50 GiB of which 676.81 MiB is free."
        if (start.faults.empty() || start.faults.back().code != "cuda_out_of_memory") return;
        for (const auto& [figure, gib] : allocation_figures(event.text)) start.faults.back().figures.emplace_back(figure, gib);
        return;
    }
    if (start.faults.size() >= kMostFaults) return;
    Fault fault;
    fault.code = std::string(event.rule->code);
    fault.text = std::string(event.text.substr(0, kClipped));
    fault.phase = start.ready ? Phase::serving : start.phase;
    fault.rank = tag;
    for (std::size_t i = 0; i < event.count; ++i) fault.figures.emplace_back(event.found[i].figure, event.found[i].value);
    for (const auto& figure : fault_figures(*event.rule, event.text)) fault.figures.push_back(figure);
    if (fault.code == "free_memory_below_fraction" && !start.configuration.engine) start.configuration.engine = EngineKind::vllm;
    start.faults.push_back(std::move(fault));
}

// "ValueError: …" ends a traceback. Before a known wording comes, an unknown error is still worth telling.
void LogReader::take_python_error(std::string_view line) {
    const std::size_t colon = line.find("Error: ");
    const std::size_t exception = line.find("Exception: ");
    const std::size_t at = std::min(colon, exception);
    if (at == std::string_view::npos) return;
    std::size_t begin = at;
    while (begin > 0 && (is_word(line[begin - 1]) || line[begin - 1] == '.')) --begin;
    in_traceback_ = false;
    StartRecord& start = current();
    if (start.faults.size() >= kMostFaults) return;
    Fault fault;
    fault.code = "exception";
    fault.text = std::string(line.substr(begin, kClipped));
    fault.phase = start.ready ? Phase::serving : start.phase;
    start.faults.push_back(std::move(fault));
}

void LogReader::take_serving(const Event& event, int dp) {
    StartRecord& start = current();
    start.ready = true;
    start.phase = Phase::serving;
    if (start.serving.size() >= kMostRanks && start.serving.find(dp) == start.serving.end()) return;
    ServingRecord& serving = start.serving[dp];
    const auto add = [&](Series& series, Figure figure, double scale = 1.0) {
        if (const auto value = event.get(figure)) series.add(*value * scale);
    };
    switch (event.rule->kind) {
        case LineKind::prefill_batch:
            ++serving.prefill_lines;
            serving.new_tokens += event.get(Figure::new_tokens).value_or(0);
            serving.cached_tokens += event.get(Figure::cached_tokens).value_or(0);
            add(serving.input_throughput, Figure::input_throughput);
            add(serving.queued, Figure::queued);
            break;
        case LineKind::decode_batch:
            ++serving.decode_lines;
            add(serving.running, Figure::running);
            add(serving.queued, Figure::queued);
            add(serving.tokens, Figure::tokens);
            add(serving.gen_throughput, Figure::gen_throughput);
            add(serving.accept_length, Figure::accept_length);
            break;
        case LineKind::retraction:
            serving.retraction_events += 1;
            serving.retracted += event.get(Figure::retracted).value_or(0);
            return;
        case LineKind::vllm_stats:
            if (!start.configuration.engine) start.configuration.engine = EngineKind::vllm;
            ++serving.decode_lines;
            add(serving.running, Figure::running);
            add(serving.queued, Figure::queued);
            add(serving.gen_throughput, Figure::gen_throughput);
            add(serving.input_throughput, Figure::prompt_throughput);
            add(serving.token_usage, Figure::usage_percent, 0.01);
            add(serving.hit_percent, Figure::hit_percent);
            add(serving.external_hit_percent, Figure::external_hit_percent);
            serving.preemptions += event.get(Figure::preemptions).value_or(0);
            break;
        default: return;
    }
    add(serving.token_usage, Figure::token_usage);
    add(serving.swa_usage, Figure::swa_usage);
    add(serving.state_usage, Figure::state_usage);
    if (event.get(Figure::running).value_or(1) == 0 && event.get(Figure::queued).value_or(0) == 0 && serving.token_usage.count > 0 &&
        event.rule->kind != LineKind::prefill_batch)
        serving.idle_usage = std::max(serving.idle_usage, serving.token_usage.last);
}

}  // namespace kvplan::logs
