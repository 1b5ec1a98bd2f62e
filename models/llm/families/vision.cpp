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
    bool bias = true;                     // of the MLP
    std::optional<bool> attention_bias;   // when it differs
    bool gated = false;
    bool norm_bias = true;
    std::int64_t attention_width = 0;     // of q, k and v when it is not hidden
};

void add_blocks(std::vector<Module>& out, const VisionBlock& block) {
    const std::int64_t n = block.layers, h = block.hidden, f = block.intermediate;
    const bool attention_bias = block.attention_bias.value_or(block.bias);
    const std::int64_t a = block.attention_width > 0 ? block.attention_width : h;
    const auto path = [&](const char* name) { return block.prefix + ".*." + name; };
    if (block.fused_qkv) {
        add_vision(out, path("attn.qkv"), 3 * a, h, attention_bias, n, Sharding::column, block.heads);
    } else {
        for (const char* name : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"})
            add_vision(out, path(name), a, h, attention_bias, n, Sharding::column, block.heads);
    }
    add_vision(out, path("attn.proj"), h, a, attention_bias, n, Sharding::row, block.heads);
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
    const std::int64_t patch = v.small_or({"patch", "patch_size"}, 14);
    const std::int64_t rows = v.count_or({"positions_high", "init_pos_emb_height"}, 64);
    const std::int64_t columns = v.count_or({"positions_wide", "init_pos_emb_width"}, 64);
    std::int64_t merge = 1;
    const std::vector<std::int64_t> kernel = v.integers({"merge", "merge_kernel_size"});
    for (const std::int64_t side : kernel.size() != 2 ? std::vector<std::int64_t>{2, 2} : kernel) merge = checked_mul(merge, side);
    block.bias = v.flag({"attn_bias"}, true);
    block.norm_bias = v.word({"norm_type"}).value_or("layernorm") != "rmsnorm";
    block.attention_width = v.count_or({"qkv_width", "qkv_hidden_size"}, 0);
    std::vector<Module>& out = build.blueprint.outside;
    add_vision(out, "vision_tower.patch_embed.proj", block.hidden, 3 * patch * patch, v.flag({"patch_embed_proj_bias"}, true));
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
    const std::optional<double> ratio = v.has(keys::kFfn) ? std::nullopt : v.number({"mlp_ratio"});
    const bool sane = ratio && *ratio > 0.0 && *ratio <= 1000.0;
    block.intermediate = sane ? static_cast<std::int64_t>(*ratio * static_cast<double>(block.hidden)) : v.required(keys::kFfn);
    block.gated = style.gated;
    block.norm_bias = !style.gated;
    const std::int64_t patch = v.small_or({"patch", "patch_size", "spatial_patch_size"}, 14);
    const std::int64_t merge = v.small_or({"merge", "spatial_merge_size"}, 2);
    const std::int64_t frames = v.small_or({"frames", "temporal_patch_size"}, 2);
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
    add_vision(out, "multi_modal_projector.patch_merger.merging_layer", block.hidden, block.hidden * merge * merge, false);
    add_vision(out, "multi_modal_projector.linear_1", text, block.hidden, bias);
    add_vision(out, "multi_modal_projector.linear_2", text, text, bias);
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
    const std::int64_t merge = compression.exists() ? compression.small_or({"spatial_merge_size"}, 2) : 2;
    const std::int64_t frames = compression.exists() ? compression.small_or({"temporal_patch_size"}, 2) : 2;
    const std::int64_t patch = v.small_or({"patch", "patch_size"}, 14);
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

/// Llama 4: class token and learned positions, pixels shuffled into an adapter, one projection.
void llama4_vision(Build& build) {
    const ModelFacts v = build.facts.section(keys::kVision);
    VisionBlock block;
    block.prefix = "vision_model.model.layers";
    block.layers = v.required(keys::kLayers);
    block.hidden = v.required(keys::kHidden);
    block.intermediate = v.required(keys::kFfn);
    block.heads = v.required(keys::kHeads);
    block.fused_qkv = false;
    const std::int64_t patch = v.small_or({"patch", "patch_size"}, 14);
    const std::int64_t side = v.count_or({"image", "image_size"}, 336) / std::max<std::int64_t>(1, patch);
    const std::int64_t in = v.count_or({"projector_in", "projector_input_dim"}, 4096);
    const std::int64_t middle = v.count_or({"projector_out", "projector_output_dim"}, 4096);
    std::vector<Module>& out = build.blueprint.outside;
    add_vision(out, "vision_model.patch_embedding.linear", block.hidden, 3 * patch * patch, false);
    add_vision(out, "vision_model.class_embedding", block.hidden, 1, false);
    add_vision(out, "vision_model.positional_embedding_vlm", side * side + 1, block.hidden, false);
    add_vision(out, "vision_model.layernorm_pre", block.hidden, 1, true);
    add_blocks(out, block);
    add_vision(out, "vision_model.layernorm_post", block.hidden, 1, true);
    add_vision(out, "vision_model.vision_adapter.mlp.fc1", in, block.intermediate, false);
    add_vision(out, "vision_model.vision_adapter.mlp.fc2", middle, in, false);
    add_vision(out, "multi_modal_projector.linear_1", text_width(build), v.count_or({"vision_output_dim"}, middle), false);
    build.blueprint.vision = VisionTower{block.layers, block.hidden};
}

/// Llama 3.2 Vision: tiles of an image with gated position tables, local and gated global layers.
void mllama_vision(Build& build) {
    const ModelFacts v = build.facts.section(keys::kVision);
    VisionBlock block;
    block.prefix = "vision_model.transformer.layers";
    block.layers = v.required(keys::kLayers);
    block.hidden = v.required(keys::kHidden);
    block.intermediate = v.required(keys::kFfn);
    block.heads = v.required({"heads", "attention_heads", "num_attention_heads"});
    block.fused_qkv = false;
    block.attention_bias = false;
    const std::int64_t patch = v.small_or({"patch", "patch_size"}, 14);
    const std::int64_t side = v.count_or({"image", "image_size"}, 448) / std::max<std::int64_t>(1, patch);
    const std::int64_t tiles = v.small_or({"tiles", "max_num_tiles"}, 4);
    const json::Value ratios = v.value({"supported_aspect_ratios"});
    const std::int64_t shapes = (ratios.is_array() ? static_cast<std::int64_t>(ratios.size()) : 8) + 1;
    const std::int64_t hidden = block.hidden, positions = side * side + 1;
    std::vector<Module>& out = build.blueprint.outside;
    add_vision(out, "vision_model.patch_embedding", hidden, 3 * patch * patch, false);
    add_vision(out, "vision_model.class_embedding", hidden, 1, false);
    add_vision(out, "vision_model.gated_positional_embedding.embedding", positions, hidden, false);
    add_vision(out, "vision_model.gated_positional_embedding.tile_embedding", shapes, checked_mul(tiles * positions, hidden), false);
    for (const char* name : {"vision_model.pre_tile_positional_embedding.embedding", "vision_model.post_tile_positional_embedding.embedding"})
        add_vision(out, name, shapes, tiles * hidden, false);
    for (const char* gate : {"vision_model.gated_positional_embedding.gate", "vision_model.pre_tile_positional_embedding.gate",
                             "vision_model.post_tile_positional_embedding.gate"})
        add_vision(out, gate, 1, 1, false);
    for (const char* norm : {"vision_model.layernorm_pre", "vision_model.layernorm_post"}) add_vision(out, norm, hidden, 1, true);
    add_blocks(out, block);
    block.prefix = "vision_model.global_transformer.layers";
    block.layers = v.count_or({"global_layers", "num_global_layers"}, 8);
    add_blocks(out, block);
    for (const char* gate : {"vision_model.global_transformer.layers.*.gate_attn", "vision_model.global_transformer.layers.*.gate_ffn"})
        add_vision(out, gate, 1, 1, false, block.layers);
    add_vision(out, "multi_modal_projector", text_width(build), v.count_or({"vision_output_dim"}, 7680), true);
    build.blueprint.vision = VisionTower{v.required(keys::kLayers), hidden};
}

/// Gemma 4's ear: two strided convolutions over 128 mel bands, then conformer layers with two MLPs of four times the width.
void gemma4_audio(Build& build) {
    const ModelFacts a = build.facts.section({"audio", "audio_config"});
    if (!a.exists()) return;
    constexpr std::int64_t kMelBands = 128;
    const std::int64_t layers = a.required(keys::kLayers), hidden = a.required(keys::kHidden), heads = a.required(keys::kHeads);
    const std::int64_t kernel = a.small_or({"conv_kernel_size"}, 5), text = text_width(build);
    const std::int64_t out_width = a.count_or({"output_proj_dims"}, text);
    std::vector<std::int64_t> channels = a.integers({"subsampling_conv_channels"});
    if (channels.size() < 2) channels = {128, 32};
    std::vector<Module>& out = build.blueprint.outside;
    const auto add = [&](const std::string& name, std::int64_t rows, std::int64_t cols, bool bias, std::int64_t count) {
        add_vision(out, "audio_tower." + name, rows, cols, bias, count);
        out.back().weight.component = Component::audio;
    };
    add("subsample_conv_projection.conv_0", channels[0], 9, false, 1);
    add("subsample_conv_projection.norm_0", channels[0], 1, false, 1);
    add("subsample_conv_projection.conv_1", channels[1], channels[0] * 9, false, 1);
    add("subsample_conv_projection.norm_1", channels[1], 1, false, 1);
    add("subsample_conv_projection.input_proj", hidden, channels[1] * (kMelBands / 4), false, 1);
    add("layers.*.feed_forward.ffw_layer_1", 4 * hidden, hidden, false, 2 * layers);
    add("layers.*.feed_forward.ffw_layer_2", hidden, 4 * hidden, false, 2 * layers);
    add("layers.*.self_attn.projections", hidden, hidden, false, 5 * layers);  // q, k, v, output, relative keys
    add("layers.*.self_attn.per_dim_scale", hidden / std::max<std::int64_t>(1, heads), 1, false, layers);
    add("layers.*.lconv1d.linear_start", 2 * hidden, hidden, false, layers);
    add("layers.*.lconv1d.linear_end", hidden, hidden, false, layers);
    add("layers.*.lconv1d.depthwise_conv1d", hidden, kernel, false, layers);
    add("layers.*.norms", hidden, 1, false, 9 * layers);
    add("output_proj", out_width, hidden, true, 1);
    add("embed_audio.embedding_projection", text, out_width, false, 1);
}

/// Gemma 4: gated blocks with query and key norms and four norms, a table of positions a direction.
void gemma4_vision(Build& build) {
    const ModelFacts v = build.facts.section(keys::kVision);
    const std::int64_t layers = v.required(keys::kLayers), hidden = v.required(keys::kHidden), ffn = v.required(keys::kFfn);
    const std::int64_t heads = v.required(keys::kHeads);
    const std::int64_t dim = v.count_or({"head_dim"}, hidden / std::max<std::int64_t>(1, heads));
    const std::int64_t patch = v.small_or({"patch", "patch_size"}, 16);
    std::vector<Module>& out = build.blueprint.outside;
    const auto block = [&](const char* name, std::int64_t rows, std::int64_t cols) {
        add_vision(out, std::string("vision_tower.encoder.layers.*.") + name, rows, cols, false, layers);
    };
    add_vision(out, "vision_tower.patch_embedder.input_proj", hidden, 3 * patch * patch, false);
    add_vision(out, "vision_tower.patch_embedder.position_embedding_table", 2 * v.count_or({"positions", "position_embedding_size"}, 10240), hidden, false);
    for (const char* name : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"}) block(name, heads * dim, hidden);
    block("self_attn.o_proj", hidden, heads * dim);
    for (const char* name : {"self_attn.q_norm", "self_attn.k_norm"}) block(name, dim, 1);
    for (const char* name : {"mlp.gate_proj", "mlp.up_proj"}) block(name, ffn, hidden);
    block("mlp.down_proj", hidden, ffn);
    for (const char* name : {"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm"})
        block(name, hidden, 1);
    if (v.flag({"standardize"}, false))
        for (const char* name : {"vision_tower.std_bias", "vision_tower.std_scale"}) add_vision(out, name, hidden, 1, false);
    add_vision(out, "embed_vision.embedding_projection", text_width(build), hidden, false);
    gemma4_audio(build);
    build.blueprint.vision = VisionTower{layers, hidden};
}

/// SAM ViT-B as DeepSeek-OCR uses it: windows of 14 but in the global layers, relative positions, a convolutional neck.
void add_sam(std::vector<Module>& out, const ModelFacts& sam, std::int64_t image, std::int64_t out_channels) {
    constexpr std::int64_t kPatch = 16, kWindow = 14, kNeck = 256;
    const std::int64_t layers = sam.required({"layers"}), width = sam.required({"width"}), heads = sam.required({"heads"});
    const auto global = static_cast<std::int64_t>(sam.integers({"global_attn_indexes"}).size());
    const std::int64_t side = image / kPatch, dim = width / std::max<std::int64_t>(1, heads);
    std::vector<std::int64_t> down = sam.integers({"downsample_channels"});
    if (down.empty()) down = {512};
    add_vision(out, "sam_model.pos_embed", side * side, width, false);
    add_vision(out, "sam_model.patch_embed.proj", width, 3 * kPatch * kPatch, true);
    VisionBlock block;
    block.prefix = "sam_model.blocks";
    block.layers = layers;
    block.hidden = width;
    block.intermediate = 4 * width;
    block.heads = heads;
    add_blocks(out, block);
    add_vision(out, "sam_model.blocks.*.attn.rel_pos", 2 * (2 * side - 1), dim, false, global);
    add_vision(out, "sam_model.blocks.*.attn.rel_pos_window", 2 * (2 * kWindow - 1), dim, false, layers - global);
    add_vision(out, "sam_model.neck.0", kNeck, width, false);
    add_vision(out, "sam_model.neck.2", kNeck, kNeck * 9, false);
    for (const char* norm : {"sam_model.neck.1", "sam_model.neck.3"}) add_vision(out, norm, kNeck, 1, true);
    add_vision(out, "sam_model.net_2", down.front(), kNeck * 9, false);
    add_vision(out, "sam_model.net_3", out_channels, down.front() * 9, false);
}

/// DeepSeek-OCR-2: SAM, then a Qwen2-0.5B that reads learned queries, then one projection. The config names the small
/// model and gives its width only; the rest is from Qwen2-0.5B's own config.
void deepseek_ocr2_vision(Build& build) {
    constexpr std::int64_t kLayers = 24, kHeads = 14, kKvHeads = 2, kFfn = 4864, kQueries = 144 + 256;
    const ModelFacts v = build.facts.section(keys::kVision);
    const ModelFacts width = v.section({"width"});
    const ModelFacts qwen = width.section({"qwen2-0-5b"}), sam = width.section({"sam_vit_b"});
    if (!qwen.exists() || !sam.exists()) {
        build.assumptions.push_back("the vision tower is not counted: its kind is not known");
        return;
    }
    const std::int64_t hidden = qwen.required({"dim"});
    std::vector<Module>& out = build.blueprint.outside;
    add_sam(out, sam, v.count_or({"image", "image_size"}, 1024), hidden);
    const auto block = [&](const char* name, std::int64_t rows, std::int64_t cols, bool bias) {
        add_vision(out, std::string("qwen2_model.layers.*.") + name, rows, cols, bias, kLayers);
    };
    const std::int64_t kv = hidden / kHeads * kKvHeads;
    block("self_attn.q_proj", hidden, hidden, true);
    for (const char* name : {"self_attn.k_proj", "self_attn.v_proj"}) block(name, kv, hidden, true);
    block("self_attn.o_proj", hidden, hidden, false);
    for (const char* name : {"mlp.gate_proj", "mlp.up_proj"}) block(name, kFfn, hidden, false);
    block("mlp.down_proj", hidden, kFfn, false);
    for (const char* name : {"input_layernorm", "post_attention_layernorm"}) block(name, hidden, 1, false);
    add_vision(out, "qwen2_model.norm", hidden, 1, false);
    add_vision(out, "qwen2_model.queries", kQueries, hidden, false);
    add_vision(out, "projector.layers", text_width(build), hidden, true);
    add_vision(out, "view_seperator", text_width(build), 1, false);
    build.blueprint.vision = VisionTower{kLayers, hidden};
}

}  // namespace

std::vector<VisionFamily> vision_towers() {
    std::vector<VisionFamily> towers;
    towers.push_back({{"kimi_k25", "kimi_vl", "kimi_k3"}, moonvit});
    towers.push_back({{"gemma3"}, siglip_gemma});
    towers.push_back({{"qwen2_vl"}, [](Build& build) { qwen_vision(build, {}); }});
    towers.push_back({{"qwen2_5_vl"}, [](Build& build) { qwen_vision(build, {true, false}); }});
    towers.push_back({{"qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe"}, [](Build& build) { qwen_vision(build, {false, true}); }});
    towers.push_back({{"mistral3"}, pixtral});
    towers.push_back({{"minimax_m3_vl"}, minimax_vision});
    towers.push_back({{"llama4"}, llama4_vision});
    towers.push_back({{"mllama"}, mllama_vision});
    towers.push_back({{"gemma4"}, gemma4_vision});
    towers.push_back({{"deepseek_vl_v2"}, deepseek_ocr2_vision});
    return towers;
}

}  // namespace kvplan::families
