#include "planner/engines/vllm/findings.hpp"

#include <algorithm>

#include "planner/engine_flags.hpp"
#include "planner/engines/vllm/defaults.hpp"
#include "planner/engines/vllm/kv_layout.hpp"
#include "planner/engines/vllm/memory.hpp"
#include "planner/engines/vllm/stages.hpp"
#include "planner/engines/vllm/versions.hpp"
#include "units/format.hpp"

namespace kvplan::vllm {
namespace {

FindingValue bytes(std::string_view name, Bytes value) { return {name, "bytes", static_cast<double>(value.count()), {}}; }
FindingValue tokens(std::string_view name, std::int64_t value) { return {name, "tokens", static_cast<double>(value), {}}; }
FindingValue count(std::string_view name, std::int64_t value) { return {name, "count", static_cast<double>(value), {}}; }
FindingValue ratio(std::string_view name, double value) { return {name, "ratio", value, {}}; }
FindingValue text(std::string_view name, std::string value) { return {name, "text", 0.0, std::move(value)}; }

class Finder {
public:
    Finder(const Scenario& scenario, const Plan& plan) : s_(scenario), plan_(plan), layout_(kv_layout(scenario, stages(scenario).front())) {}

    std::vector<Finding> all() {
        fits();
        fraction();
        fixed_sizes();
        hybrids();
        replication();
        return std::move(found_);
    }

private:
    void add(std::string_view code, FindingSeverity severity, std::vector<FindingValue> values, std::vector<std::string_view> fields,
             std::vector<Finding::Change> remedy = {}) {
        found_.push_back({code, severity, std::move(values), std::move(fields), std::move(remedy)});
    }

    static std::string setting(std::string_view field, const std::string& value) { return setting_text(EngineKind::vllm, field, value); }

    /// What makes room on the GPU, those first that cost least.
    [[nodiscard]] std::string ways_out() const {
        std::string list;
        const auto way = [&list](const std::string& change) { list += (list.empty() ? "" : ", ") + change; };
        const MemFraction& f = plan_.gpu.mem_fraction;
        if (f.recommended && *f.recommended > f.value + 0.005) way(setting("gpu_memory_utilization", shortest(*f.recommended, 3)));
        if (plan_.kv_cache.dtype == "bfloat16" || plan_.kv_cache.dtype == "float16") way(setting("kv_cache_dtype", "fp8_e4m3"));
        if (max_num_seqs(s_) > 256) way(setting("max_running_requests", "256"));
        way(setting("tp_size", std::to_string(parallelism(s_).tp * 2)));
        return list;
    }

    /// What makes the weights of one GPU smaller.
    [[nodiscard]] std::string lighter_weights() const {
        const Parallelism p = parallelism(s_);
        std::string list = setting("tp_size", std::to_string(p.tp * 2));
        if (s_.model->layers() >= 2 * p.pp) list += ", " + setting("pp_size", std::to_string(p.pp * 2));
        return list + ", a smaller quantization";
    }

    void fits() {
        const GpuPlan& gpu = plan_.gpu;
        const Bytes free = gpu.free_before_load_bytes.expected;
        if (gpu.shortfall_bytes.count() == 0) {
            if (plan_.capacity.max_total_num_tokens.low.count() < max_model_len(s_) && plan_.capacity.max_total_num_tokens.low < plan_.capacity.max_total_num_tokens.expected)
                add("vllm_low_end_does_not_fit", FindingSeverity::warning, {tokens("low", plan_.capacity.max_total_num_tokens.low.count()), tokens("context", max_model_len(s_))},
                    {"context_length", "gpu_memory_utilization"});
            return;
        }
        if (!s_.engine.kv_cache_memory_bytes && gpu.budget_bytes > free) {
            std::vector<Finding::Change> remedy;
            if (gpu.mem_fraction.recommended) remedy.push_back({"gpu_memory_utilization", shortest(*gpu.mem_fraction.recommended, 3)});
            add("vllm_free_below_requested", FindingSeverity::error,
                {bytes("requested", gpu.budget_bytes), bytes("free", free), ratio("fraction", gpu.mem_fraction.value)}, {"gpu_memory_utilization", "gpu_free"}, std::move(remedy));
            return;
        }
        const StageLoad load = stage_loads(s_, plan_.weights).front();
        const Bytes available = available_memory(s_, load, gpu.mem_fraction.value).expected;
        const Bytes needed = layout_.block_bytes * blocks_per_request(layout_, s_, max_model_len(s_));
        const std::int64_t longest = plan_.capacity.longest_request_tokens.count();
        std::vector<FindingValue> values = {bytes("needed", needed), bytes("available", std::max(Bytes{0}, available)), tokens("context", max_model_len(s_)),
                                            tokens("longest", longest), bytes("weights", gpu.weights_bytes), bytes("requested", gpu.budget_bytes),
                                            bytes("lacking", gpu.shortfall_bytes), text("ways_out", plan_.gpu.mem_fraction.feasible_min ? ways_out() : lighter_weights())};
        if (available.count() <= 0) {
            add("vllm_no_memory_for_blocks", FindingSeverity::error, std::move(values), {"gpu_memory_utilization", "tp_size", "quantization"});
        } else if (longest > 0) {
            add("vllm_request_does_not_fit", FindingSeverity::error, std::move(values), {"context_length", "gpu_memory_utilization", "kv_cache_dtype"},
                {{"context_length", std::to_string(longest)}});
        }
    }

    void fraction() {
        const MemFraction& f = plan_.gpu.mem_fraction;
        if (s_.engine.kv_cache_memory_bytes) return;
        if (!f.feasible_min || !f.feasible_max) {
            add("vllm_no_feasible_utilization", FindingSeverity::error,
                {bytes("weights", plan_.gpu.weights_bytes), bytes("free", plan_.gpu.free_before_load_bytes.expected), text("ways_out", lighter_weights())},
                {"tp_size", "context_length", "kv_cache_dtype", "max_running_requests"});
        } else if (f.value > *f.feasible_max) {
            add("vllm_utilization_too_high", FindingSeverity::error,
                {ratio("fraction", f.value), ratio("feasible_max", *f.feasible_max), ratio("recommended", f.recommended.value_or(*f.feasible_max))},
                {"gpu_memory_utilization"}, {{"gpu_memory_utilization", shortest(f.recommended.value_or(*f.feasible_max), 3)}});
        } else if (plan_.gpu.shortfall_bytes.count() == 0 && f.value >= *f.feasible_min && f.recommended && f.value > *f.recommended + 0.005) {
            add("vllm_utilization_leaves_little", FindingSeverity::warning,
                {ratio("fraction", f.value), ratio("recommended", *f.recommended), bytes("left", plan_.gpu.left_after_graphs_bytes.expected)},
                {"gpu_memory_utilization"}, {{"gpu_memory_utilization", shortest(*f.recommended, 3)}});
        }
    }

    void fixed_sizes() {
        const EngineOptions& e = s_.engine;
        if (e.kv_cache_memory_bytes)
            add("vllm_kv_bytes_replace_utilization", FindingSeverity::note, {bytes("kv", Bytes{*e.kv_cache_memory_bytes})}, {"kv_cache_memory_bytes", "gpu_memory_utilization"});
        if (e.kv_offloading_backend == "lmcache" && e.kv_offloading_size_gib && !e.lmcache_max_local_cpu_gb && in_force(Change::lmcache_server, e))
            add("lmcache_size_not_passed_on", FindingSeverity::warning, {ratio("size", *e.kv_offloading_size_gib)}, {"kv_offloading_size", "kv_offloading_backend"});
    }

    void hybrids() {
        if (layout_.groups < 2) return;
        std::int64_t layers = 0;
        for (const LayerSpec& s : layout_.specs) layers += s.layers;
        if (layout_.padding_layers > 0 && !is_compressed(*s_.model))
            add("vllm_padding_layers", FindingSeverity::note, {count("padding", layout_.padding_layers), count("layers", layers), count("groups", layout_.groups)}, {});
        const CapacityPlan& c = plan_.capacity;
        if (c.max_concurrency_full_context && !in_force(Change::derived_token_line, s_.engine)) {
            const auto held = static_cast<std::int64_t>(*c.max_concurrency_full_context * static_cast<double>(max_model_len(s_)));
            if (held > c.max_total_num_tokens.expected.count() + c.max_total_num_tokens.expected.count() / 1000)
                add("vllm_tokens_under_reported", FindingSeverity::note, {tokens("printed", c.max_total_num_tokens.expected.count()), tokens("held", held)}, {"engine"});
        }
    }

    void replication() {
        const Parallelism& p = plan_.parallelism;
        if (plan_.kv_cache.latent && p.tp > 1) {
            const std::int64_t dcp = std::max<std::int64_t>(1, s_.engine.decode_context_parallel);
            if (dcp < p.tp)
                add("vllm_latent_replicated", FindingSeverity::note, {count("copies", p.tp / dcp), tokens("tokens", plan_.capacity.max_total_num_tokens.expected.count())},
                    {"decode_context_parallel_size", "dp_size"}, {{"decode_context_parallel_size", std::to_string(p.tp)}});
        } else if (plan_.kv_cache.kv_head_replication > 1) {
            add("kv_heads_replicated", FindingSeverity::note, {count("copies", plan_.kv_cache.kv_head_replication), count("ranks", p.tp)}, {"tp_size", "decode_context_parallel_size"});
        }
    }

    const Scenario& s_;
    const Plan& plan_;
    KvLayout layout_;
    std::vector<Finding> found_;
};

}  // namespace

void add_findings(const Scenario& scenario, Plan& plan) {
    for (Finding& finding : Finder(scenario, plan).all()) plan.findings.push_back(std::move(finding));
}

}  // namespace kvplan::vllm
