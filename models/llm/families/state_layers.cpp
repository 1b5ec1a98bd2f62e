#include "models/llm/families/state_layers.hpp"

#include <algorithm>
#include <string>

namespace kvplan::families {
namespace {

constexpr Component kLinear = Component::linear_attention;

std::string path(std::string_view prefix, std::string_view name) { return std::string(prefix) + std::string(name); }

/// A table or vector cut over the ranks like the channels it belongs to.
Module split(std::string name, std::int64_t rows, std::int64_t cols, std::int64_t units) {
    Module module = vector_of(std::move(name), kLinear, rows);
    module.weight.cols = cols;
    module.weight.sharding = Sharding::column;
    module.weight.units = units;
    return module;
}

Module maybe_in(Module module, std::optional<DType> type) {
    if (type) module.fixed = type;
    return module;
}

}  // namespace

void add_mamba1(LayerPlan& layer, const LinearAttention& mamba, std::int64_t hidden, const MambaOptions& options) {
    const std::int64_t inner = mamba.heads * mamba.head_dim;
    const auto name = [&](const char* own) { return path(options.prefix, own); };
    std::vector<Module>& modules = layer.modules;
    modules.push_back(
        with_bias(linear(name("in_proj"), kLinear, 2 * inner, hidden, Sharding::column), options.proj_bias));
    modules.push_back(with_bias(split(name("conv1d"), inner, mamba.conv_kernel, 0), options.conv_bias));
    modules.push_back(linear(name("x_proj"), kLinear, options.dt_rank + 2 * mamba.state_size, inner, Sharding::row));
    modules.push_back(with_bias(linear(name("dt_proj"), kLinear, inner, options.dt_rank, Sharding::column)));
    modules.push_back(maybe_in(split(name("A_log"), inner, mamba.state_size, 0), options.state_params));
    modules.push_back(split(name("D"), inner, 1, 0));
    if (options.inner_norms) {
        modules.push_back(vector_of(name("dt_layernorm"), kLinear, options.dt_rank));
        modules.push_back(vector_of(name("b_layernorm"), kLinear, mamba.state_size));
        modules.push_back(vector_of(name("c_layernorm"), kLinear, mamba.state_size));
    }
    modules.push_back(with_bias(linear(name("out_proj"), kLinear, hidden, inner, Sharding::row), options.proj_bias));
}

void add_mamba2(LayerPlan& layer, const LinearAttention& mamba, std::int64_t hidden, const MambaOptions& options) {
    const std::int64_t inner = mamba.heads * mamba.head_dim;
    const auto name = [&](const char* own) { return path(options.prefix, own); };
    std::vector<Module>& modules = layer.modules;
    // z and x, B and C of every group, dt of every head.
    const std::int64_t in_rows = 2 * inner + 2 * mamba.groups * mamba.state_size + mamba.heads;
    modules.push_back(with_bias(linear(name("in_proj"), kLinear, in_rows, hidden, Sharding::column, mamba.groups),
                                options.proj_bias));
    modules.push_back(
        with_bias(split(name("conv1d"), mamba.conv_channels, mamba.conv_kernel, mamba.groups), options.conv_bias));
    for (const char* own : {"A_log", "D", "dt_bias"})
        modules.push_back(maybe_in(split(name(own), mamba.heads, 1, mamba.groups), options.state_params));
    modules.push_back(split(name("norm"), inner, 1, mamba.groups));
    modules.push_back(
        with_bias(linear(name("out_proj"), kLinear, hidden, inner, Sharding::row, mamba.groups), options.proj_bias));
}

void add_kimi_delta(LayerPlan& layer, const LinearAttention& delta, std::int64_t hidden,
                    const KimiDeltaOptions& options) {
    const std::int64_t width = delta.heads * delta.head_dim;
    std::vector<Module>& modules = layer.modules;
    const auto columns = [&](const char* name, std::int64_t rows, std::int64_t cols) {
        modules.push_back(linear(path("self_attn.", name), kLinear, rows, cols, Sharding::column, delta.heads));
    };
    for (const char* name : {"q_proj", "k_proj", "v_proj"}) columns(name, width, hidden);
    for (const char* name : {"q_conv1d", "k_conv1d", "v_conv1d"})
        modules.push_back(
            maybe_in(split(path("self_attn.", name), width, delta.conv_kernel, delta.heads), options.conv_type));
    const std::int64_t decays = options.padded_decay ? std::max(delta.heads, delta.head_dim) : delta.heads;
    modules.push_back(in_type(split("self_attn.A_log", decays, 1, delta.heads), DType::f32));
    modules.push_back(in_type(split("self_attn.dt_bias", width, 1, delta.heads), DType::f32));
    modules.push_back(linear("self_attn.f_a_proj", kLinear, delta.head_dim, hidden, Sharding::replicated));
    columns("f_b_proj", width, delta.head_dim);
    columns("b_proj", delta.heads, hidden);
    if (options.full_rank_gate) {
        columns("g_proj", width, hidden);
    } else {
        modules.push_back(linear("self_attn.g_a_proj", kLinear, delta.head_dim, hidden, Sharding::replicated));
        columns("g_b_proj", width, delta.head_dim);
    }
    modules.push_back(vector_of("self_attn.o_norm", kLinear, delta.head_dim));
    modules.push_back(linear("self_attn.o_proj", kLinear, hidden, width, Sharding::row, delta.heads));
}

void add_lightning(LayerPlan& layer, const LinearAttention& lightning, std::int64_t hidden) {
    const std::int64_t width = lightning.heads * lightning.head_dim;
    std::vector<Module>& modules = layer.modules;
    modules.push_back(linear("self_attn.qkv_proj", kLinear, 3 * width, hidden, Sharding::column, lightning.heads));
    modules.push_back(linear("self_attn.output_gate", kLinear, width, hidden, Sharding::column, lightning.heads));
    modules.push_back(split("self_attn.norm", width, 1, lightning.heads));
    modules.push_back(linear("self_attn.out_proj", kLinear, hidden, width, Sharding::row, lightning.heads));
}

}  // namespace kvplan::families
