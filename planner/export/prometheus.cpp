#include "planner/export/prometheus.hpp"

#include <algorithm>
#include <optional>

#include "units/format.hpp"

namespace kvplan::exporting {

namespace {

std::string plain(double x) {
    std::string text = shortest(x, 6);
    std::string out;
    for (const char c : text)
        if (c != ',') out += c;
    return out;
}

std::string quoted(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

class Writer {
public:
    explicit Writer(const Scenario& scenario) : labels_("{model_name=\"" + quoted(scenario.model_name) + "\"}") {}

    void gauge(const std::string& name, const std::string& help, std::optional<double> value) {
        if (!value) return;
        text_ += "# HELP kvplan_expected_" + name + " " + help + "\n# TYPE kvplan_expected_" + name + " gauge\nkvplan_expected_" + name + labels_ + " " + plain(*value) + "\n";
    }
    void line(const std::string& text) { text_ += text + "\n"; }
    void alert(const std::string& name, const std::string& expression, const std::string& hold, const std::string& why) {
        line("#   - alert: " + name);
        line("#     expr: " + expression);
        line("#     for: " + hold);
        line("#     annotations: {summary: \"" + why + "\"}");
    }
    [[nodiscard]] std::string done() { return std::move(text_); }

private:
    std::string labels_, text_;
};

double d(Bytes bytes) { return static_cast<double>(bytes.count()); }

void write_alerts(Writer& w, const Scenario& scenario, const Plan& plan) {
    const bool sglang = scenario.engine.kind == EngineKind::sglang;
    const double tokens = static_cast<double>(plan.capacity.max_total_num_tokens.low.count());
    w.line("#");
    w.line("# Alert rules (uncomment as a rule file):");
    w.line("# groups:");
    w.line("# - name: kvplan");
    w.line("#   rules:");
    if (sglang) {
        w.alert("KvPoolSmallerThanPlanned", "min(sglang:max_total_num_tokens) < " + plain(0.97 * tokens), "5m", "the KV pool is more than 3 % below the plan's low end");
        w.alert("KvPoolFull", "max(sglang:token_usage) > 0.97", "5m", "requests wait for KV memory or are taken back");
        w.alert("Retractions", "increase(sglang:num_retracted_requests_total[5m]) > 0", "1m", "running requests lose their KV");
        if (plan.concurrency.token_usage) w.alert("UsageAbovePlan", "avg(sglang:token_usage) > " + plain(std::min(0.97, *plan.concurrency.token_usage * 1.15)), "15m", "the load is above the planned one");
        w.alert("FreeGpuMemoryLow", "min(sglang:startup_available_gpu_memory_gb) * 1073741824 < " + plain(0.9 * d(plan.gpu.free_before_load_bytes.low)), "1m", "another process holds GPU memory");
    } else {
        w.alert("KvPoolFull", "max(vllm:kv_cache_usage_perc) > 0.97", "5m", "requests wait for KV memory or are preempted");
        w.alert("Preemptions", "increase(vllm:num_preemptions_total[5m]) > 0", "1m", "running requests lose their KV");
    }
    if (const auto& most = plan.concurrency.admission)
        w.alert("MoreRequestsThanPlanned", std::string("sum(") + (sglang ? "sglang:num_running_reqs" : "vllm:num_requests_running") + ") > " + plain(1.1 * *most), "15m", "more requests run than the plan admits: they are shorter than planned");
}

}  // namespace

std::string prometheus_text(const Scenario& scenario, const Plan& plan) {
    Writer w(scenario);
    const auto tokens = [](Tokens t) { return static_cast<double>(t.count()); };
    w.line("# Expected values of the plan (" + plan.rule_set + "). Sizes in bytes, per rank; the engines' own ..._gb metrics are GiB.");
    w.gauge("max_total_num_tokens", "KV slots of one DP worker", tokens(plan.capacity.max_total_num_tokens.expected));
    w.gauge("max_total_num_tokens_low", "low end of the same", tokens(plan.capacity.max_total_num_tokens.low));
    if (plan.capacity.swa_tokens) w.gauge("max_total_num_tokens_swa", "slots of the window pool", tokens(*plan.capacity.swa_tokens));
    w.gauge("max_running_requests", "of one DP worker", static_cast<double>(plan.capacity.max_running_requests.count()));
    w.gauge("free_before_load_bytes", "GPU memory free before the weights load", d(plan.gpu.free_before_load_bytes.expected));
    w.gauge("weights_bytes", "weights of one rank", d(plan.weights.bytes_per_rank.expected));
    w.gauge("kv_pool_bytes", "KV pool of one rank", d(plan.gpu.kv_pool_bytes));
    w.gauge("left_after_graphs_bytes", "free at the end of start-up", d(plan.gpu.left_after_graphs_bytes.expected));
    if (plan.hicache.enabled) w.gauge("hicache_host_total_tokens", "host slots of one rank", tokens(plan.hicache.tokens));
    w.gauge("running_requests", "at steady state, whole deployment", plan.concurrency.steady_state);
    w.gauge("token_usage", "at the admitted number of requests", plan.concurrency.token_usage);
    if (plan.throughput.output) w.gauge("output_tokens_per_second_ceiling", "no deployment of this kind exceeds it", plan.throughput.output->value);
    write_alerts(w, scenario, plan);
    return w.done();
}

}  // namespace kvplan::exporting
