#include "planner/throughput/step_work.hpp"

#include <algorithm>
#include <cmath>

#include "planner/weights.hpp"

namespace kvplan {
namespace {

using Reach = ContextReads::Reach;

// Launches that wait for one another. SGLang and vLLM make about a hundred for the 16 layers of a small dense model
// (hazyresearch.stanford.edu/blog/2025-05-27-no-bubbles). What else a layer must do one after another: choose experts and sort
// tokens by them; project into the latent and absorb keys and values; score and select; convolve and gate.
constexpr double kKernelsPerLayer = 6.0;
constexpr double kKernelsOfRouting = 2.0;
constexpr double kKernelsOfLatent = 3.0;
constexpr double kKernelsOfIndexer = 2.0;
constexpr double kKernelsOfLinear = 2.0;

double attention_kernels(const Attention& attention) {
    if (const auto* latent = std::get_if<LatentAttention>(&attention)) return kKernelsOfLatent + (latent->indexer && latent->indexer->own ? kKernelsOfIndexer : 0.0);
    return std::holds_alternative<LinearAttention>(attention) ? kKernelsOfLinear : 0.0;
}

double element_bytes(std::string_view kv_dtype) {
    const auto has = [&](std::string_view part) { return kv_dtype.find(part) != std::string_view::npos; };
    if (has("fp4")) return 0.5625;  // halves and one scale byte per 16
    if (has("fp8") || has("int8") || has("8_e")) return 1.0;
    if (has("float32") || has("fp32")) return 4.0;
    return 2.0;
}

/// Reductions in the switch (NVLink SHARP, Hopper and later with NVSwitch) send a payload once and receive it once; without it the
/// least an all-reduce over n ranks can send is 2(n-1)/n of it.
double reduction_factor(const GpuSpec& gpu, double n) {
    if (n <= 1.0) return 0.0;
    const bool in_switch = gpu.peer_link.kind == LinkKind::nvlink && gpu.sm && gpu.sm->major >= 9;
    const double sent = 2.0 * (n - 1.0) / n;
    return in_switch ? std::min(sent, 1.0 + 1.0 / n) : sent;
}

struct Builder {
    const Scenario& scenario;
    const WeightRules& rules;
    const LlmSpec& model = *scenario.model;
    const GpuSpec& gpu = *scenario.gpu;
    double attention_tp = static_cast<double>(std::max<std::int64_t>(1, rules.attention_tp));
    double dcp = static_cast<double>(std::max<std::int64_t>(1, scenario.engine.decode_context_parallel));
    StepWork work{};

    void add_matrix(const WeightMatrix& matrix, MatrixGroup& group, double layers, double passes) {
        const auto type = static_cast<std::size_t>(compute_type(matrix.format, model, gpu));
        if (matrix.is_matmul) group.flops[type] += 2.0 * static_cast<double>(matrix.rows) * static_cast<double>(matrix.cols) * passes * layers;
        if (matrix.resident && matrix.component != Component::experts)
            group.read_bytes += static_cast<double>(bytes_per_rank(matrix, rules).count()) * layers;
    }

    void add_layer_weights(const LayerClass& layer, double layers) {
        const auto* moe = std::get_if<MoeFfn>(&layer.ffn);
        ExpertLayers set{.layers = layers};
        for (const WeightMatrix& matrix : layer.weights) {
            const bool mixture = matrix.component == Component::experts || matrix.component == Component::shared_experts || matrix.component == Component::router;
            MatrixGroup& group = mixture ? work.mixture : work.projections;
            const auto count = static_cast<double>(matrix.count);
            if (matrix.component != Component::experts || moe == nullptr || moe->experts <= 0) {
                add_matrix(matrix, group, layers, count);
                continue;
            }
            const double per_expert = count / static_cast<double>(moe->experts);
            add_matrix(matrix, group, layers, per_expert * static_cast<double>(moe->top_k));
            const double sharing = static_cast<double>(std::max<std::int64_t>(1, rules.moe_tp) * std::max<std::int64_t>(1, rules.ep));
            set.bytes += static_cast<double>(stored(matrix.format, matrix.rows, matrix.cols).bytes.count()) * per_expert / sharing;
            set.experts = static_cast<double>(moe->experts);
            set.top_k = static_cast<double>(moe->top_k);
        }
        if (set.experts > 0.0) work.experts.push_back(set);
        work.kernels += layers * (kKernelsPerLayer + attention_kernels(layer.attention) + (set.experts > 0.0 ? kKernelsOfRouting : 0.0));
    }

    /// Every rank's link: reductions after attention and after the MLP (tensor parallel), or the exchange of tokens between DP
    /// workers round the experts, of which a token crosses to one other rank at least: 1 byte an element out, 2 back.
    void add_links(double layers, bool mixture) {
        const double hidden = static_cast<double>(model.hidden_size), payload = 2.0 * hidden * layers;
        const double attention = reduction_factor(gpu, attention_tp);
        work.reduce_bytes += payload * attention;
        work.collectives += attention > 0.0 ? layers : 0.0;
        if (work.workers <= 1.0) {
            work.reduce_bytes += payload * reduction_factor(gpu, work.tp);
            work.collectives += work.tp > 1.0 ? layers : 0.0;
        } else if (mixture) {
            work.exchange_bytes += 3.0 * hidden * layers * (work.workers - 1.0) / work.workers;
            work.collectives += layers;
        }
    }

    void add_reads(Reach reach, double limit, double layers, double bytes, double decode_flops, double prefill_flops) {
        for (ContextReads& old : work.contexts) {
            if (old.reach != reach || old.limit != limit) continue;
            old.bytes += bytes * layers;
            old.decode_flops += decode_flops * layers;
            old.prefill_flops += prefill_flops * layers;
            return;
        }
        work.contexts.push_back({reach, limit, bytes * layers, decode_flops * layers, prefill_flops * layers});
    }

    void add_grouped(const GroupedAttention& a, double layers, std::optional<double> selected) {
        if (a.image_only) return;
        const double heads = std::max(static_cast<double>(a.kv_heads) / attention_tp, 1.0);
        const double width = static_cast<double>(a.head_dim + (a.v_head_dim > 0 ? a.v_head_dim : a.head_dim));
        const double bytes = heads * width * work.kv_element_bytes / dcp;
        const double flops = 2.0 * static_cast<double>(a.query_heads) * width;
        if (a.stores_kv) work.kv_write_bytes += bytes * layers;
        if (selected) add_reads(Reach::window, *selected, layers, bytes, flops, flops);
        else if (a.window) add_reads(a.chunked ? Reach::chunk : Reach::window, static_cast<double>(*a.window), layers, bytes, flops, flops);
        else add_reads(Reach::all, 0.0, layers, bytes, flops, flops);
    }

    /// Decode in the absorbed form reads the latent once for all heads; prefill multiplies the heads' own keys and values.
    void add_latent(const LatentAttention& a, double layers) {
        const auto heads = static_cast<double>(a.heads), lora = static_cast<double>(a.kv_lora_rank), rope = static_cast<double>(a.qk_rope_head_dim);
        const double bytes = (lora + rope) * work.kv_element_bytes / dcp;
        const double decode = 2.0 * heads * (2.0 * lora + rope);
        const double prefill = 2.0 * heads * (static_cast<double>(a.qk_nope_head_dim + a.v_head_dim) + rope);
        work.kv_write_bytes += bytes * layers;
        if (!a.indexer || a.indexer->top_k <= 0) return add_reads(Reach::all, 0.0, layers, bytes, decode, prefill);
        add_reads(Reach::window, static_cast<double>(a.indexer->top_k), layers, bytes, decode, std::min(decode, prefill));
        if (!a.indexer->own) return;
        const auto width = static_cast<double>(a.indexer->head_dim);
        const double scores = 2.0 * static_cast<double>(a.indexer->heads) * width;
        add_reads(Reach::all, 0.0, layers, width / dcp, scores, scores);
    }

    void add_compressed(const CompressedAttention& a, double layers) {
        const auto width = static_cast<double>(a.head_dim);
        const double bytes = width * work.kv_element_bytes, flops = 4.0 * static_cast<double>(a.heads) * width;
        work.kv_write_bytes += bytes * layers;
        add_reads(Reach::window, static_cast<double>(a.window), layers, bytes, flops, flops);
        if (a.ratio <= 0) return;
        const auto ratio = static_cast<double>(a.ratio);
        if (a.index_top_k > 0) {
            add_reads(Reach::window, static_cast<double>(a.index_top_k) * ratio, layers, bytes / ratio, flops / ratio, flops / ratio);
            const auto index = static_cast<double>(a.index_head_dim);
            const double scores = 2.0 * static_cast<double>(a.index_heads) * index / ratio;
            add_reads(Reach::all, 0.0, layers, index * 0.5 / ratio, scores, scores);
        } else {
            add_reads(Reach::all, 0.0, layers, bytes / ratio, flops / ratio, flops / ratio);
        }
    }

    void add_linear(const LinearAttention& a, double layers) {
        const double state = static_cast<double>(a.heads) * static_cast<double>(a.head_dim) * static_cast<double>(std::max<std::int64_t>(1, a.state_size));
        const double bytes = static_cast<double>(bits_of(a.state_dtype)) / 8.0;
        if (a.kind != LinearAttention::Kind::short_conv) work.state_bytes += 2.0 * state * bytes / attention_tp * layers;
        work.projections.flops[static_cast<std::size_t>(ComputeType::half)] += 4.0 * state * layers;
    }

    void add_attention(const Attention& attention, double layers) {
        if (const auto* grouped = std::get_if<GroupedAttention>(&attention)) add_grouped(*grouped, layers, std::nullopt);
        if (const auto* latent = std::get_if<LatentAttention>(&attention)) add_latent(*latent, layers);
        if (const auto* linear = std::get_if<LinearAttention>(&attention)) add_linear(*linear, layers);
        if (const auto* compressed = std::get_if<CompressedAttention>(&attention)) add_compressed(*compressed, layers);
        if (const auto* blocks = std::get_if<BlockSparseAttention>(&attention)) {
            add_grouped(blocks->base, layers, static_cast<double>(blocks->top_k_blocks * blocks->block_size));
            const auto index = static_cast<double>(blocks->index_head_dim);
            const double scores = 2.0 * static_cast<double>(blocks->index_heads) * index;
            add_reads(Reach::all, 0.0, layers, index * work.kv_element_bytes, scores, scores);
        }
    }

    void add_head() {
        const auto is = [&](Component component) {
            for (const WeightMatrix& matrix : model.outside) {
                if (matrix.component != component) continue;
                WeightMatrix head = matrix;
                head.is_matmul = head.resident = true;
                add_matrix(head, work.head, 1.0, static_cast<double>(head.count));
                return true;
            }
            return false;
        };
        if (model.tied_embeddings || !is(Component::lm_head)) is(Component::embedding);
    }
};

}  // namespace

ComputeType compute_type(const StorageFormat& format, const LlmSpec& model, const GpuSpec& gpu) {
    const ComputeType eight = gpu.dense.fp8 ? ComputeType::fp8 : ComputeType::half;
    switch (format.scheme) {
        case Scheme::fp8_tensor:
        case Scheme::fp8_channel:
        case Scheme::fp8_block:
        case Scheme::fbgemm_fp8:
        case Scheme::mxfp8: return eight;
        case Scheme::mxfp4: return gpu.dense.fp4 ? ComputeType::fp8 : ComputeType::half;
        case Scheme::int8_tensor:
        case Scheme::int8_channel: return gpu.dense.int8 ? ComputeType::int8 : ComputeType::half;
        case Scheme::nvfp4: return gpu.dense.fp4 ? ComputeType::fp4 : ComputeType::half;
        case Scheme::packed_int:
        case Scheme::gptq:
        case Scheme::awq: return model.quant_method.find("w4a") != std::string::npos ? eight : ComputeType::half;
        case Scheme::plain:
        case Scheme::bnb_nf4:
        case Scheme::bnb_int8:
        case Scheme::mlx_affine: return ComputeType::half;
    }
    return ComputeType::half;
}

StepWork count_work(const Scenario& scenario, const WeightRules& rules, std::string_view kv_dtype) {
    const Parallelism p = parallelism(scenario);
    Builder builder{.scenario = scenario, .rules = rules};
    StepWork& work = builder.work;
    work.kv_element_bytes = element_bytes(kv_dtype);
    work.tp = static_cast<double>(p.tp);
    work.pp = static_cast<double>(p.pp);
    work.ranks = static_cast<double>(p.ranks_per_replica);
    work.workers = static_cast<double>(p.dp_attention);
    const LlmSpec& model = *scenario.model;
    std::vector<double> layers(model.classes.size(), 0.0);
    for (const int index : model.layer_class) layers[static_cast<std::size_t>(index)] += 1.0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (layers[i] <= 0.0) continue;
        builder.add_layer_weights(model.classes[i], layers[i]);
        builder.add_attention(model.classes[i].attention, layers[i]);
        builder.add_links(layers[i], std::holds_alternative<MoeFfn>(model.classes[i].ffn));
    }
    builder.add_head();
    for (const ExpertLayers& set : work.experts)
        work.exchange_copies = std::max(work.exchange_copies, work.workers * (1.0 - std::pow(1.0 - 1.0 / work.workers, set.top_k)));
    return std::move(work);
}

double context_sum(const ContextReads& reads, double from, double to) {
    const double limit = reads.limit;
    const auto up_to = [&](double x) {
        if (reads.reach == Reach::all || x <= limit) return x * x / 2.0;
        return limit * limit / 2.0 + (x - limit) * (reads.reach == Reach::chunk ? limit / 2.0 : limit);
    };
    return up_to(to) - up_to(from);
}

double touched_experts(const ExpertLayers& layers, double tokens, double popular_share) {
    const double popular = layers.experts / 5.0, others = layers.experts - popular;
    const double picked = std::min(popular_share * layers.top_k, popular);
    const auto touched = [&](double n, double picks) { return n * (1.0 - std::pow(1.0 - std::min(1.0, picks / n), std::max(1.0, tokens))); };
    return touched(popular, picked) + touched(others, layers.top_k - picked);
}

}  // namespace kvplan
