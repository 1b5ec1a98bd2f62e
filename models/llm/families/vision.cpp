// Towers that see, and the projectors behind them. Parameters only: engines keep them in 16 bits.
#include <algorithm>

#include "models/llm/families/decoder.hpp"
#include "models/llm/keys.hpp"

namespace kvplan::families {
namespace {

/// One encoder block repeated `layers` times: fused or separate qkv, a projection, an MLP, two norms.
struct VisionBlock {
    std::string prefix;                   // "visual.blocks"
    std::int64_t layers = 1, hidden = 1, intermediate = 1, heads = 1;
    bool fused_qkv = true;
    bool bias = true;
    bool gated = false;
    bool norm_bias = true;
    std::int64_t attention_width = 0;     // of q, k and v when it is not hidden
};

void add_blocks(std::vector<Module>& out, const VisionBlock& block) {
    const std::int64_t n = block.layers, h = block.hidden, f = block.intermediate;
    const std::int64_t a = block.attention_width > 0 ? block.attention_width : h;
    const auto path = [&](const char* name) { return block.prefix + ".*." + name; };
    if (block.fused_qkv) {
        add_vision(out, path("attn.qkv"), 3 * a, h, block.bias, n, Sharding::column, block.heads);
    } else {
        for (const char* name : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"})
            add_vision(out, path(name), a, h, block.bias, n, Sharding::column, block.heads);
    }
    add_vision(out, path("attn.proj"), h, a, block.bias, n, Sharding::row, block.heads);
    if (block.gated) add_vision(out, path("mlp.gate_proj"), f, h, block.bias, n, Sharding::column);
    add_vision(out, path("mlp.fc1"), f, h, block.bias, n, Sharding::column);
    add_vision(out, path("mlp.fc2"), h, f, block.bias, n, Sharding::row);
    add_vision(out, path("norm1"), h, 1, block.norm_bias, n);
    add_vision(out, path("norm2"), h, 1, block.norm_bias, n);
}

std::int64_t text_width(const Build& build) { return build.facts.required(keys::kHidden); }

/// MoonViT of Kimi-VL/K2.5: a table of positions (time is computed), blocks, and a two-layer merger of 2x2 patches.
void moonvit(Build& build) {
    const ModelFacts v = build.facts.section(keys::kVision);
    VisionBlock block;
    block.prefix = "vision_tower.encoder.blocks";
    block.layers = v.required({"layers", "vt_num_hidden_layers", "num_hidden_layers"});
    block.hidden = v.required({"hidden", "vt_hidden_size", "hidden_size"});
    block.intermediate = v.required({"ffn", "vt_intermediate_size", "intermediate_size"});
    block.heads = v.required({"heads", "vt_num_attention_heads", "num_attention_heads"});
    const std::int64_t patch = v.count_or({"patch", "patch_size"}, 14);
    const std::int64_t rows = v.count_or({"positions_high", "init_pos_emb_height"}, 64);
    const std::int64_t columns = v.count_or({"positions_wide", "init_pos_emb_width"}, 64);
    std::int64_t merge = 1;
    const std::vector<std::int64_t> kernel = v.integers({"merge", "merge_kernel_size"});
    for (const std::int64_t side : kernel.empty() ? std::vector<std::int64_t>{2, 2} : kernel) merge *= side;
    block.bias = v.flag({"attn_bias"}, true);
    block.norm_bias = v.word({"norm_type"}).value_or("layernorm") != "rmsnorm";
    block.attention_width = v.count_or({"qkv_width", "qkv_hidden_size"}, 0);
    std::vector<Module>& out = build.blueprint.outside;
    add_vision(out, "vision_tower.patch_embed.proj", block.hidden, 3 * patch * patch, v.flag({"patch_embed_proj_bias"}, true));
    add_vision(out, "vision_tower.patch_embed.pos_emb", rows * columns, block.hidden, false);
    add_blocks(out, block);
    add_vision(out, "vision_tower.encoder.final_layernorm", block.hidden, 1, block.norm_bias);
    const std::int64_t merged = block.hidden * merge;
    // The second version of the merger norms what comes out, without biases; the first what goes in.
    const bool second = v.word({"mm_projector_type"}).value_or("patchmerger") == "patchmergerv2";
    if (!second) add_vision(out, "mm_projector.pre_norm", block.hidden, 1, true);
    add_vision(out, "mm_projector.proj.0", merged, merged, !second);
    add_vision(out, "mm_projector.proj.2", text_width(build), merged, !second);
    if (second) add_vision(out, "mm_projector.post_norm", text_width(build), 1, false);
    build.blueprint.vision = VisionTower{block.layers, block.hidden};
}

/// SigLIP of Gemma-3 with its one-matrix projector, stored as [tower, text].
void siglip_gemma(Build& build) {
    const ModelFacts v = build.facts.section(keys::kVision);
    VisionBlock block;
    block.prefix = "vision_tower.vision_model.encoder.layers";
    block.layers = v.required(keys::kLayers);
    block.hidden = v.required(keys::kHidden);
    block.intermediate = v.required(keys::kFfn);
    block.heads = v.required(keys::kHeads);
    block.fused_qkv = false;
    const std::int64_t patch = v.count_or({"patch", "patch_size"}, 14);
    const std::int64_t side = v.count_or({"image", "image_size"}, 896) / std::max<std::int64_t>(1, patch);
    std::vector<Module>& out = build.blueprint.outside;
    add_vision(out, "vision_tower.vision_model.embeddings.patch_embedding", block.hidden, 3 * patch * patch, true);
    add_vision(out, "vision_tower.vision_model.embeddings.position_embedding", side * side, block.hidden, false);
    add_blocks(out, block);
    add_vision(out, "vision_tower.vision_model.post_layernorm", block.hidden, 1, true);
    add_vision(out, "multi_modal_projector.mm_input_projection_weight", block.hidden, text_width(build), false);
    add_vision(out, "multi_modal_projector.mm_soft_emb_norm", block.hidden, 1, false);
    build.blueprint.vision = VisionTower{block.layers, block.hidden};
}

/// The tower of Qwen2-VL to Qwen3.5: patches over two frames, blocks, mergers of 2x2 patches.
struct QwenVision {
    bool gated = false;                   // Qwen2.5-VL: gated MLPs and norms without bias
    bool positions = false;               // Qwen3-VL on: a learned table, a bias on the patches, deepstack mergers
};

void qwen_vision(Build& build, const QwenVision& style) {
    const ModelFacts v = build.facts.section(keys::kVision);
    VisionBlock block;
    block.prefix = "visual.blocks";
    block.layers = v.required({"layers", "depth", "num_hidden_layers"});
    block.hidden = v.required({"hidden", "embed_dim", "hidden_size"});
    block.heads = v.required({"heads", "num_heads", "num_attention_heads"});
    const auto ratio = v.number({"mlp_ratio"});
    block.intermediate = v.has(keys::kFfn) || !ratio ? v.required(keys::kFfn) : static_cast<std::int64_t>(*ratio * static_cast<double>(block.hidden));
    block.gated = style.gated;
    block.norm_bias = !style.gated;
    const std::int64_t patch = v.count_or({"patch", "patch_size", "spatial_patch_size"}, 14);
    const std::int64_t merge = v.count_or({"merge", "spatial_merge_size"}, 2);
    const std::int64_t frames = v.count_or({"frames", "temporal_patch_size"}, 2);
    const std::int64_t merged = block.hidden * merge * merge;
    std::vector<Module>& out = build.blueprint.outside;
    add_vision(out, "visual.patch_embed.proj", block.hidden, 3 * frames * patch * patch, style.positions);
    if (style.positions)
        add_vision(out, "visual.pos_embed", v.count_or({"positions", "num_position_embeddings"}, 2304), block.hidden, false);
    add_blocks(out, block);
    const auto merger = [&](const std::string& name, std::int64_t norm, std::int64_t count) {
        add_vision(out, name + ".norm", norm, 1, !style.gated, count);
        add_vision(out, name + ".linear_fc1", merged, merged, true, count);
        add_vision(out, name + ".linear_fc2", text_width(build), merged, true, count);
    };
    merger("visual.merger", block.hidden, 1);
    const auto deep = static_cast<std::int64_t>(v.integers({"deepstack", "deepstack_visual_indexes"}).size());
    if (style.positions && deep > 0) merger("visual.deepstack_merger_list.*", merged, deep);
    build.blueprint.vision = VisionTower{block.layers, block.hidden};
}

/// MiniMax-M3: a CLIP tower with rotary positions, a two-layer projector, and a merger of neighbouring patches behind it.
void minimax_vision(Build& build) {
    const ModelFacts v = build.facts.section(keys::kVision);
    VisionBlock block;
    block.prefix = "vision_tower.vision_model.encoder.layers";
    block.layers = v.required(keys::kLayers);
    block.hidden = v.required(keys::kHidden);
    block.intermediate = v.required(keys::kFfn);
    block.heads = v.required(keys::kHeads);
    block.fused_qkv = false;
    const ModelFacts compression = v.section({"merge", "img_token_compression_config"});
    const std::int64_t merge = compression.exists() ? compression.count_or({"spatial_merge_size"}, 2) : 2;
    const std::int64_t frames = compression.exists() ? compression.count_or({"temporal_patch_size"}, 2) : 2;
    const std::int64_t patch = v.count_or({"patch", "patch_size"}, 14);
    const std::int64_t text = text_width(build);
    const std::int64_t middle = build.facts.count_or({"projector_hidden", "projector_hidden_size"}, text);
    const bool bias = build.facts.flag({"multimodal_projector_bias"}, true);
    std::vector<Module>& out = build.blueprint.outside;
    add_vision(out, "vision_tower.vision_model.embeddings.patch_embedding", block.hidden, 3 * frames * patch * patch, false);
    add_vision(out, "vision_tower.vision_model.pre_layrnorm", block.hidden, 1, true);
    add_blocks(out, block);
    add_vision(out, "multi_modal_projector.linear_1", middle, block.hidden, bias);
    add_vision(out, "multi_modal_projector.linear_2", text, middle, bias);
    add_vision(out, "patch_merge_mlp.linear_1", text, text * merge * merge, bias);
    add_vision(out, "patch_merge_mlp.linear_2", text, text, bias);
    build.blueprint.vision = VisionTower{block.layers, block.hidden};
}

}  // namespace

std::vector<VisionFamily> vision_towers() {
    std::vector<VisionFamily> towers;
    towers.push_back({{"kimi_k25", "kimi_vl", "kimi_k3"}, moonvit});
    towers.push_back({{"gemma3"}, siglip_gemma});
    towers.push_back({{"qwen2_vl"}, [](Build& build) { qwen_vision(build, {}); }});
    towers.push_back({{"qwen2_5_vl"}, [](Build& build) { qwen_vision(build, {true, false}); }});
    towers.push_back({{"qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe"}, [](Build& build) { qwen_vision(build, {false, true}); }});
    towers.push_back({{"minimax_m3_vl"}, minimax_vision});
    return towers;
}

}  // namespace kvplan::families
