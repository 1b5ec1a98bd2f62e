// Towers that see, and the projectors behind them. Parameters only: engines keep them in 16 bits.
#include <algorithm>
#include <string>

#include "models/llm/families/vision_blocks.hpp"
#include "models/llm/keys.hpp"
#include "units/quantity.hpp"

namespace kvplan::families {
namespace {

/// MoonViT of Kimi-VL/K2.5: a table of positions (time is computed), blocks, and a two-layer merger of 2x2 patches.
void moonvit(Build& build) {
    const ModelFacts v = build.facts.section(keys::kVision);
    VisionBlock block;
    block.prefix = "vision_tower.encoder.blocks";
    block.layers = v.required({"layers", "vt_num_hidden_layers", "num_hidden_layers"});
    block.hidden = v.required({"hidden", "vt_hidden_size", "hidden_size"});
    block.intermediate = v.required({"ffn", "vt_intermediate_size", "intermediate_size"});
    block.heads = v.required({"heads", "vt_num_attention_heads", "num_attention_heads"});
    const std::int64_t patch = v.small_or({"patch", "patch_size"}, 14);
    const std::int64_t rows = v.count_or({"positions_high", "init_pos_emb_height"}, 64);
    const std::int64_t columns = v.count_or({"positions_wide", "init_pos_emb_width"}, 64);
    std::int64_t merge = 1;
    const std::vector<std::int64_t> kernel = v.integers({"merge", "merge_kernel_size"});
    for (const std::int64_t side : kernel.size() != 2 ? std::vector<std::int64_t>{2, 2} : kernel)
        merge = checked_mul(merge, side);
    block.bias = v.flag({"attn_bias"}, true);
    block.norm_bias = v.word({"norm_type"}).value_or("layernorm") != "rmsnorm";
    block.attention_width = v.count_or({"qkv_width", "qkv_hidden_size"}, 0);
    std::vector<Module>& out = build.blueprint.outside;
    add_vision(out, "vision_tower.patch_embed.proj", block.hidden, 3 * patch * patch,
               v.flag({"patch_embed_proj_bias"}, true));
    add_vision(out, "vision_tower.patch_embed.pos_emb", rows * columns, block.hidden, false);
    add_blocks(out, block);
    add_vision(out, "vision_tower.encoder.final_layernorm", block.hidden, 1, block.norm_bias);
    const std::int64_t merged = checked_mul(block.hidden, merge);
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
    const std::int64_t patch = v.small_or({"patch", "patch_size"}, 14);
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
    bool gated = false;      // Qwen2.5-VL: gated MLPs and norms without bias
    bool positions = false;  // Qwen3-VL on: a learned table, a bias on the patches, deepstack mergers
};

void qwen_vision(Build& build, const QwenVision& style) {
    const ModelFacts v = build.facts.section(keys::kVision);
    VisionBlock block;
    block.prefix = "visual.blocks";
    block.layers = v.required({"layers", "depth", "num_hidden_layers"});
    block.hidden = v.required({"hidden", "embed_dim", "hidden_size"});
    block.heads = v.required({"heads", "num_heads", "num_attention_heads"});
    const std::optional<double> ratio = v.has(keys::kFfn) ? std::nullopt : v.number({"mlp_ratio"});
    const bool sane = ratio && *ratio > 0.0 && *ratio <= 1000.0;
    block.intermediate =
        sane ? static_cast<std::int64_t>(*ratio * static_cast<double>(block.hidden)) : v.required(keys::kFfn);
    block.gated = style.gated;
    block.norm_bias = !style.gated;
    const std::int64_t patch = v.small_or({"patch", "patch_size", "spatial_patch_size"}, 14);
    const std::int64_t merge = v.small_or({"merge", "spatial_merge_size"}, 2);
    const std::int64_t frames = v.small_or({"frames", "temporal_patch_size"}, 2);
    const std::int64_t merged = block.hidden * merge * merge;
    std::vector<Module>& out = build.blueprint.outside;
    add_vision(out, "visual.patch_embed.proj", block.hidden, 3 * frames * patch * patch, style.positions);
    if (style.positions)
        add_vision(out, "visual.pos_embed", v.count_or({"positions", "num_position_embeddings"}, 2304), block.hidden,
                   false);
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

/// Pixtral of Mistral 3 and 4: gated blocks without biases behind a norm, and a projector that merges 2x2 patches.
void pixtral(Build& build) {
    const ModelFacts v = build.facts.section(keys::kVision);
    VisionBlock block;
    block.prefix = "vision_tower.transformer.layers";
    block.layers = v.required(keys::kLayers);
    block.hidden = v.required(keys::kHidden);
    block.intermediate = v.required(keys::kFfn);
    block.heads = v.required(keys::kHeads);
    block.fused_qkv = block.bias = block.norm_bias = false;
    block.gated = true;
    const std::int64_t patch = v.small_or({"patch", "patch_size"}, 14);
    const std::int64_t merge = build.facts.small_or({"merge", "spatial_merge_size"}, 2), text = text_width(build);
    const bool bias = build.facts.flag({"multimodal_projector_bias"}, false);
    std::vector<Module>& out = build.blueprint.outside;
    add_vision(out, "vision_tower.patch_conv", block.hidden, 3 * patch * patch, false);
    add_vision(out, "vision_tower.ln_pre", block.hidden, 1, false);
    add_blocks(out, block);
    add_vision(out, "multi_modal_projector.norm", block.hidden, 1, false);
    add_vision(out, "multi_modal_projector.patch_merger.merging_layer", block.hidden, block.hidden * merge * merge,
               false);
    add_vision(out, "multi_modal_projector.linear_1", text, block.hidden, bias);
    add_vision(out, "multi_modal_projector.linear_2", text, text, bias);
    build.blueprint.vision = VisionTower{block.layers, block.hidden};
}

}  // namespace

std::vector<VisionFamily> vision_towers() {
    std::vector<VisionFamily> towers;
    towers.push_back({{"kimi_k25", "kimi_vl", "kimi_k3"}, moonvit});
    towers.push_back({{"gemma3"}, siglip_gemma});
    towers.push_back({{"qwen2_vl"}, [](Build& build) { qwen_vision(build, {}); }});
    towers.push_back({{"qwen2_5_vl"}, [](Build& build) { qwen_vision(build, {true, false}); }});
    towers.push_back({{"qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe"},
                      [](Build& build) { qwen_vision(build, {false, true}); }});
    towers.push_back({{"mistral3"}, pixtral});
    towers.push_back({{"minimax_m3_vl"}, minimax_vision});
    towers.push_back({{"llama4"}, llama4_vision});
    towers.push_back({{"mllama"}, mllama_vision});
    towers.push_back({{"gemma4"}, gemma4_vision});
    towers.push_back({{"deepseek_vl_v2"}, deepseek_ocr2_vision});
    return towers;
}

}  // namespace kvplan::families
