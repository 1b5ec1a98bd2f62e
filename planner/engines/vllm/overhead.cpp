#include "planner/engines/vllm/overhead.hpp"

#include <algorithm>

#include "models/hardware/gpu_spec.hpp"
#include "planner/engines/vllm/defaults.hpp"
#include "planner/engines/vllm/versions.hpp"

namespace kvplan::vllm {
namespace {

double d(std::int64_t n) { return static_cast<double>(n); }
double gib_of(double bytes) { return bytes / static_cast<double>(kGiB); }

Estimate<Bytes> assumed_gib(double low, double expected, double high) {
    const auto bytes = [](double gib) { return nearest_bytes(std::max(0.0, gib) * static_cast<double>(kGiB)); };
    return {bytes(std::min(low, expected)), bytes(expected), bytes(std::max(high, expected)), Basis::assumed};
}

/// GiB of the sampler's peak: copies of the fp32 logits, and the hidden states that are alive beside them.
double sampler_gib(const Scenario& scenario) {
    const LlmSpec& model = *scenario.model;
    const double logits = d(max_num_seqs(scenario)) * d(round_up(model.vocab_size, 64)) * 4;
    const double copies = in_force(Change::sampler_without_sort, scenario.engine) ? 3.5 : 9.5;
    return gib_of(copies * logits + d(max_num_batched_tokens(scenario)) * d(model.hidden_size) * 2) + 0.12;
}

std::int64_t feed_forward_width(const Ffn& ffn, std::int64_t tp) {
    if (const auto* dense = std::get_if<DenseFfn>(&ffn)) return ceil_div(dense->intermediate, tp);
    if (const auto* moe = std::get_if<MoeFfn>(&ffn)) return ceil_div(std::max(moe->shared_intermediate, moe->dense_intermediate), tp);
    return 0;
}

double forward_gib(const Scenario& scenario) {
    const std::int64_t tp = parallelism(scenario).tp;
    double widest = 0;
    for (const LayerClass& c : scenario.model->classes) widest = std::max(widest, d(feed_forward_width(c.ffn, tp)));
    return gib_of(d(max_num_batched_tokens(scenario)) * 2 * (5 * d(scenario.model->hidden_size) + 3 * widest));
}

/// Kernels for packed 4-bit experts bring buffers of their own; Triton's keep these for the largest batch.
bool packed_experts(const LayerClass& c) {
    return std::any_of(c.weights.begin(), c.weights.end(), [](const WeightMatrix& m) { return m.component == Component::experts && m.format.bits < 8; });
}

Estimate<Bytes> experts(const Scenario& scenario) {
    const Parallelism p = parallelism(scenario);
    double most = 0;
    bool packed = false;
    for (const LayerClass& c : scenario.model->classes) {
        const auto* moe = std::get_if<MoeFfn>(&c.ffn);
        if (moe == nullptr) continue;
        const std::int64_t local = ceil_div(moe->intermediate, p.moe_tp), out = moe->width > 0 ? moe->width : scenario.model->hidden_size;
        most = std::max(most, d(moe->top_k) * d(std::max(2 * local, out) + local));
        packed = packed || packed_experts(c);
    }
    if (most <= 0) return certain(Bytes{0}, Basis::engine_rule);
    // Data-parallel engines gather the tokens of all before their experts; the kernel works on at most 32,768 at once.
    const std::int64_t tokens = std::min<std::int64_t>(checked_mul(max_num_batched_tokens(scenario), p.replicas), std::max<std::int64_t>(32768, max_num_batched_tokens(scenario)));
    const double gib = gib_of(d(tokens) * most * 2);
    return packed ? assumed_gib(0, 0, gib) : assumed_gib(gib / 2, gib, gib * 1.5 + 0.2);
}

/// Encoder outputs of a full budget stay alive in the profile run; towers themselves need up to a GiB.
Estimate<Bytes> encoder(const Scenario& scenario) {
    if (!scenario.model->vision || !scenario.engine.enable_multimodal) return certain(Bytes{0}, Basis::engine_rule);
    const double outputs = gib_of(d(max_num_batched_tokens(scenario)) * d(scenario.model->hidden_size) * 2);
    return assumed_gib(0, outputs + 0.12, outputs + 1.0);
}

Estimate<Bytes> communicator(const Scenario& scenario) {
    if (parallelism(scenario).tp <= 1) return assumed_gib(0.05, 0.25, 0.5);
    const bool fast = scenario.gpu && (scenario.gpu->peer_link.kind == LinkKind::nvlink || scenario.gpu->peer_link.kind == LinkKind::infinity_fabric);
    return fast ? assumed_gib(0.3, 2.1, 2.5) : assumed_gib(0.1, 0.5, 2.3);
}

bool mixture(const LlmSpec& model) {
    return std::any_of(model.classes.begin(), model.classes.end(), [](const LayerClass& c) { return std::holds_alternative<MoeFfn>(c.ffn); });
}

Estimate<Bytes> graphs(const Scenario& scenario, std::int64_t layers) {
    const std::int64_t sizes = captured_sizes(scenario);
    if (sizes == 0) return certain(Bytes{0}, Basis::engine_rule);
    const double share = d(sizes) / 51, gib = (0.39 + 0.0163 * d(layers)) * share;
    return mixture(*scenario.model) ? assumed_gib(gib * 0.5, gib + 0.3 * share, gib + 1.3 * share) : assumed_gib(gib * 0.5, gib, gib + 0.35 * share);
}

}  // namespace

Estimate<Bytes> sum(const Estimate<Bytes>& a, const Estimate<Bytes>& b) {
    return {a.low + b.low, a.expected + b.expected, a.high + b.high, weaker(a.basis, b.basis)};
}

Estimate<Bytes> Overhead::total() const { return sum(sum(activation, communicator), sum(experts, encoder)); }

Overhead overhead(const Scenario& scenario, bool last_stage, std::int64_t layers) {
    const double sampler = last_stage ? sampler_gib(scenario) : 0, forward = forward_gib(scenario);
    const double peak = std::max(sampler, forward);
    Overhead o;
    o.activation = assumed_gib(0.9 * peak - 0.1, peak, 1.1 * peak + 0.1);
    o.communicator = communicator(scenario);
    o.experts = experts(scenario);
    o.encoder = encoder(scenario);
    o.graphs = graphs(scenario, layers);
    return o;
}

}  // namespace kvplan::vllm
