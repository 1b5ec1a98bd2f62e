#include "planner/weights.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace kvplan {

namespace {

constexpr std::int64_t kComponents = static_cast<std::int64_t>(Component::other) + 1;

std::int64_t group_of(const WeightMatrix& matrix, const WeightRules& rules) {
    switch (matrix.component) {
        case Component::embedding: return rules.vocab_tp;
        case Component::lm_head: return rules.head_tp;
        case Component::attention:
        case Component::linear_attention: return rules.attention_tp;
        case Component::dense_mlp: return rules.dense_tp;
        case Component::shared_experts: return rules.shared_tp;
        case Component::vision:
        case Component::audio: return matrix.name.find("mlp") != std::string::npos ? rules.vision_mlp_tp : rules.vision_tp;
        case Component::experts: return rules.moe_tp;
        default: return rules.dense_tp;
    }
}

// Rows of one rank when `units` indivisible units (heads) are dealt over `group` ranks; with more ranks than units
// each rank holds one whole unit.
std::int64_t split_units(std::int64_t length, std::int64_t units, std::int64_t group) {
    if (units <= 0) return ceil_div(length, group);
    return checked_mul(ceil_div(length, units), std::max<std::int64_t>(1, ceil_div(units, group)));
}

struct Local {
    std::int64_t rows, cols, count;
};

Local local_shape(const WeightMatrix& matrix, const WeightRules& rules) {
    const std::int64_t group = std::max<std::int64_t>(1, group_of(matrix, rules));
    Local local{matrix.rows, matrix.cols, matrix.count};
    Sharding cut = matrix.sharding;
    if (cut == Sharding::expert) {
        local.count = ceil_div(matrix.count + rules.redundant_experts, std::max<std::int64_t>(1, rules.ep));
        cut = matrix.inside_expert;
    }
    switch (cut) {
        case Sharding::replicated:
        case Sharding::expert: break;
        case Sharding::column:
        case Sharding::query_heads:
        case Sharding::kv_heads: local.rows = split_units(matrix.rows, matrix.units, group); break;
        case Sharding::row: local.cols = split_units(matrix.cols, matrix.units, group); break;
        case Sharding::vocab: local.rows = ceil_div(round_up(matrix.rows, rules.vocab_padding), group); break;
    }
    return local;
}

// Kernels want whole tiles of experts: the intermediate size of a rank, and the width experts work on.
Local padded_shape(const WeightMatrix& matrix, const WeightRules& rules, Local local) {
    if (matrix.component != Component::experts || matrix.sharding != Sharding::expert) return local;
    const bool down = matrix.inside_expert == Sharding::row;
    auto& inner = down ? local.cols : local.rows;
    auto& width = down ? local.rows : local.cols;
    inner = round_up(inner, std::max<std::int64_t>(1, rules.expert_padding));
    if (width > 1) width = round_up(width, std::max<std::int64_t>(1, rules.expert_width_padding));
    return local;
}

// The matrix alone, without scales, zero points and bias: they lie in tensors of their own.
Bytes values_of(const WeightMatrix& matrix, const Local& padded) {
    return Bytes{checked_mul(checked_mul(padded.rows, padded.cols), matrix.format.bits) / 8} * padded.count;
}

// A rest that the allocator leaves behind a tensor; 0 below 10 MiB, where tensors share segments.
Bytes rest_behind(Bytes tensor, AllocatorCount counted) {
    constexpr std::int64_t kLarge = 10 * kMiB, kStep = 2 * kMiB;
    if (counted == AllocatorCount::none || tensor.count() < kLarge) return Bytes{0};
    const Bytes rest{round_up(tensor.count(), kStep) - tensor.count()};
    return counted == AllocatorCount::allocated && rest.count() > kMiB ? Bytes{0} : rest;
}

// Non-trtllm kernels keep a swizzled copy of the nvfp4 block scales, padded to 128 rows and 4 columns.
Bytes swizzled_scales(const StorageFormat& format, std::int64_t rows, std::int64_t cols) {
    if (format.scheme != Scheme::nvfp4) return Bytes{0};
    return Bytes{checked_mul(round_up(rows, 128), round_up(ceil_div(cols, 16), 4))};
}

Bytes local_bytes(const WeightMatrix& matrix, const WeightRules& rules, const Local& local, const Local& padded) {
    Bytes one = stored(matrix.format, padded.rows, padded.cols).bytes;
    if (rules.pads_values_only) {
        // What the padding adds, less its share of scales.
        const Bytes plain = stored(matrix.format, local.rows, local.cols).bytes;
        const Bytes values{checked_mul(padded.rows * padded.cols - local.rows * local.cols, matrix.format.bits) / 8};
        one = plain + values;
    }
    if (rules.second_scale_copy) one += swizzled_scales(matrix.format, padded.rows, padded.cols);
    // The bias of a row-parallel matrix is added once, after the reduction: every rank keeps all of it.
    if (matrix.bias) one += Bytes{checked_mul(padded.rows, bits_of(matrix.bias_type) / 8)};
    return one * local.count;
}

// w_kc and w_vc: contiguous 16-bit copies of kv_b_proj's content, kept beside it for the absorbed form of MLA.
Bytes absorbed_copies(const Attention& attention, const WeightRules& rules) {
    const auto* latent = std::get_if<LatentAttention>(&attention);
    if (latent == nullptr || !rules.absorbed_latent_copies) return Bytes{0};
    const std::int64_t heads = ceil_div(latent->heads, std::max<std::int64_t>(1, rules.attention_tp));
    return Bytes{heads * (latent->qk_nope_head_dim + latent->v_head_dim) * latent->kv_lora_rank * 2};
}

// Bytes by component, and what is no component of the checkpoint.
struct Sums {
    std::array<std::int64_t, kComponents> by_component{};
    Bytes absorbed;
    Bytes lora;
    Bytes rests;   // behind tensors, in the allocator

    [[nodiscard]] Bytes total() const {
        Bytes sum = absorbed + lora + rests;
        for (const std::int64_t bytes : by_component) sum += Bytes{bytes};
        return sum;
    }
    void add(const Sums& other, std::int64_t times = 1) {
        for (std::size_t i = 0; i < by_component.size(); ++i)
            by_component[i] = checked_add(by_component[i], checked_mul(other.by_component[i], times));
        absorbed += other.absorbed * times;
        lora += other.lora * times;
        rests += other.rests * times;
    }
};

// Matrices that the engines keep in one tensor: q, k and v; the projections into the latent; gate and up; all experts.
std::string_view tensor_of(const WeightMatrix& matrix) {
    if (matrix.component == Component::experts) return matrix.inside_expert == Sharding::row ? "w2" : "w13";
    const bool heads = matrix.sharding == Sharding::query_heads || matrix.sharding == Sharding::kv_heads;
    if (matrix.component == Component::attention && heads && matrix.name.find("_b_proj") == std::string::npos) return "qkv";
    if (matrix.component == Component::attention && matrix.name.find("_a_proj") != std::string::npos) return "qkv_a";
    const bool mlp = matrix.component == Component::dense_mlp || matrix.component == Component::shared_experts;
    if (mlp && matrix.sharding == Sharding::column) return "gate_up";
    return matrix.name;
}

// A-matrices of LoRA adapters [rank, in] and B-matrices [out, rank] in 16 bits, cut like the matrix they adapt.
Bytes lora_buffers(const WeightMatrix& matrix, const Local& local, const EngineOptions& engine) {
    const bool adaptable = matrix.is_matmul && (matrix.component == Component::attention || matrix.component == Component::dense_mlp);
    if (!adaptable || engine.max_loras <= 0 || engine.max_lora_rank <= 0) return Bytes{0};
    return Bytes{checked_mul(checked_mul(engine.max_loras * engine.max_lora_rank, local.rows + local.cols), 2)};
}

struct Tensor {
    std::string_view name;
    Bytes values, scales;
    std::int64_t count = 1;
};

// Few dozen at most, so a search from the end is faster than a tree; matrices of one tensor stand near each other.
Tensor& tensor_named(std::vector<Tensor>& tensors, std::string_view name) {
    const auto known = std::find_if(tensors.rbegin(), tensors.rend(), [&](const Tensor& tensor) { return tensor.name == name; });
    if (known != tensors.rend()) return *known;
    tensors.push_back({name, Bytes{0}, Bytes{0}, 1});
    return tensors.back();
}

template <class Keep>
Sums sum_of(const std::vector<WeightMatrix>& matrices, const Scenario& scenario, const WeightRules& rules, Keep keep) {
    std::vector<Tensor> tensors;
    tensors.reserve(matrices.size());
    Sums sums;
    for (const WeightMatrix& matrix : matrices) {
        if (!matrix.resident || !keep(matrix)) continue;
        const bool tower = matrix.component == Component::vision || matrix.component == Component::audio;
        if (tower && !scenario.engine.enable_multimodal) continue;
        auto& slot = sums.by_component[static_cast<std::size_t>(matrix.component)];
        const Local local = local_shape(matrix, rules), padded = padded_shape(matrix, rules, local);
        const Bytes bytes = local_bytes(matrix, rules, local, padded);
        slot = checked_add(slot, bytes.count());
        sums.lora += lora_buffers(matrix, local, scenario.engine);
        const bool apart = matrix.component != Component::experts && !matrix.stacked;   // repeated blocks, such as a tower's
        Tensor& tensor = tensor_named(tensors, tensor_of(matrix));
        tensor.count = apart ? std::max<std::int64_t>(1, matrix.count) : 1;
        const Bytes values = std::min(bytes, values_of(matrix, padded));
        tensor.values += Bytes{values.count() / tensor.count};
        tensor.scales += Bytes{(bytes - values).count() / tensor.count};
    }
    for (const Tensor& tensor : tensors)
        sums.rests += (rest_behind(tensor.values, rules.allocator) + rest_behind(tensor.scales, rules.allocator)) * tensor.count;
    return sums;
}

constexpr auto kAll = [](const WeightMatrix&) { return true; };

Sums sum_of(const LayerClass& layer, const Scenario& scenario, const WeightRules& rules) {
    Sums sums = sum_of(layer.weights, scenario, rules, kAll);
    sums.absorbed = absorbed_copies(layer.attention, rules);
    return sums;
}

bool on_first_stage(const WeightMatrix& matrix) {
    return matrix.component == Component::embedding || matrix.component == Component::vision || matrix.component == Component::audio;
}

// A tied head is no matrix of its own, but the last of several stages needs its own copy of the embedding.
Sums outside_of(const Scenario& scenario, const WeightRules& rules, bool first, bool last) {
    const LlmSpec& model = *scenario.model;
    return sum_of(model.outside, scenario, rules, [&](const WeightMatrix& matrix) {
        const bool tied_copy = last && !first && model.tied_embeddings && matrix.component == Component::embedding;
        return on_first_stage(matrix) ? (first || tied_copy) : last;
    });
}

// Draft layers of the checkpoint, or a separate drafter, on the last stage.
Bytes draft_bytes(const Scenario& scenario, const WeightRules& rules) {
    if (!rules.draft_resident) return Bytes{0};
    Sums sums;
    if (scenario.draft_model) {
        for (const int index : scenario.draft_model->layer_class)
            sums.add(sum_of(scenario.draft_model->classes[static_cast<std::size_t>(index)], scenario, rules));
        sums.add(sum_of(scenario.draft_model->outside, scenario, rules,
                        [&](const WeightMatrix& m) { return !rules.draft_shares_embeddings || m.component != Component::embedding; }));
    } else if (scenario.model->draft) {
        sums.add(sum_of(scenario.model->draft->layer, scenario, rules), scenario.model->draft->layers);
    }
    return sums.total();
}

struct StageSums {
    Sums sums;
    Bytes draft;
    [[nodiscard]] Bytes total() const { return sums.total() + draft; }
};

StageSums sum_stage(const Scenario& scenario, const WeightRules& rules, const StageLayers& stage, bool first, bool last) {
    const LlmSpec& model = *scenario.model;
    std::vector<std::int64_t> layers_of_class(model.classes.size(), 0);
    for (std::int64_t i = stage.first; i < stage.first + stage.count; ++i)
        ++layers_of_class[static_cast<std::size_t>(model.layer_class[static_cast<std::size_t>(i)])];
    StageSums result;
    for (std::size_t c = 0; c < layers_of_class.size(); ++c)
        if (layers_of_class[c] > 0) result.sums.add(sum_of(model.classes[c], scenario, rules), layers_of_class[c]);
    result.sums.add(outside_of(scenario, rules, first, last));
    if (last) result.draft = draft_bytes(scenario, rules);
    return result;
}

bool replicated(Component component, const WeightRules& rules) {
    switch (component) {
        case Component::indexer:
        case Component::router:
        case Component::norms: return true;
        case Component::attention:
        case Component::linear_attention: return rules.attention_tp == 1;
        case Component::shared_experts: return rules.shared_tp == 1;
        case Component::vision: return rules.vision_tp == 1;
        default: return false;
    }
}

void add_components(WeightsPlan& plan, const StageSums& stage, const WeightRules& rules) {
    for (std::size_t i = 0; i < stage.sums.by_component.size(); ++i) {
        const auto component = static_cast<Component>(i);
        if (stage.sums.by_component[i] > 0)
            plan.components.push_back({name_of(component), Bytes{stage.sums.by_component[i]}, replicated(component, rules)});
    }
    if (stage.sums.absorbed.count() > 0)
        plan.components.push_back({"absorbed_kv_b", stage.sums.absorbed, rules.attention_tp == 1});
    if (stage.sums.lora.count() > 0) plan.components.push_back({"lora_buffers", stage.sums.lora, false});
    if (stage.sums.rests.count() > 0) plan.components.push_back({"allocator_rounding", stage.sums.rests, false});
    if (rules.rope_table.count() > 0) plan.components.push_back({"rope_table", rules.rope_table, true});
    if (stage.draft.count() > 0) plan.components.push_back({"draft", stage.draft, false});
}

// The engines offload whole layers until the size is reached; by component only the sum is known, so it is taken from
// the largest ones.
void take_from_largest(std::vector<WeightComponent>& components, Bytes offloaded) {
    while (offloaded.count() > 0) {
        const auto largest = std::max_element(components.begin(), components.end(),
                                              [](const auto& a, const auto& b) { return a.bytes_per_rank < b.bytes_per_rank; });
        if (largest == components.end() || largest->bytes_per_rank.count() == 0) return;
        const Bytes taken = std::min(offloaded, largest->bytes_per_rank);
        largest->bytes_per_rank -= taken;
        offloaded -= taken;
    }
}

}  // namespace

Bytes bytes_per_rank(const WeightMatrix& matrix, const WeightRules& rules) {
    const Local local = local_shape(matrix, rules);
    return local_bytes(matrix, rules, local, padded_shape(matrix, rules, local));
}

WeightsPlan plan_weights(const Scenario& scenario, const Engine& engine) {
    WeightsPlan plan = plan_rank_weights(scenario, engine);
    const ModelTotals model = totals(*scenario.model);
    plan.checkpoint_bytes = model.checkpoint_bytes;
    plan.total_params = model.total_params;
    plan.stored_elements = model.stored_elements;
    plan.active_params = model.active_params;
    return plan;
}

WeightsPlan plan_rank_weights(const Scenario& scenario, const Engine& engine) {
    const WeightRules rules = engine.weight_rules(scenario);
    const std::vector<StageLayers> stages = engine.stages(scenario);
    WeightsPlan plan;
    StageSums largest;
    const Bytes rope = rules.rope_table;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        StageSums stage = sum_stage(scenario, rules, stages[i], i == 0, i + 1 == stages.size());
        plan.stage_bytes.push_back(stage.total() + rope);
        if (i == 0 || stage.total() > largest.total()) largest = std::move(stage);
    }
    const Bytes tensors = largest.total() + rope;
    plan.draft_bytes = largest.draft;
    add_components(plan, largest, rules);
    if (scenario.weights_per_gpu) {
        plan.bytes_per_rank = certain(*scenario.weights_per_gpu, Basis::measured);
        // The parts are known only for the computed weights; what is measured beyond them stands as one item.
        if (*scenario.weights_per_gpu >= tensors) plan.components.push_back({"measured_beyond_tensors", *scenario.weights_per_gpu - tensors, false});
        else plan.components = {{"measured", *scenario.weights_per_gpu, false}};
        plan.stage_bytes.assign(plan.stage_bytes.size(), *scenario.weights_per_gpu);
        return plan;
    }
    const Bytes offloaded = std::min(tensors, nearest_bytes(scenario.engine.cpu_offload_gb * static_cast<double>(kGiB)));
    const auto with_overhead = [&](double gib) {
        return tensors - offloaded + nearest_bytes(gib * static_cast<double>(kGiB));
    };
    plan.bytes_per_rank = {with_overhead(rules.overhead_gib.low), with_overhead(rules.overhead_gib.expected),
                           with_overhead(rules.overhead_gib.high), weaker(Basis::engine_rule, rules.overhead_gib.basis)};
    const Bytes overhead = plan.bytes_per_rank.expected - (tensors - offloaded);
    take_from_largest(plan.components, offloaded);
    if (overhead.count() != 0) plan.components.push_back({"allocator_and_loader", overhead, false});
    for (Bytes& stage : plan.stage_bytes) stage = stage - std::min(stage, offloaded) + overhead;
    return plan;
}

}  // namespace kvplan
