#include "planner/engines/sglang/slack.hpp"

#include <algorithm>
#include <array>

#include "planner/engines/sglang/defaults.hpp"
#include "planner/engines/sglang/gpu_facts.hpp"
#include "planner/engines/sglang/hicache.hpp"
#include "planner/engines/sglang/versions.hpp"

namespace kvplan::sglang {
namespace {

double d(std::int64_t n) { return static_cast<double>(n); }
Bytes mib(double value) { return nearest_bytes(value * static_cast<double>(kMiB)); }
Estimate<Bytes> assumed_mib(double low, double expected, double high) {
    return {mib(low), mib(expected), mib(high), Basis::assumed};
}

/// Widths of one layer's buffers for one token on one rank, in elements of 16 bits.
struct Widths {
    double attention = 0, feed_forward = 0;
};

double attention_width(const Attention& attention, std::int64_t tp) {
    if (const auto* a = std::get_if<GroupedAttention>(&attention)) {
        const double kv = d(std::max<std::int64_t>(1, a->kv_heads / tp)) * d(a->head_dim + a->v_head_dim);
        return d(ceil_div(a->query_heads, tp)) * d(a->head_dim + a->v_head_dim) + kv;
    }
    if (const auto* a = std::get_if<LatentAttention>(&attention)) {
        // Queries with their absorbed form, and outputs in the latent.
        const double head = d(a->qk_nope_head_dim + a->qk_rope_head_dim) + d(a->kv_lora_rank + a->qk_rope_head_dim) + d(a->kv_lora_rank);
        return d(ceil_div(a->heads, tp)) * head + d(a->q_lora_rank.value_or(0) + a->kv_lora_rank + a->qk_rope_head_dim);
    }
    if (const auto* a = std::get_if<CompressedAttention>(&attention)) return d(ceil_div(a->heads, tp)) * 2 * d(a->head_dim);
    if (const auto* a = std::get_if<BlockSparseAttention>(&attention)) return attention_width(a->base, tp);
    if (const auto* a = std::get_if<LinearAttention>(&attention)) return 2 * d(ceil_div(a->conv_channels, tp)) + d(ceil_div(a->heads * a->head_dim, tp));
    return 0;
}

/// Experts keep, for each token and chosen expert, the wider of gate_up and output, and the product between them.
double feed_forward_width(const Ffn& ffn, const Parallelism& p, std::int64_t hidden, bool gathered) {
    if (const auto* f = std::get_if<DenseFfn>(&ffn)) return d(ceil_div(f->intermediate, p.tp)) * (f->gated ? 3 : 2);
    if (const auto* f = std::get_if<MoeFfn>(&ffn)) {
        const double local = d(ceil_div(f->intermediate, p.moe_tp)), out = d(f->width > 0 ? f->width : hidden);
        const double workers = gathered ? d(p.dp_attention) : 1;
        return workers * (d(f->top_k) / d(p.ep) * (std::max(2 * local, out) + local) + out);
    }
    return 0;
}

Estimate<Bytes> workspaces(const Scenario& scenario) {
    const std::string& backend = scenario.engine.attention_backend;
    // flashinfer 384 MiB (512 for Qwen and trtllm_mha), trtllm_mla 150; triton, flash-attention and AMD's kernels little.
    if (backend == "triton" || backend == "torch_native") return assumed_mib(0, 32, 256);
    if (backend == "trtllm_mla") return assumed_mib(100, 150, 300);
    if (backend == "flashinfer") return assumed_mib(128, 384, 768);
    return assumed_mib(0, 384, 768);
}

Estimate<Bytes> logits(const Scenario& scenario, std::int64_t running) {
    const std::int64_t graph = scenario.engine.disable_cuda_graph ? 0 : cuda_graph_max_bs(scenario);
    const std::int64_t rows = std::max<std::int64_t>(1, std::min(graph > 0 ? graph : running, running)) * std::max<std::int64_t>(1, draft_tokens(scenario));
    const Bytes fp32{checked_mul(rows * 4, round_up(scenario.model->vocab_size, 64))};
    return {Bytes{fp32.count() / 4}, fp32, fp32 * 2, Basis::assumed};
}

}  // namespace

Estimate<Bytes> prefill_activations(const Scenario& scenario) {
    const Parallelism p = parallelism(scenario);
    const LlmSpec& model = *scenario.model;
    std::int64_t chunk = chunked_prefill_size(scenario);
    if (chunk <= 0) chunk = scenario.engine.max_prefill_tokens.value_or(16384);
    if (scenario.engine.disaggregation_mode == "decode") chunk = std::min<std::int64_t>(chunk, 2048);
    chunk = std::max<std::int64_t>(1, std::min(chunk / p.dp_attention, context_length(scenario)));
    double widest = 0;
    for (const LayerClass& c : model.classes) {
        widest = std::max(widest, attention_width(c.attention, p.attention_tp));
        widest = std::max(widest, feed_forward_width(c.ffn, p, model.hidden_size, p.dp_attention > 1));
    }
    const double bytes = d(chunk) * 2 * (2 * d(model.hidden_size) + widest);
    const double heuristic = 1.5 * static_cast<double>(kMiB) * d(chunk);
    return {nearest_bytes(bytes / 2), nearest_bytes(bytes), nearest_bytes(std::max(bytes * 1.5, std::min(heuristic, bytes * 4))), Basis::assumed};
}

Estimate<Bytes> decode_graphs(const Scenario& scenario, std::int64_t running) {
    if (scenario.engine.disable_cuda_graph || scenario.engine.disaggregation_mode == "prefill") return certain(Bytes{0}, Basis::engine_rule);
    const std::int64_t bs = std::clamp<std::int64_t>(cuda_graph_max_bs(scenario), 1, std::max<std::int64_t>(1, running));
    // Logs: 0.11 GiB for up to 8 requests, 1.44 for 512 (Qwen2.5-7B), 1.93 for 256 (DeepSeek-V4-Flash); with drafts a verify
    // step of all drafted tokens (6.13 GiB at the worst: 8 MiB a token) and the drafter's own steps (2.17).
    const double tokens = d(bs) * d(std::max<std::int64_t>(1, draft_tokens(scenario)));
    const double draft_steps = draft_has_layers(scenario) ? 1.35 : 1;
    return assumed_mib(30 + 0.2 * d(bs), (100 + 2.5 * tokens) * draft_steps, (200 + 8 * tokens) * draft_steps);
}

Estimate<Bytes> prefill_graph_memory(const Scenario& scenario) {
    if (!prefill_graphs(scenario) || scenario.engine.disaggregation_mode == "decode") return certain(Bytes{0}, Basis::engine_rule);
    const double by_rule = is_latent(*scenario.model) ? 1536 : 8.0 * d(captured_prefill_sizes(chunked_prefill_size(scenario)));
    return assumed_mib(0, by_rule / 2, std::max(2 * by_rule, 1024.0));
}

namespace {

std::array<Need, 3> sized_needs(const Scenario& scenario, const PoolSizes& sizes) {
    return {{{"request_table", certain(request_table(scenario, sizes.requests), Basis::engine_rule), true, false, true},
             {"decode_graphs", decode_graphs(scenario, sizes.requests.running), false, false, true},
             {"logits", logits(scenario, sizes.requests.running), false, false, true}}};
}

void add_to(Estimate<Bytes>& sum, const Estimate<Bytes>& bytes) {
    if (bytes.high.count() <= 0) return;
    sum.low += bytes.low;
    sum.expected += bytes.expected;
    sum.high += bytes.high;
}

}  // namespace

Estimate<Bytes> fixed_need(const Scenario& scenario, const std::vector<StageLoad>& loads) {
    Estimate<Bytes> sum = certain(Bytes{0}, Basis::assumed);
    for (const Need& need : needs(scenario, loads, PoolSizes{}))
        if (!need.by_size) add_to(sum, need.bytes);
    return sum;
}

Estimate<Bytes> sized_need(const Scenario& scenario, const PoolSizes& sizes) {
    Estimate<Bytes> sum = certain(Bytes{0}, Basis::assumed);
    for (const Need& need : sized_needs(scenario, sizes)) add_to(sum, need.bytes);
    return sum;
}

std::vector<Need> needs(const Scenario& scenario, const std::vector<StageLoad>& loads, const PoolSizes& sizes) {
    const EngineOptions& e = scenario.engine;
    std::vector<Need> list;
    const auto keep = [&](const Need& need) {
        if (need.bytes.high.count() > 0) list.push_back(need);
    };
    const auto add = [&](std::string_view name, Estimate<Bytes> bytes, bool before = false, bool serving = false) { keep({name, bytes, before, serving}); };
    const auto [table, graphs, output] = sized_needs(scenario, sizes);
    keep(table);
    Bytes page;
    for (const StageLoad& load : loads)
        page = std::max(page, bytes_for(Tokens{page_size(scenario)}, BytesPerToken{load.cells.full + load.cells.draft + load.cells.window}));
    add("dummy_page", certain(page, Basis::engine_rule), true);
    // Between the pools' arithmetic and "Memory pool end" eleven logs lose 0.02 to 0.27 GiB.
    add("allocator_rest", assumed_mib(20, 120, 300), true);
    add("attention_workspace", workspaces(scenario));
    keep(graphs);
    add("prefill_graphs", prefill_graph_memory(scenario));
    if (e.enable_symm_mem) add("symmetric_memory", certain(gibibytes(4), Basis::engine_rule));
    if (!e.moe_a2a_backend.empty() && e.moe_a2a_backend != "none") add("expert_dispatch", assumed_mib(512, 2048, 4096));
    if (e.hicache.enabled) add("hicache_staging", certain(staging_bytes(scenario, loads), Basis::engine_rule));
    keep(output);
    add("activations", prefill_activations(scenario), false, true);
    return list;
}

}  // namespace kvplan::sglang
