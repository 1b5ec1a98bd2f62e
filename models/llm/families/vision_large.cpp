// Towers with more than the usual blocks: classes, tiles, ears, a second model in the tower.
#include <algorithm>
#include <string>

#include "models/llm/families/vision_blocks.hpp"
#include "models/llm/keys.hpp"
#include "units/quantity.hpp"

namespace kvplan::families {
namespace {

/// Gemma 4's ear: two strided convolutions over 128 mel bands, then conformer layers with two MLPs of four times the
/// width.
void gemma4_audio(Build& build) {
    const ModelFacts a = build.facts.section({"audio", "audio_config"});
    if (!a.exists()) return;
    constexpr std::int64_t kMelBands = 128;
    const std::int64_t layers = a.required(keys::kLayers), hidden = a.required(keys::kHidden),
                       heads = a.required(keys::kHeads);
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

/// SAM ViT-B as DeepSeek-OCR uses it: windows of 14 but in the global layers, relative positions, a convolutional neck.
void add_sam(std::vector<Module>& out, const ModelFacts& sam, std::int64_t image, std::int64_t out_channels) {
    constexpr std::int64_t kPatch = 16, kWindow = 14, kNeck = 256;
    const std::int64_t layers = sam.required({"layers"}), width = sam.required({"width"}),
                       heads = sam.required({"heads"});
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

}  // namespace

/// MiniMax-M3: a CLIP tower with rotary positions, a two-layer projector, and a merger of neighbouring patches behind
/// it.
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
    add_vision(out, "vision_tower.vision_model.embeddings.patch_embedding", block.hidden, 3 * frames * patch * patch,
               false);
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
    add_vision(out, "multi_modal_projector.linear_1", text_width(build), v.count_or({"vision_output_dim"}, middle),
               false);
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
    add_vision(out, "vision_model.gated_positional_embedding.tile_embedding", shapes,
               checked_mul(tiles * positions, hidden), false);
    for (const char* name : {"vision_model.pre_tile_positional_embedding.embedding",
                             "vision_model.post_tile_positional_embedding.embedding"})
        add_vision(out, name, shapes, tiles * hidden, false);
    for (const char* gate :
         {"vision_model.gated_positional_embedding.gate", "vision_model.pre_tile_positional_embedding.gate",
          "vision_model.post_tile_positional_embedding.gate"})
        add_vision(out, gate, 1, 1, false);
    for (const char* norm : {"vision_model.layernorm_pre", "vision_model.layernorm_post"})
        add_vision(out, norm, hidden, 1, true);
    add_blocks(out, block);
    block.prefix = "vision_model.global_transformer.layers";
    block.layers = v.count_or({"global_layers", "num_global_layers"}, 8);
    add_blocks(out, block);
    for (const char* gate :
         {"vision_model.global_transformer.layers.*.gate_attn", "vision_model.global_transformer.layers.*.gate_ffn"})
        add_vision(out, gate, 1, 1, false, block.layers);
    add_vision(out, "multi_modal_projector", text_width(build), v.count_or({"vision_output_dim"}, 7680), true);
    build.blueprint.vision = VisionTower{v.required(keys::kLayers), hidden};
}

/// Gemma 4: gated blocks with query and key norms and four norms, a table of positions a direction.
void gemma4_vision(Build& build) {
    const ModelFacts v = build.facts.section(keys::kVision);
    const std::int64_t layers = v.required(keys::kLayers), hidden = v.required(keys::kHidden),
                       ffn = v.required(keys::kFfn);
    const std::int64_t heads = v.required(keys::kHeads);
    const std::int64_t dim = v.count_or({"head_dim"}, hidden / std::max<std::int64_t>(1, heads));
    const std::int64_t patch = v.small_or({"patch", "patch_size"}, 16);
    std::vector<Module>& out = build.blueprint.outside;
    const auto block = [&](const char* name, std::int64_t rows, std::int64_t cols) {
        add_vision(out, std::string("vision_tower.encoder.layers.*.") + name, rows, cols, false, layers);
    };
    add_vision(out, "vision_tower.patch_embedder.input_proj", hidden, 3 * patch * patch, false);
    add_vision(out, "vision_tower.patch_embedder.position_embedding_table",
               2 * v.count_or({"positions", "position_embedding_size"}, 10240), hidden, false);
    for (const char* name : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"})
        block(name, heads * dim, hidden);
    block("self_attn.o_proj", hidden, heads * dim);
    for (const char* name : {"self_attn.q_norm", "self_attn.k_norm"}) block(name, dim, 1);
    for (const char* name : {"mlp.gate_proj", "mlp.up_proj"}) block(name, ffn, hidden);
    block("mlp.down_proj", hidden, ffn);
    for (const char* name :
         {"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm"})
        block(name, hidden, 1);
    if (v.flag({"standardize"}, false))
        for (const char* name : {"vision_tower.std_bias", "vision_tower.std_scale"})
            add_vision(out, name, hidden, 1, false);
    add_vision(out, "embed_vision.embedding_projection", text_width(build), hidden, false);
    gemma4_audio(build);
    build.blueprint.vision = VisionTower{layers, hidden};
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

}  // namespace kvplan::families
