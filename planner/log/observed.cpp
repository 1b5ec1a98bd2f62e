#include "planner/log/observed.hpp"

#include <algorithm>
#include <cmath>

#include "planner/log/text.hpp"
#include "units/parse.hpp"

namespace kvplan::logs {

namespace {

// A line may be damaged: figures beyond any machine are taken for the largest that can be counted.
constexpr double kMostGib = 1e8, kMostTokens = 9e15;
Bytes from_gib(double gib) { return nearest_bytes(std::clamp(gib, -kMostGib, kMostGib) * static_cast<double>(kGiB)); }
std::int64_t whole(double count) { return static_cast<std::int64_t>(std::llround(std::clamp(count, -kMostTokens, kMostTokens))); }

std::optional<Bytes> bytes_of(const StartRecord& start, Reading RankRecord::* reading, double Spread::* which) {
    const auto found = spread(start, reading);
    return found ? std::optional(from_gib((*found).*which)) : std::nullopt;
}

std::optional<std::int64_t> whole_of(const StartRecord& start, Reading RankRecord::* reading, double Spread::* which = &Spread::first) {
    const auto found = spread(start, reading);
    return found ? std::optional(whole((*found).*which)) : std::nullopt;
}

void add(std::optional<Bytes>& sum, Reading gib) {
    if (gib) sum = sum.value_or(Bytes{0}) + from_gib(*gib);
}

struct RankPools {
    std::optional<Bytes> kv, draft_kv;
    Reading tokens;       // of the pool that bounds a request's length
};

RankPools pools_of(const RankRecord& rank) {
    RankPools pools;
    // An older hybrid prints one line for the window's pool as well, told apart by its tokens.
    for (const KvAllocation& kv : rank.kv) {
        add(kv.draft ? pools.draft_kv : pools.kv, kv.size_gib());
        const bool window = kv.label == "SWA" || (kv.label.empty() && rank.swa_tokens && kv.tokens == rank.swa_tokens && rank.full_tokens != rank.swa_tokens);
        if (!kv.draft && !window && kv.tokens && (!pools.tokens || *kv.tokens > *pools.tokens)) pools.tokens = kv.tokens;
    }
    if (!pools.kv) add(pools.kv, rank.swa_pool_gib);
    return pools;
}

/// Unset when no capture has ended: a log may stop, or a server die, within the first.
std::optional<Bytes> graph_bytes(const RankRecord& rank) {
    std::optional<Bytes> sum;
    const auto add = [&](double gib) { sum = sum.value_or(Bytes{0}) + from_gib(gib); };
    for (const GraphCapture& graph : rank.graphs) {
        if (graph.usage_gib) add(*graph.usage_gib);
        else if (graph.before_gib && graph.after_gib) add(std::max(0.0, *graph.before_gib - *graph.after_gib));
    }
    return sum;
}

void observe_pools(const StartRecord& start, Observed& seen) {
    Reading tokens;
    for (const auto& [tag, rank] : start.ranks) {
        const RankPools pools = pools_of(rank);
        if (pools.kv && !seen.kv_pool) seen.kv_pool = pools.kv;
        if (pools.draft_kv && !seen.draft_kv_pool) seen.draft_kv_pool = pools.draft_kv;
        if (pools.tokens && (!tokens || *pools.tokens < *tokens)) tokens = pools.tokens;
        if (!seen.graphs) seen.graphs = graph_bytes(rank);
        if ((rank.conv_gib || rank.ssm_gib) && !seen.state_pool)
            for (const Reading& part : {rank.conv_gib, rank.ssm_gib, rank.draft_conv_gib, rank.draft_ssm_gib}) add(seen.state_pool, part);
        if (!rank.host_pools.empty() && seen.host_pools.empty()) seen.host_pools = rank.host_pools;
        if (!rank.kv_dtype.empty() && !seen.kv_dtype) seen.kv_dtype = dtype_name(rank.kv_dtype);
        for (const KvAllocation& kv : rank.kv)
            if (!kv.draft && !kv.dtype.empty() && !seen.kv_dtype) seen.kv_dtype = dtype_name(kv.dtype);
    }
    for (const auto reading : {&RankRecord::max_tokens, &RankRecord::post_capture_tokens, &RankRecord::kv_tokens})
        if (!seen.max_total_num_tokens) seen.max_total_num_tokens = whole_of(start, reading, &Spread::least);
    if (!seen.max_total_num_tokens && tokens) seen.max_total_num_tokens = whole(std::floor(*tokens));
    for (const auto reading : {&RankRecord::full_tokens, &RankRecord::v4_tokens})
        if (!seen.max_total_num_tokens) seen.max_total_num_tokens = whole_of(start, reading, &Spread::least);
}

void observe_host(Observed& seen) {
    if (seen.host_pools.empty()) return;
    double gb = 0;
    for (const HostPoolLine& pool : seen.host_pools) gb += pool.gb;
    seen.host_bytes_per_rank = nearest_bytes(std::clamp(gb, 0.0, kMostGib) * static_cast<double>(kGB));
}

std::optional<double> number_setting(const LoggedConfiguration& configuration, std::string_view key) {
    const PythonValue* value = configuration.find(key);
    if (value == nullptr || value->kind != PythonValue::Kind::number) return std::nullopt;
    const Parsed<double> parsed = parse_real(value->text);
    return parse_ok(parsed) ? std::optional(std::get<double>(parsed)) : std::nullopt;
}

void observe_vllm(const StartRecord& start, Observed& seen) {
    seen.total = bytes_of(start, &RankRecord::total_gib, &Spread::first);
    seen.requested = bytes_of(start, &RankRecord::requested_gib, &Spread::first);
    seen.available_kv = bytes_of(start, &RankRecord::available_kv_gib, &Spread::least);
    seen.activation = bytes_of(start, &RankRecord::activation_gib, &Spread::first);
    seen.non_torch = bytes_of(start, &RankRecord::non_torch_gib, &Spread::first);
    if (!seen.weights) seen.weights = bytes_of(start, &RankRecord::model_gib, &Spread::first);
    if (!seen.graphs) seen.graphs = bytes_of(start, &RankRecord::graph_gib, &Spread::first);
    if (!seen.free_before_load) seen.free_before_load = bytes_of(start, &RankRecord::initial_free_gib, &Spread::least);
    if (!seen.kv_pool) seen.kv_pool = seen.available_kv;
    seen.gpu_blocks = whole_of(start, &RankRecord::gpu_blocks, &Spread::least);
    if (const auto x = spread(start, &RankRecord::concurrency_x)) seen.max_concurrency_full_context = x->first;
    if (!seen.context_length) seen.context_length = whole_of(start, &RankRecord::request_len);
    const double block = number_setting(start.configuration, "block_size").value_or(16.0);
    if (!seen.max_total_num_tokens && seen.gpu_blocks) seen.max_total_num_tokens = whole(static_cast<double>(*seen.gpu_blocks) * block);
    if (const auto u = spread(start, &RankRecord::utilization)) seen.fraction = u->first;
}

}  // namespace

std::string dtype_name(std::string_view name) {
    if (name.substr(0, 6) == "torch.") name.remove_prefix(6);
    if (name == "float8_e4m3fn" || name == "float8_e4m3fnuz") return "fp8_e4m3";
    if (name == "float8_e5m2" || name == "float8_e5m2fnuz") return "fp8_e5m2";
    if (name == "float4_e2m1fn_x2") return "fp4_e2m1";
    return std::string(name);
}

Observed observe(const StartRecord& start) {
    Observed seen;
    seen.ranks = static_cast<int>(start.ranks.size());
    seen.free_before_load = bytes_of(start, &RankRecord::free_before_gib, &Spread::least);
    seen.free_after_load = bytes_of(start, &RankRecord::free_after_gib, &Spread::least);
    seen.weights = bytes_of(start, &RankRecord::weights_gib, &Spread::first);
    // Before 2025-03 the end of the load tells what is free, not what it took; excerpts often lack the first line.
    if (!seen.weights && seen.free_before_load && seen.free_after_load) seen.weights = *seen.free_before_load - *seen.free_after_load;
    if (!seen.free_before_load && seen.free_after_load && seen.weights) seen.free_before_load = *seen.free_after_load + *seen.weights;
    seen.draft_weights = bytes_of(start, &RankRecord::draft_weights_gib, &Spread::first);
    seen.left_after_pools = bytes_of(start, &RankRecord::pool_end_gib, &Spread::least);
    seen.left_after_graphs = bytes_of(start, &RankRecord::end_gib, &Spread::least);
    seen.max_running_requests = whole_of(start, &RankRecord::max_running);
    seen.context_length = whole_of(start, &RankRecord::context_len);
    seen.swa_tokens = whole_of(start, &RankRecord::swa_tokens, &Spread::least);
    seen.state_slots = whole_of(start, &RankRecord::state_slots, &Spread::least);
    seen.fraction = number_setting(start.configuration, start.engine() == EngineKind::sglang ? "mem_fraction_static" : "gpu_memory_utilization");
    observe_pools(start, seen);
    observe_host(seen);
    observe_vllm(start, seen);
    if (const auto printed = spread(start, &RankRecord::v4_bytes_per_token)) seen.bytes_per_token = printed->first;
    else if (seen.kv_pool && seen.max_total_num_tokens && *seen.max_total_num_tokens > 0)
        seen.bytes_per_token = static_cast<double>(seen.kv_pool->count()) / static_cast<double>(*seen.max_total_num_tokens);
    return seen;
}

std::optional<double> implied_fraction(const Observed& seen) {
    if (!seen.free_before_load || !seen.free_after_load || !seen.kv_pool) return std::nullopt;
    const Bytes pools = *seen.kv_pool + seen.state_pool.value_or(Bytes{0});
    return 1.0 - static_cast<double>((*seen.free_after_load - pools).count()) / static_cast<double>(seen.free_before_load->count());
}

}  // namespace kvplan::logs
