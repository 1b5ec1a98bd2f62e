#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/hardware/gpu_spec.hpp"
#include "planner/engines/engine.hpp"
#include "planner/plan.hpp"

namespace kvplan {

// What the tokens of one replica take of each resource: counted from the model's matrices and attention, before any rate.
// Formulas and their sources: docs/method-throughput.md.

/// The type the tensor cores multiply in, which decides the peak rate.
enum class ComputeType { half, fp8, fp4, int8 };
inline constexpr std::size_t kComputeTypes = 4;
using FlopsByType = std::array<double, kComputeTypes>;

/// The computing type of matrices stored in `format` on this GPU: weight-only formats compute in 16 bits; fp8 and fp4 with
/// quantized activations in their own type where the GPU has it; mxfp4 with
/// 8-bit activations at the fp8 rate on GPUs that have fp4 units, weight-only elsewhere.
[[nodiscard]] ComputeType compute_type(const StorageFormat& format, const LlmSpec& model, const GpuSpec& gpu);

/// Matrices that run one after another in a layer, summed over all layers: their weights and their work.
struct MatrixGroup {
    double read_bytes = 0.0;       // per rank and step whatever the batch, all pipeline stages together
    FlopsByType flops{};           // per token that passes, whole replica
};

/// Routed experts of layers that are alike.
struct ExpertLayers {
    double layers = 0.0;
    double experts = 0.0, top_k = 0.0;
    double bytes = 0.0;            // of one expert of one layer, divided by the ranks that share the experts
};

/// Attention over the past, of all layers with the same reach.
struct ContextReads {
    enum class Reach { all, window, chunk };  // `window` also stands for the selection of sparse attention
    Reach reach = Reach::all;
    double limit = 0.0;            // tokens; of window and chunk
    double bytes = 0.0;            // read per token of context in reach, per request and step, per rank, all stages together
    double decode_flops = 0.0;     // per token of context in reach and generated token, whole replica
    double prefill_flops = 0.0;    // the same for a prompt token
};

struct StepWork {
    MatrixGroup projections;       // attention projections and dense MLPs
    MatrixGroup mixture;           // router, shared and routed experts (read_bytes without the routed ones)
    std::vector<ExpertLayers> experts;
    MatrixGroup head;              // per sampled token
    std::vector<ContextReads> contexts;
    double state_bytes = 0.0;      // linear attention: read and written per request and step, per rank
    double kv_element_bytes = 2.0;
    double kv_write_bytes = 0.0;   // per token, per rank, all stages together
    double reduce_bytes = 0.0;     // tensor-parallel reductions: payload per token of a DP worker, on each rank's link, all stages
    double exchange_bytes = 0.0;   // expert dispatch and combine: payload per token of a rank that crosses to one other, all stages
    double exchange_copies = 1.0;  // ranks that a token crosses to when its experts lie anywhere
    double kernels = 0.0;          // dependent launches of a step
    double collectives = 0.0;
    double ranks = 1.0, tp = 1.0, pp = 1.0, workers = 1.0;  // of one replica; workers: DP attention
};

[[nodiscard]] StepWork count_work(const Scenario& scenario, const WeightRules& rules, std::string_view kv_dtype);

/// Sum over positions `from`..`to` of the context in reach: what a request reads while it grows from one to the other.
[[nodiscard]] double context_sum(const ContextReads& reads, double from, double to);

/// Expected experts that `tokens` tokens touch when a fifth of the experts gets `popular_share` of the picks (0.2: all alike):
/// each token picks an expert of a class with probability p, so n (1 - (1 - p)^tokens) of each class.
[[nodiscard]] double touched_experts(const ExpertLayers& layers, double tokens, double popular_share);

}  // namespace kvplan
