#include "models/llm/inventory.hpp"

#include <algorithm>

#include "units/quantity.hpp"

namespace kvplan {
namespace {

std::string join(std::string_view a, std::string_view b) {
    std::string text(a);
    text += b;
    return text;
}

Module part_of_previous(Module module) {
    module.weight.same_tensor = true;
    return module;
}

Module expert(Module module, std::int64_t count, bool stacked) {
    module.weight.inside_expert = module.weight.sharding;
    module.weight.sharding = Sharding::expert;
    module.weight.count = count;
    module.weight.stacked = stacked;
    module.kind = ModuleKind::expert;
    return module;
}

/// gate, up and down of one MLP of `component`, with `width` in and out.
std::vector<Module> mlp(std::string_view prefix, const DenseNames& names, Component component,
                        std::int64_t intermediate, std::int64_t width, bool gated, bool bias) {
    std::vector<Module> modules;
    const std::string up = join(prefix, names.fused.empty() ? names.up : names.fused);
    if (gated) {
        const std::string gate = join(prefix, names.fused.empty() ? names.gate : names.fused);
        modules.push_back(with_bias(linear(gate, component, intermediate, width, Sharding::column), bias));
    }
    Module second = with_bias(linear(up, component, intermediate, width, Sharding::column), bias);
    if (gated && !names.fused.empty()) second = part_of_previous(std::move(second));
    modules.push_back(std::move(second));
    modules.push_back(with_bias(linear(join(prefix, names.down), component, width, intermediate, Sharding::row), bias));
    return modules;
}

}  // namespace

void append_layer(Blueprint& blueprint, LayerPlan plan) {
    // The newest kinds first: a layer mostly equals one of its neighbours.
    for (std::size_t i = blueprint.plans.size(); i-- > 0;) {
        if (!(blueprint.plans[i] == plan)) continue;
        blueprint.layer_plan.push_back(static_cast<int>(i));
        return;
    }
    blueprint.plans.push_back(std::move(plan));
    blueprint.layer_plan.push_back(static_cast<int>(blueprint.plans.size()) - 1);
}

Module linear(std::string name, Component component, std::int64_t rows, std::int64_t cols, Sharding sharding,
              std::int64_t units) {
    Module module;
    module.weight.name = std::move(name);
    module.weight.component = component;
    module.weight.rows = rows;
    module.weight.cols = cols;
    module.weight.sharding = sharding;
    module.weight.units = units;
    return module;
}

Module vector_of(std::string name, Component component, std::int64_t size, std::int64_t count) {
    Module module = linear(std::move(name), component, size, 1, Sharding::replicated);
    module.kind = ModuleKind::other;
    module.weight.count = count;
    module.weight.is_matmul = false;
    return module;
}

Module with_bias(Module module, bool bias) {
    module.weight.bias = bias;
    return module;
}

Module in_type(Module module, DType type) {
    module.fixed = type;
    return module;
}

Module of_kind(Module module, ModuleKind kind) {
    module.kind = kind;
    return module;
}

void add_norm(std::vector<Module>& modules, std::string name, std::int64_t size, bool bias, Component component) {
    modules.push_back(with_bias(vector_of(std::move(name), component, size), bias));
}

void add_grouped(LayerPlan& layer, const GroupedAttention& attention, std::int64_t hidden,
                 const GroupedOptions& options) {
    const GroupedNames& names = options.names;
    const std::int64_t v_dim = attention.v_head_dim > 0 ? attention.v_head_dim : attention.head_dim;
    const std::int64_t q_rows = checked_mul(attention.query_heads, attention.head_dim) * (options.q_gate ? 2 : 1);
    const std::int64_t k_rows = checked_mul(attention.kv_heads, attention.head_dim);
    const std::int64_t v_rows = checked_mul(attention.kv_heads, v_dim);
    const bool fused = !names.fused.empty();
    const auto path = [&](std::string_view own) { return join(names.prefix, fused ? names.fused : own); };
    const auto add = [&](Module module, bool bias, bool joined) {
        module.weight.same_tensor = joined;
        layer.modules.push_back(with_bias(std::move(module), bias));
    };
    add(linear(path(names.q), Component::attention, q_rows, hidden, Sharding::query_heads, attention.query_heads),
        options.qkv_bias, false);
    if (attention.stores_kv) {
        add(linear(path(names.k), Component::attention, k_rows, hidden, Sharding::kv_heads, attention.kv_heads),
            options.qkv_bias, fused);
        if (!options.value_is_key)
            add(linear(path(names.v), Component::attention, v_rows, hidden, Sharding::kv_heads, attention.kv_heads),
                options.qkv_bias, fused);
    }
    add(linear(join(names.prefix, names.o), Component::attention, hidden, checked_mul(attention.query_heads, v_dim),
               Sharding::row, attention.query_heads),
        options.o_bias, false);
    if (options.qk_norm != QkNorm::none) {
        const bool full = options.qk_norm == QkNorm::full_width;
        add_norm(layer.modules, join(names.prefix, names.q_norm),
                 full ? checked_mul(attention.query_heads, attention.head_dim) : attention.head_dim);
        if (attention.stores_kv)
            add_norm(layer.modules, join(names.prefix, names.k_norm), full ? k_rows : attention.head_dim);
    }
    if (options.sinks) {
        Module sinks = vector_of(join(names.prefix, "sinks"), Component::attention, attention.query_heads);
        sinks.weight.sharding = Sharding::query_heads;
        sinks.weight.units = attention.query_heads;
        layer.modules.push_back(std::move(sinks));
    }
}

void add_latent(LayerPlan& layer, const LatentAttention& attention, std::int64_t hidden, std::string_view prefix) {
    std::vector<Module>& modules = layer.modules;
    const auto path = [&](std::string_view name) { return join(prefix, name); };
    const std::int64_t heads = attention.heads;
    const std::int64_t q_rows = checked_mul(heads, attention.qk_nope_head_dim + attention.qk_rope_head_dim);
    if (attention.q_lora_rank) {
        modules.push_back(
            linear(path("q_a_proj"), Component::attention, *attention.q_lora_rank, hidden, Sharding::replicated));
        add_norm(modules, path("q_a_layernorm"), *attention.q_lora_rank);
        modules.push_back(linear(path("q_b_proj"), Component::attention, q_rows, *attention.q_lora_rank,
                                 Sharding::query_heads, heads));
    } else {
        modules.push_back(linear(path("q_proj"), Component::attention, q_rows, hidden, Sharding::query_heads, heads));
    }
    modules.push_back(linear(path("kv_a_proj_with_mqa"), Component::attention,
                             attention.kv_lora_rank + attention.qk_rope_head_dim, hidden, Sharding::replicated));
    add_norm(modules, path("kv_a_layernorm"), attention.kv_lora_rank);
    modules.push_back(linear(path("kv_b_proj"), Component::attention,
                             checked_mul(heads, attention.qk_nope_head_dim + attention.v_head_dim),
                             attention.kv_lora_rank, Sharding::query_heads, heads));
    modules.push_back(linear(path("o_proj"), Component::attention, hidden, checked_mul(heads, attention.v_head_dim),
                             Sharding::row, heads));
    if (!attention.indexer || !attention.indexer->own) return;
    const SparseIndexer& index = *attention.indexer;
    const std::int64_t query_width = attention.q_lora_rank.value_or(hidden);
    modules.push_back(linear(path("indexer.wq_b"), Component::indexer, checked_mul(index.heads, index.head_dim),
                             query_width, Sharding::replicated));
    modules.push_back(linear(path("indexer.wk"), Component::indexer, index.head_dim, hidden, Sharding::replicated));
    add_norm(modules, path("indexer.k_norm"), index.head_dim, true, Component::indexer);
    modules.push_back(
        of_kind(linear(path("indexer.weights_proj"), Component::indexer, index.heads, hidden, Sharding::replicated),
                ModuleKind::small));
}

void add_dense(LayerPlan& layer, const DenseFfn& ffn, std::int64_t hidden, const DenseNames& names, bool bias) {
    for (Module& module : mlp(names.prefix, names, Component::dense_mlp, ffn.intermediate, hidden, ffn.gated, bias))
        layer.modules.push_back(std::move(module));
}

void add_moe(LayerPlan& layer, const MoeFfn& ffn, std::int64_t hidden, const MoeOptions& options) {
    std::vector<Module>& modules = layer.modules;
    const auto path = [&](std::string_view name) { return join(options.prefix, name); };
    const std::int64_t rows = options.router_rows > 0 ? options.router_rows : ffn.experts;
    Module router = of_kind(linear(path(options.router), Component::router, rows, hidden, Sharding::replicated),
                            ModuleKind::router);
    router.fixed = options.router_type;
    modules.push_back(with_bias(std::move(router), options.router_bias));
    if (!options.correction_bias.empty())
        modules.push_back(
            in_type(vector_of(path(options.correction_bias), Component::router, rows), options.correction_type));

    const std::int64_t width = ffn.width > 0 ? ffn.width : hidden;
    const std::string experts = path(options.experts);
    for (Module& module :
         mlp(experts, options.expert, Component::experts, ffn.intermediate, width, ffn.gated, options.expert_bias))
        modules.push_back(expert(std::move(module), ffn.experts, options.stacked));

    if (ffn.shared_experts > 0 && ffn.shared_intermediate > 0)
        for (Module& module : mlp(path(options.shared), options.shared_names, Component::shared_experts,
                                  ffn.shared_intermediate, hidden, ffn.gated, false))
            modules.push_back(std::move(module));
    if (!options.shared_gate.empty())
        modules.push_back(
            of_kind(linear(path(options.shared_gate), Component::shared_experts, 1, hidden, Sharding::replicated),
                    ModuleKind::small));
}

void add_outside(Blueprint& blueprint, std::int64_t vocab, std::int64_t hidden, bool tied,
                 const OutsideOptions& options) {
    std::vector<Module>& outside = blueprint.outside;
    Module embedding =
        of_kind(linear(std::string(options.embedding), Component::embedding, vocab, hidden, Sharding::vocab),
                ModuleKind::embedding);
    embedding.weight.is_matmul = false;
    outside.push_back(std::move(embedding));
    add_norm(outside, std::string(options.norm), hidden, options.norm_bias);
    Module head =
        with_bias(of_kind(linear(std::string(options.head), Component::lm_head, vocab, hidden, Sharding::vocab),
                          ModuleKind::lm_head),
                  options.head_bias);
    head.fixed = options.head_type;
    head.weight.stored = options.stored_head.value_or(!tied);
    head.weight.resident = !tied;
    outside.push_back(std::move(head));
}

void add_vision(std::vector<Module>& modules, std::string name, std::int64_t rows, std::int64_t cols, bool bias,
                std::int64_t count, Sharding sharding, std::int64_t units) {
    Module module = with_bias(linear(std::move(name), Component::vision, rows, cols, sharding, units), bias);
    module.kind = cols == 1 ? ModuleKind::other : ModuleKind::vision;
    module.weight.is_matmul = false;
    module.weight.count = count;
    modules.push_back(std::move(module));
}

}  // namespace kvplan
