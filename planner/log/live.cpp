#include "planner/log/live.hpp"

#include <algorithm>

#include "models/json/document.hpp"
#include "planner/log/text.hpp"

namespace kvplan::logs {

namespace {

bool starts_with(std::string_view text, std::string_view head) { return text.substr(0, head.size()) == head; }

std::string plain(const json::Value& value) {
    if (const auto text = value.string()) return std::string(*text);
    if (const auto flag = value.boolean()) return *flag ? "true" : "false";
    return value.describe();
}

void set_number(Reading& reading, const json::Value& value) {
    if (const auto number = value.number()) reading = number;
}

void read_settings(const json::Value& root, LoggedConfiguration& configuration) {
    for (const auto& [key, value] : root.members()) {
        PythonValue setting;
        if (value.is_string()) setting.kind = PythonValue::Kind::text;
        else if (value.is_number()) setting.kind = PythonValue::Kind::number;
        else if (value.is_bool()) setting.kind = PythonValue::Kind::boolean;
        else continue;
        setting.text = plain(value);
        configuration.members.push_back({std::string(key), std::move(setting)});
    }
    if (const auto version = root["version"].string()) configuration.version = std::string(*version);
}

// {"weight": 71.07, "kvcache": 50.6, "token_capacity": 772800, "graph": 1.2 or {"prefill": 0.3, "decode": 1.1}, …}, GiB.
void read_memory(const json::Value& usage, RankRecord& rank) {
    set_number(rank.weights_gib, usage["weight"]);
    KvAllocation kv;
    set_number(kv.kv_gib, usage["kvcache"]);
    set_number(kv.tokens, usage["token_capacity"]);
    if (kv.kv_gib || kv.tokens) rank.kv.push_back(std::move(kv));
    set_number(rank.free_before_gib, usage["startup_available"]);
    set_number(rank.swa_tokens, usage["token_capacity_swa"]);
    const json::Value graph = usage["graph"];
    if (const auto total = graph.number()) rank.graphs.push_back({"decode", std::nullopt, std::nullopt, total});
    for (const auto& [phase, size] : graph.members())
        if (const auto gib = size.number()) rank.graphs.push_back({std::string(phase), std::nullopt, std::nullopt, gib});
}

std::optional<LogRecord> read_server_info(std::string text, const std::string& name, Diagnostics& diagnostics) {
    const auto document = json::parse(std::move(text), name, diagnostics);
    if (!document) return std::nullopt;
    const json::Value root = document->root();
    LogRecord log;
    StartRecord start;
    start.configuration.engine = EngineKind::sglang;
    start.ready = true;
    start.phase = Phase::serving;
    // Newer servers nest the settings.
    read_settings(root["server_args"].is_object() ? root["server_args"] : root, start.configuration);
    if (const auto version = root["version"].string()) start.configuration.version = std::string(*version);
    const json::Value states = root["internal_states"];
    int dp = 0;
    for (const json::Value state : states.elements()) {
        RankRecord& rank = start.ranks[RankTag{states.size() > 1 ? dp : -1, -1, -1, -1}];
        read_memory(state["memory_usage"], rank);
        set_number(rank.max_running, state["effective_max_running_requests_per_dp"]);
        set_number(rank.max_tokens, root["max_total_num_tokens"]);
        ServingRecord& serving = start.serving[states.size() > 1 ? dp : -1];
        if (const auto x = state["last_gen_throughput"].number()) serving.gen_throughput.add(*x);
        if (const auto x = state["avg_spec_accept_length"].number()) serving.accept_length.add(*x);
        ++dp;
    }
    if (dp == 0) set_number(start.ranks[RankTag{}].max_tokens, root["max_total_num_tokens"]);
    log.starts.push_back(std::move(start));
    return log;
}

// --- Prometheus

struct Sample {
    std::string_view name, labels;
    double value = 0.0;
};

std::optional<Sample> read_sample(std::string_view line) {
    if (line.empty() || line[0] == '#') return std::nullopt;
    Sample sample;
    const std::size_t brace = line.find('{');
    const std::size_t name_end = std::min(brace, line.find(' '));
    if (name_end == std::string_view::npos) return std::nullopt;
    sample.name = line.substr(0, name_end);
    std::size_t at = name_end;
    if (brace == name_end) {
        const std::size_t close = line.find("} ", brace);
        if (close == std::string_view::npos) return std::nullopt;
        sample.labels = line.substr(brace + 1, close - brace - 1);
        at = close + 1;
    }
    const auto number = number_at_start(line.substr(at + 1));
    if (!number) return std::nullopt;
    sample.value = number->value;
    return sample;
}

std::string_view label(std::string_view labels, std::string_view key) { return text_after(labels, std::string(key) + "=\"", "\""); }

int dp_of(std::string_view labels) {
    for (const std::string_view key : {"dp_rank", "engine"}) {
        const auto number = number_at_start(label(labels, key));
        if (number) return static_cast<int>(number->value);
    }
    return -1;
}

// The same gauge printed by every tensor-parallel rank is one figure; a second sample of it must not add.
void add_once(Series& series, double value) {
    if (series.count == 0 || series.last != value) series.add(value);
}

class Scrape {
public:
    LogRecord run(std::string_view text) {
        start_.ready = true;
        start_.phase = Phase::serving;
        while (!text.empty()) {
            const std::size_t end = text.find('\n');
            if (const auto sample = read_sample(text.substr(0, end))) take(*sample);
            text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
        }
        LogRecord log;
        if (start_.configuration.engine) {
            if (!start_.configuration.members.empty() || !start_.ranks.empty() || !start_.serving.empty()) log.starts.push_back(std::move(start_));
        }
        return log;
    }

private:
    void take(const Sample& sample) {
        const bool sglang = starts_with(sample.name, "sglang:") || starts_with(sample.name, "sglang_");
        const bool vllm = starts_with(sample.name, "vllm:") || starts_with(sample.name, "vllm_");
        if (!sglang && !vllm) return;
        start_.configuration.engine = sglang ? EngineKind::sglang : EngineKind::vllm;
        const std::string_view name = sample.name.substr(sample.name.find_first_of(":_") + 1);
        if (const std::string_view model = label(sample.labels, "model_name"); !model.empty() && start_.configuration.members.empty())
            start_.configuration.members.push_back({sglang ? "model_path" : "model", {PythonValue::Kind::text, std::string(model)}});
        const int dp = dp_of(sample.labels);
        take_constant(name, sample, start_.ranks[RankTag{dp, -1, -1, -1}]);
        take_gauge(name, sample.value, start_.serving[dp]);
    }

    void take_constant(std::string_view name, const Sample& sample, RankRecord& rank) {
        struct Constant {
            std::string_view name;
            Reading RankRecord::* reading;
        };
        for (const Constant& c : {Constant{"max_total_num_tokens", &RankRecord::max_tokens}, {"context_len", &RankRecord::context_len}, {"max_total_num_tokens_swa", &RankRecord::swa_tokens},
                                  {"weight_memory_usage_gb", &RankRecord::weights_gib}, {"startup_available_gpu_memory_gb", &RankRecord::free_before_gib}, {"max_running_requests", &RankRecord::max_running}})
            if (name == c.name) rank.*(c.reading) = sample.value;
        if (name == "kv_cache_memory_usage_gb" && rank.kv.empty()) rank.kv.push_back({"", "", false, std::nullopt, std::nullopt, std::nullopt, sample.value});
        if (name == "graph_memory_usage_gb" && rank.graphs.empty()) rank.graphs.push_back({"all", std::nullopt, std::nullopt, sample.value});
        if (name == "cache_config_info") {
            const auto number = [&](std::string_view key) {
                const auto found = number_at_start(label(sample.labels, key));
                return found ? Reading(found->value) : std::nullopt;
            };
            rank.gpu_blocks = number("num_gpu_blocks");
            rank.utilization = number("gpu_memory_utilization");
            rank.kv_tokens = number("kv_cache_size_tokens");
            rank.concurrency_x = number("kv_cache_max_concurrency");
            if (const auto block = number("block_size")) start_.configuration.members.push_back({"block_size", {PythonValue::Kind::number, std::to_string(static_cast<int>(*block))}});
        }
    }

    static void take_gauge(std::string_view name, double value, ServingRecord& serving) {
        if (name == "num_running_reqs" || name == "num_requests_running") add_once(serving.running, value);
        else if (name == "num_queue_reqs" || name == "num_requests_waiting") add_once(serving.queued, value);
        else if (name == "token_usage" || name == "kv_cache_usage_perc" || name == "gpu_cache_usage_perc") add_once(serving.token_usage, value);
        else if (name == "swa_token_usage") add_once(serving.swa_usage, value);
        else if (name == "mamba_usage") add_once(serving.state_usage, value);
        else if (name == "gen_throughput") add_once(serving.gen_throughput, value);
        else if (name == "spec_accept_length") add_once(serving.accept_length, value);
        // cache_hit_rate is of the last prefill batch only: the counters are integrated instead.
        else if (name == "prompt_tokens_total" || name == "prefix_cache_queries_total") serving.new_tokens = std::max(serving.new_tokens, value);
        else if (name == "cached_tokens_total" || name == "prefix_cache_hits_total") serving.cached_tokens = std::max(serving.cached_tokens, value);
        else if (name == "num_retracted_requests_total") serving.retracted = std::max(serving.retracted, value);
        else if (name == "num_preemptions_total") serving.preemptions = std::max(serving.preemptions, value);
        else return;
        serving.decode_lines = 1;
    }

    StartRecord start_;
};

std::optional<LogRecord> read_scrape(const std::string& text, const std::string& name, Diagnostics& diagnostics) {
    LogRecord log = Scrape().run(text);
    for (StartRecord& start : log.starts)
        for (auto& [dp, serving] : start.serving) serving.new_tokens = std::max(0.0, serving.new_tokens - serving.cached_tokens);   // counters hold all prompt tokens
    if (log.starts.empty()) {
        Diagnostic d;
        d.code = "log.no-metrics";
        d.file = name;
        d.message = "the scrape holds no metric of SGLang or vLLM";
        d.expected = "names that begin with sglang: or vllm:";
        diagnostics.add(std::move(d));
        return std::nullopt;
    }
    return log;
}

}  // namespace

LiveKind live_kind(std::string_view text) {
    while (!text.empty() && (text[0] == ' ' || text[0] == '\n' || text[0] == '\r' || text[0] == '\t')) text.remove_prefix(1);
    const std::string_view head = text.substr(0, std::size_t{1} << 16);
    if (starts_with(head, "{") && !starts_with(head, "{\"log\":")) {
        for (const std::string_view key : {"\"model_path\"", "\"internal_states\"", "\"max_total_num_tokens\"", "\"server_args\""})
            if (head.find(key) != std::string_view::npos) return LiveKind::server_info;
        return LiveKind::none;
    }
    if (starts_with(head, "# HELP ") || starts_with(head, "# TYPE ") || starts_with(head, "sglang:") || starts_with(head, "vllm:")) return LiveKind::scrape;
    return LiveKind::none;
}

std::optional<LogRecord> read_live(std::string text, LiveKind kind, const std::string& name, Diagnostics& diagnostics) {
    return kind == LiveKind::server_info ? read_server_info(std::move(text), name, diagnostics) : read_scrape(text, name, diagnostics);
}

}  // namespace kvplan::logs
