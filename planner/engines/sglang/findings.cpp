#include "planner/engines/sglang/findings.hpp"

#include <algorithm>
#include <cmath>

#include "planner/engine_flags.hpp"
#include "planner/engines/engine.hpp"
#include "planner/engines/sglang/defaults.hpp"
#include "planner/free_before_load.hpp"
#include "planner/engines/sglang/memory.hpp"
#include "planner/engines/sglang/requests.hpp"
#include "planner/engines/sglang/versions.hpp"
#include "planner/engines/sglang/window_pools.hpp"
#include "planner/weights.hpp"
#include "units/format.hpp"

namespace kvplan::sglang {
namespace {

FindingValue bytes(std::string_view name, Bytes value) { return {name, "bytes", static_cast<double>(value.count()), {}}; }
FindingValue tokens(std::string_view name, Tokens value) { return {name, "tokens", static_cast<double>(value.count()), {}}; }
FindingValue count(std::string_view name, std::int64_t value) { return {name, "count", static_cast<double>(value), {}}; }
FindingValue ratio(std::string_view name, double value) { return {name, "ratio", value, {}}; }
FindingValue text(std::string_view name, std::string value) { return {name, "text", 0.0, std::move(value)}; }

class Finder {
public:
    Finder(const Scenario& scenario, const Plan& plan) : s_(scenario), plan_(plan) {}

    std::vector<Finding> all() {
        fits();
        request_table_size();  // before the fraction: a table that is too large is the cause, not the fraction
        fraction();
        replication();
        state();
        window();
        drafts();
        foreign_memory();
        return std::move(found_);
    }

private:
    void add(std::string_view code, FindingSeverity severity, std::vector<FindingValue> values, std::vector<std::string_view> fields,
             std::vector<Finding::Change> remedy = {}) {
        found_.push_back({code, severity, std::move(values), std::move(fields), std::move(remedy)});
    }

    static std::string setting(std::string_view field, const std::string& value) { return setting_text(EngineKind::sglang, field, value); }

    /// What makes the things smaller that run outside the fraction; weights and KV take their share of the memory whatever they are.
    [[nodiscard]] std::string smaller_outside() const {
        std::string list;
        const auto way = [&list](const std::string& change) { list += (list.empty() ? "" : ", ") + change; };
        const EngineOptions& e = s_.engine;
        if (!e.max_running_requests) way(setting("max_running_requests", "256"));
        if (const auto bs = cuda_graph_max_bs(s_); !e.disable_cuda_graph && bs > 8) way(setting("cuda_graph_max_bs", std::to_string(bs / 4)));
        if (!e.context_length && context_length(s_) > 131072) way(setting("context_length", "131072"));
        if (const auto chunk = chunked_prefill_size(s_); chunk > 2048) way(setting("chunked_prefill_size", std::to_string(chunk / 2)));
        if (speculative(s_)) way("no --speculative-algorithm");
        return list;
    }

    /// What makes the weights of one GPU smaller.
    [[nodiscard]] std::string lighter_weights() const {
        const EngineOptions& e = s_.engine;
        std::string list = setting("tp_size", std::to_string(std::max<std::int64_t>(1, e.tp) * 2));
        if (s_.model->layers() >= 2 * e.pp) list += ", " + setting("pp_size", std::to_string(std::max<std::int64_t>(1, e.pp) * 2));
        return list + ", a smaller quantization";
    }

    void no_pool() {
        const GpuPlan& gpu = plan_.gpu;
        const MemFraction& f = gpu.mem_fraction;
        std::vector<Finding::Change> remedy;
        if (f.recommended) remedy.push_back({"mem_fraction_static", shortest(*f.recommended, 3)});
        const bool room = gpu.weights_bytes < gpu.budget_bytes;
        // Rounded up, as the engine prints it.
        const std::string smallest = f.feasible_min ? shortest(std::ceil(*f.feasible_min * 1000) / 1000, 3) : "none";
        add(room ? "no_room_for_kv" : "weights_do_not_fit", FindingSeverity::error,
            {bytes("weights", gpu.weights_bytes), bytes("budget", gpu.budget_bytes), bytes("free", gpu.free_before_load_bytes.expected),
             bytes("lacking", gpu.shortfall_bytes), ratio("fraction", f.value), text("smallest_fraction", smallest),
             text("ways_out", lighter_weights())},
            {"mem_fraction_static", "tp_size", "quantization"}, std::move(remedy));
    }

    void fits() {
        const GpuPlan& gpu = plan_.gpu;
        const Tokens t = plan_.capacity.max_total_num_tokens.expected;
        if (t.count() == 0) return no_pool();
        if (plan_.capacity.max_total_num_tokens.low.count() == 0) {
            add("weights_may_not_fit", FindingSeverity::warning,
                {bytes("weights_high", plan_.weights.bytes_per_rank.high), bytes("budget", gpu.budget_bytes)}, {"mem_fraction_static", "weights_per_gpu"});
        }
        if (const auto& cap = s_.engine.max_total_tokens; cap && *cap > t.count() + page_size(s_))
            add("max_total_tokens_above_pool", FindingSeverity::note, {count("asked", *cap), tokens("pool", t)}, {"max_total_tokens", "mem_fraction_static"});
        if (t.count() < context_length(s_)) {
            add("pool_below_context", FindingSeverity::warning, {tokens("pool", t), count("context", context_length(s_))},
                {"context_length", "mem_fraction_static", "kv_cache_dtype"}, {{"context_length", std::to_string(t.count())}});
        }
    }

    void fraction() {
        const MemFraction& f = plan_.gpu.mem_fraction;
        if (!f.feasible_min || !f.feasible_max) {
            if (plan_.gpu.weights_bytes < plan_.gpu.free_before_load_bytes.expected) {
                add("no_feasible_fraction", FindingSeverity::error,
                    {bytes("weights", plan_.gpu.weights_bytes), bytes("free", plan_.gpu.free_before_load_bytes.expected), text("ways_out", smaller_outside() + (smaller_outside().empty() ? "" : ", ") + lighter_weights())},
                    {"mem_fraction_static", "chunked_prefill_size", "cuda_graph_max_bs", "tp_size"});
            }
            return;
        }
        std::vector<FindingValue> values = {ratio("fraction", f.value), ratio("feasible_min", *f.feasible_min), ratio("feasible_max", *f.feasible_max),
                                            ratio("recommended", f.recommended.value_or(*f.feasible_max)), bytes("left", plan_.gpu.left_after_graphs_bytes.expected),
                                            text("ways_out", smaller_outside())};
        const std::vector<Finding::Change> remedy = {{"mem_fraction_static", shortest(f.recommended.value_or(*f.feasible_max), 3)}};
        Bytes wanted;
        for (const NamedBytes& item : plan_.gpu.slack_items)
            if (item.name != "activations") wanted += item.bytes;
        const bool lacks = plan_.gpu.kv_pool_bytes.count() > 0 && wanted > plan_.gpu.slack_bytes;
        values.push_back(bytes("wanted", wanted));
        values.push_back(bytes("slack", plan_.gpu.slack_bytes));
        if (f.value <= *f.feasible_max && lacks) {
            add("start_lacks_memory", FindingSeverity::error, std::move(values), {"mem_fraction_static"}, remedy);
        } else if (f.value > *f.feasible_max) {
            add("fraction_too_high", FindingSeverity::error, std::move(values), {"mem_fraction_static"}, remedy);
        } else if (f.value >= *f.feasible_min && f.recommended && f.value > *f.recommended + 0.005) {
            add("fraction_leaves_little", FindingSeverity::warning, std::move(values), {"mem_fraction_static"}, remedy);
        }
    }

    /// What DP attention with `dp` workers would hold in all: attention weights grow, each worker has tokens of its own.
    /// What was measured beyond the computed weights.
    [[nodiscard]] Bytes measured_shift(const Engine& engine) const {
        if (!s_.weights_per_gpu) return Bytes{0};
        Scenario computed = s_;
        computed.weights_per_gpu.reset();
        return plan_.weights.bytes_per_rank.expected - plan_rank_weights(computed, engine).bytes_per_rank.expected;
    }

    /// `then` is the scenario with computed weights and DP attention.
    [[nodiscard]] Tokens tokens_with_workers(Scenario& then, std::int64_t dp, Bytes shift, const Engine& engine) const {
        then.engine.dp = dp;
        const WeightsPlan weights = plan_rank_weights(then, engine);
        const double f = s_.engine.mem_fraction_static ? s_.engine.mem_fraction_static->value : default_fraction(then).value;
        return size_pools(then, stage_loads(then, weights, shift), plan_.gpu.free_before_load_bytes.expected, f).tokens * dp;
    }

    void replication() {
        const Parallelism& p = plan_.parallelism;
        const KvCachePlan& kv = plan_.kv_cache;
        if (!kv.latent && kv.kv_head_replication > 1) {
            add("kv_heads_replicated", FindingSeverity::note, {count("copies", kv.kv_head_replication), count("ranks", p.attention_tp)},
                {"tp_size", "enable_dp_attention"});
        }
        const bool pool = plan_.capacity.max_total_num_tokens.expected.count() > 0;
        if (!kv.latent || p.attention_tp <= 1 || p.replicas > 1 || !pool) return;
        const Engine& engine = engine_of(s_.engine);
        const Tokens now = plan_.capacity.max_total_num_tokens.expected * p.dp_attention;
        std::int64_t best_dp = p.dp_attention;
        Tokens best = now;
        Scenario then = s_;
        then.weights_per_gpu.reset();
        then.engine.enable_dp_attention = true;
        const Bytes shift = measured_shift(engine);
        for (std::int64_t dp = p.tp; dp > p.dp_attention; dp /= 2) {
            if (p.tp % dp != 0) break;
            if (const Tokens held = tokens_with_workers(then, dp, shift, engine); held > best) best = held, best_dp = dp;
        }
        std::vector<FindingValue> values = {count("copies", p.attention_tp), tokens("tokens", now), count("workers", best_dp), tokens("with_workers", best)};
        if (best_dp == p.dp_attention) {
            add("latent_replicated", FindingSeverity::note, std::move(values), {"enable_dp_attention"});
        } else {
            add("dp_attention_holds_more", FindingSeverity::note, std::move(values), {"enable_dp_attention", "dp_size"},
                {{"enable_dp_attention", "true"}, {"dp_size", std::to_string(best_dp)}});
        }
    }

    void request_table_size() {
        for (const NamedBytes& item : plan_.gpu.slack_items) {
            if (item.name != "request_table") continue;
            const std::int64_t row = (context_length(s_) + 4 + draft_tokens(s_)) * 4;
            if (plan_.gpu.kv_pool_bytes.count() > 0 && item.bytes > plan_.gpu.slack_bytes) {
                const std::int64_t fitting = std::max<std::int64_t>(1, plan_.gpu.slack_bytes.count() / 2 / row);
                add("request_table_does_not_fit", FindingSeverity::error,
                    {bytes("table", item.bytes), bytes("slack", plan_.gpu.slack_bytes), count("rows", item.bytes.count() / row), count("context", context_length(s_))},
                    {"max_running_requests", "context_length", "mem_fraction_static"}, {{"max_running_requests", std::to_string(fitting)}});
                continue;
            }
            if (item.bytes < gibibytes(4)) continue;
            add("request_table_large", FindingSeverity::warning,
                {bytes("table", item.bytes), count("rows", item.bytes.count() / row), count("context", context_length(s_))},
                {"context_length", "max_running_requests"}, {{"max_running_requests", "256"}});
        }
    }

    void state() {
        const CapacityPlan& c = plan_.capacity;
        if (!c.state_slots || !c.state_slots_per_request || c.max_total_num_tokens.expected.count() == 0) return;
        const std::int64_t requests = *c.state_slots / *c.state_slots_per_request;
        if (requests == 0) {
            add("state_pool_too_small", FindingSeverity::error, {count("slots", *c.state_slots), count("per_request", *c.state_slots_per_request)},
                {"mamba_full_memory_ratio", "max_mamba_cache_size"});
            return;
        }
        const RequestLimits unlimited = request_limits(s_, c.max_total_num_tokens.expected, std::nullopt);
        if (requests < unlimited.running) {
            add("state_slots_limit_requests", FindingSeverity::note,
                {count("slots", *c.state_slots), count("per_request", *c.state_slots_per_request), count("requests", requests),
                 bytes("per_slot", plan_.kv_cache.state_bytes_per_slot)},
                {"mamba_full_memory_ratio", "max_mamba_cache_size"});
        }
    }

    void window() {
        if (!plan_.capacity.swa_tokens || plan_.capacity.max_total_num_tokens.expected.count() == 0) return;
        const std::int64_t window = window_tokens(*s_.model), page = page_size(s_), slots = plan_.capacity.swa_tokens->count();
        if (window + page < slots) return;
        add("window_pool_too_small", FindingSeverity::error, {count("window", window), count("slots", slots), count("page", page)},
            {"swa_full_tokens_ratio", "mem_fraction_static"});
    }

    void drafts() {
        const KvCachePlan& kv = plan_.kv_cache;
        const double taken = kv.bytes_per_token.value;
        const bool two_pools = plan_.capacity.swa_tokens.has_value();
        const double excess = two_pools ? 0.0 : taken - kv.budget_bytes_per_token.value;
        if (excess <= 0.5 || plan_.gpu.kv_pool_bytes.count() == 0) return;
        add("pool_exceeds_budget", FindingSeverity::warning,
            {ratio("taken_per_token", taken), ratio("counted_per_token", kv.budget_bytes_per_token.value),
             bytes("excess", nearest_bytes(excess * static_cast<double>(plan_.capacity.max_total_num_tokens.expected.count())))},
            {"engine", "mem_fraction_static"});
    }

    /// A measured free memory far below what this GPU usually has.
    void foreign_memory() {
        if (!s_.hardware.gpu_free || !s_.free_memory) return;
        Scenario unmeasured = s_;
        unmeasured.hardware.gpu_free.reset();
        const Bytes usual = free_before_load(unmeasured).low, here = *s_.hardware.gpu_free;
        if (here.count() >= usual.count() - usual.count() / 20) return;
        add("foreign_gpu_memory", FindingSeverity::warning, {bytes("free", here), bytes("usual", usual), bytes("missing", usual - here)}, {"gpu_free"});
        // The engine refuses when the least free of the ranks is under 0.9 of another's.
        if (here.count() < usual.count() / 10 * 9 && s_.engine.tp > 1) {
            add("unbalanced_gpus", FindingSeverity::warning, {bytes("free", here), bytes("usual", usual)}, {"gpu_free"});
        }
    }

    const Scenario& s_;
    const Plan& plan_;
    std::vector<Finding> found_;
};

}  // namespace

void add_findings(const Scenario& scenario, Plan& plan) {
    for (Finding& finding : Finder(scenario, plan).all()) plan.findings.push_back(std::move(finding));
}

}  // namespace kvplan::sglang
