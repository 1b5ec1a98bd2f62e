#include <algorithm>

#include "models/llm/llm_spec.hpp"
#include "units/quantity.hpp"

namespace kvplan {
namespace {

struct Sum {
    ModelTotals totals;

    void add(const WeightMatrix& matrix, std::int64_t times, const Ffn* ffn) {
        if (matrix.stored) {
            const Stored size = kvplan::stored(matrix);
            totals.checkpoint_bytes += size.bytes * times;
            totals.stored_elements = checked_add(totals.stored_elements, checked_mul(size.elements, times));
            totals.tensors = checked_add(totals.tensors, checked_mul(size.tensors, times));
            totals.total_params = checked_add(totals.total_params, checked_mul(parameters(matrix), times));
        }
        if (!matrix.is_matmul || ffn == nullptr) return;
        std::int64_t met = matrix.count;
        if (matrix.sharding == Sharding::expert)
            if (const auto* moe = std::get_if<MoeFfn>(ffn)) met = std::min(computing(*moe), met);
        const std::int64_t one = checked_add(checked_mul(matrix.rows, matrix.cols), matrix.bias ? matrix.rows : 0);
        const std::int64_t all = checked_mul(checked_mul(one, met), times);
        totals.matmul_params = checked_add(totals.matmul_params, all);
        if (matrix.component == Component::lm_head) head = checked_add(head, all);
    }

    /// How many of the chosen experts compute, on average over the choices.
    static std::int64_t computing(const MoeFfn& moe) {
        if (moe.zero_experts == 0) return moe.top_k;
        return ceil_div(checked_mul(moe.top_k, moe.experts), checked_add(moe.experts, moe.zero_experts));
    }

    std::int64_t head = 0;  ///< of matmul_params
};

std::int64_t active_params(const LlmSpec& spec, const Sum& sum) {
    switch (spec.active_convention) {
        case ActiveConvention::with_head: return sum.totals.matmul_params;
        case ActiveConvention::layers_only: return sum.totals.matmul_params - sum.head;
        case ActiveConvention::with_head_and_embedding: break;
    }
    // A tied head is the embedding: it is counted once.
    const std::int64_t embedding = spec.tied_embeddings ? 0 : checked_mul(spec.vocab_size, spec.hidden_size);
    return checked_add(sum.totals.matmul_params, embedding);
}

}  // namespace

std::string_view name_of(Component component) {
    switch (component) {
        case Component::embedding: return "embedding";
        case Component::lm_head: return "lm_head";
        case Component::attention: return "attention";
        case Component::indexer: return "indexer";
        case Component::linear_attention: return "linear_attention";
        case Component::dense_mlp: return "dense_mlp";
        case Component::router: return "router";
        case Component::experts: return "experts";
        case Component::shared_experts: return "shared_experts";
        case Component::norms: return "norms";
        case Component::mtp: return "mtp";
        case Component::vision: return "vision";
        case Component::audio: return "audio";
        case Component::other: return "other";
    }
    return "other";
}

std::int64_t parameters(const WeightMatrix& matrix) {
    const std::int64_t one = checked_add(checked_mul(matrix.rows, matrix.cols), matrix.bias ? matrix.rows : 0);
    return checked_mul(one, matrix.count);
}

Stored stored(const WeightMatrix& matrix) {
    Stored one = stored(matrix.format, matrix.rows, matrix.cols);
    if (matrix.same_tensor) one.tensors = 0;
    if (matrix.bias) {
        const Stored bias = stored(plain(matrix.bias_type), matrix.rows, 1);
        one.bytes += bias.bytes;
        one.elements = checked_add(one.elements, bias.elements);
        if (!matrix.same_tensor) one.tensors += bias.tensors;
    }
    one.bytes = one.bytes * matrix.count;
    one.elements = checked_mul(one.elements, matrix.count);
    if (!matrix.stacked) one.tensors = checked_mul(one.tensors, matrix.count);
    return one;
}

ModelTotals totals(const LlmSpec& spec) {
    Sum sum;
    std::vector<std::int64_t> layers(spec.classes.size(), 0);
    for (const int index : spec.layer_class) ++layers[static_cast<std::size_t>(index)];
    for (std::size_t i = 0; i < spec.classes.size(); ++i)
        for (const WeightMatrix& matrix : spec.classes[i].weights) sum.add(matrix, layers[i], &spec.classes[i].ffn);
    const Ffn outside = NoFfn{};
    for (const WeightMatrix& matrix : spec.outside) sum.add(matrix, 1, &outside);
    if (spec.draft)
        for (const WeightMatrix& matrix : spec.draft->layer.weights) sum.add(matrix, spec.draft->layers, nullptr);
    sum.totals.active_params = active_params(spec, sum);
    if (spec.exact_checkpoint_bytes) sum.totals.checkpoint_bytes = *spec.exact_checkpoint_bytes;
    if (spec.exact_stored_elements) sum.totals.stored_elements = *spec.exact_stored_elements;
    return sum.totals;
}

}  // namespace kvplan
