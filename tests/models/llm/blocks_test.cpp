// The blocks that layers are made of, each worked by hand on a small case.
#include <string>

#include "tests/models/llm/reading.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;
using namespace kvplan::test;

namespace {

std::int64_t layer_params(const LayerClass& layer) {
    std::int64_t sum = 0;
    for (const WeightMatrix& weight : layer.weights)
        if (weight.stored) sum += parameters(weight);
    return sum;
}

const std::string kDeepSeek =
    R"("num_hidden_layers": 3, "hidden_size": 32, "num_attention_heads": 2, "q_lora_rank": 12, "kv_lora_rank": 8,
    "qk_nope_head_dim": 6, "qk_rope_head_dim": 4, "v_head_dim": 5, "intermediate_size": 40, "moe_intermediate_size": 10, "n_routed_experts": 4,
    "n_shared_experts": 2, "num_experts_per_tok": 2, "first_k_dense_replace": 1, "topk_method": "noaux_tc", "vocab_size": 50, "torch_dtype": "bfloat16")";

}  // namespace

TEST_CASE("Latent attention stores two thin projections and two wide ones", "[model][mla]") {
    // q_a 12x32, its norm 12, q_b 2(6+4)x12 = 20x12, kv_a (8+4)x32, its norm 8, kv_b 2(6+5)x8 = 22x8, o 32x10:
    // 384 + 12 + 240 + 384 + 8 + 176 + 320 = 1,524; norms 64; MLP 3x40x32 = 3,840. Dense layer: 5,428.
    const LlmSpec spec = model_of("{\"model_type\": \"deepseek_v3\", " + kDeepSeek + "}");
    CHECK(layer_params(spec.layer(0)) == 5'428);
    // MoE layer: 1,524 + 64 + router 4x32 + bias 4 + 4 experts x 3x10x32 + shared 3x20x32 = 1,524 + 64 + 132 + 3,840 +
    // 1,920 = 7,480.
    CHECK(layer_params(spec.layer(1)) == 7'480);
    CHECK(spec.layer_class == std::vector<int>{0, 1, 1});
    const auto& attention = std::get<LatentAttention>(spec.layer(2).attention);
    CHECK(attention.kv_lora_rank + attention.qk_rope_head_dim == 12);
    CHECK(matrix(spec.layer(1), "self_attn.kv_a_proj_with_mqa").sharding == Sharding::replicated);
    CHECK(matrix(spec.layer(1), "mlp.gate.e_score_correction_bias").format.element == DType::f32);
    CHECK_FALSE(spec.draft);
}

TEST_CASE("DeepSeek-V3's draft layer brings its own embedding and head, GLM-5's does not", "[model][mtp]") {
    // Beside a MoE layer of 7,480: three norms 96 and one projection 32x64 = 2,048; with embedding and head 2x50x32 =
    // 3,200.
    const std::string more = kDeepSeek + R"(, "num_nextn_predict_layers": 1)";
    const LlmSpec v3 = model_of("{\"model_type\": \"deepseek_v3\", " + more + "}");
    REQUIRE(v3.draft);
    CHECK(layer_params(v3.draft->layer) == 7'480 + 96 + 2'048 + 3'200);
    CHECK_FALSE(matrix(v3.draft->layer, "embed_tokens").resident);  // engines share it

    // GLM-5's layers have an index besides: wq_b 2x3x12, wk 3x32, its norm 2x3, weights 2x32 = 72 + 96 + 6 + 64 = 238.
    const std::string index = R"(, "index_n_heads": 2, "index_head_dim": 3, "index_topk": 8)";
    const LlmSpec glm = model_of("{\"model_type\": \"glm_moe_dsa\", " + more + index + "}");
    REQUIRE(glm.draft);
    CHECK(layer_params(glm.draft->layer) == 7'480 + 238 + 96 + 2'048);

    ReadOptions options;
    options.draft_own_embedding = false;
    CHECK(layer_params(model_of("{\"model_type\": \"deepseek_v3\", " + more + "}", options).draft->layer) ==
          7'480 + 96 + 2'048);
    options.stored_draft = false;
    CHECK_FALSE(model_of("{\"model_type\": \"deepseek_v3\", " + more + "}", options).draft);
}

TEST_CASE("Only layers with an index of their own keep its keys", "[model][indexer][quirks]") {
    const LlmSpec spec = model_of(
        "{\"model_type\": \"glm_moe_dsa\", \"indexer_types\": [\"full\", \"shared\", \"full\"], \"index_n_heads\": 2, "
        "\"index_head_dim\": 3, \"index_topk\": 8, " +
        kDeepSeek + "}");
    CHECK(std::get<LatentAttention>(spec.layer(0).attention).indexer->own);
    CHECK_FALSE(std::get<LatentAttention>(spec.layer(1).attention).indexer->own);
    CHECK_FALSE(has_matrix(spec.layer(1), "self_attn.indexer.wk"));
    CHECK(has_matrix(spec.layer(2), "self_attn.indexer.wk"));
}

TEST_CASE("A gated delta net's inputs, convolution and state", "[model][linear]") {
    // 2 key heads of 3, 4 value heads of 5: keys 6, values 20. qkvz 2x6+2x20 = 52 rows, ba 8 rows, of 16; convolution
    // (2x6+20) x 4 = 128; dt_bias, A_log 4 each; norm 5; out 16x20: 832 + 128 + 128 + 8 + 5 + 320 = 1,421.
    const LlmSpec spec = model_of(
        R"({"model_type": "qwen3_next", "num_hidden_layers": 4, "hidden_size": 16, "num_attention_heads": 2, "num_key_value_heads": 1,
        "head_dim": 8, "linear_num_key_heads": 2, "linear_key_head_dim": 3, "linear_num_value_heads": 4, "linear_value_head_dim": 5,
        "linear_conv_kernel_dim": 4, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 6, "shared_expert_intermediate_size": 6,
        "vocab_size": 50, "torch_dtype": "bfloat16"})");
    std::int64_t sum = 0;
    for (const WeightMatrix& weight : spec.layer(0).weights)
        if (weight.component == Component::linear_attention) sum += parameters(weight);
    CHECK(sum == 1'421);
    const auto& net = std::get<LinearAttention>(spec.layer(0).attention);
    CHECK(net.conv_channels == 32);
    CHECK(net.heads * net.head_dim * net.state_size == 60);
    // Every fourth layer is full attention; q_proj holds an output gate: 2 x 2 x 8 rows.
    CHECK(std::holds_alternative<GroupedAttention>(spec.layer(3).attention));
    CHECK(matrix(spec.layer(3), "self_attn.q_proj").rows == 32);
    // No key tells of the draft layer that the checkpoint holds.
    REQUIRE(spec.draft);
    CHECK(std::holds_alternative<GroupedAttention>(spec.draft->layer.attention));
}

TEST_CASE("Nemotron's blocks: Mamba 2, attention and experts without a gate on a smaller width",
          "[model][linear][moe]") {
    const std::string config =
        R"({"model_type": "nemotron_h", "hybrid_override_pattern": "M*E", "num_hidden_layers": 3, "hidden_size": 16,
        "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8, "mamba_num_heads": 4, "mamba_head_dim": 5, "n_groups": 2,
        "ssm_state_size": 3, "conv_kernel": 4, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 6, "n_shared_experts": 1,
        "moe_shared_expert_intermediate_size": 12, "moe_latent_size": 8, "mamba_ssm_cache_dtype": "float32", "time_step_limit": [0.0, Infinity],
        "vocab_size": 50, "torch_dtype": "bfloat16"})";
    const LlmSpec spec = model_of(config);
    // in 2x20 + 2x2x3 + 4 = 56 rows of 16; convolution (20+12) x 4 with a bias of 32; A_log, D, dt_bias 4 each; norm
    // 20; out 16x20; the layer's norm 16: 896 + 160 + 12 + 20 + 320 + 16 = 1,424.
    CHECK(layer_params(spec.layer(0)) == 1'424);
    // router 4x16 + bias 4; experts 4 x 2 x 6x8; shared 2 x 12x16; latent projections 2 x 8x16; norm 16: 68 + 384 + 384
    // + 256 + 16.
    CHECK(layer_params(spec.layer(2)) == 1'108);
    CHECK_FALSE(std::get<MoeFfn>(spec.layer(2).ffn).gated);
    CHECK(std::holds_alternative<NoFfn>(spec.layer(1).ffn));
    CHECK(std::holds_alternative<NoAttention>(spec.layer(2).attention));
    CHECK(std::get<LinearAttention>(spec.layer(0).attention).state_dtype == DType::f32);
    CHECK(read_config(R"({"model_type": "nemotron_h", "hybrid_override_pattern": "MX", "num_hidden_layers": 2})")
              .has("value.unknown"));
}

TEST_CASE("Kimi's delta attention keeps three convolutions and a state a head", "[model][linear]") {
    const LlmSpec spec = model_of(
        R"({"model_type": "kimi_linear", "num_hidden_layers": 4, "hidden_size": 16, "num_attention_heads": 2, "q_lora_rank": null,
        "kv_lora_rank": 8, "qk_nope_head_dim": 4, "qk_rope_head_dim": 2, "v_head_dim": 4, "head_dim": 72, "intermediate_size": 20,
        "linear_attn_config": {"full_attn_layers": [3], "kda_layers": [1, 2, 4], "num_heads": 3, "head_dim": 4, "short_conv_kernel_size": 4},
        "num_experts": 4, "num_experts_per_token": 2, "moe_intermediate_size": 6, "num_shared_experts": 1, "first_k_dense_replace": 1,
        "vocab_size": 50, "dtype": "bfloat16"})");
    // Width 3x4 = 12. q, k, v 12x16, convolutions 3 x 12x4, A_log 3, dt_bias 12, f 4x16 + 12x4, b 3x16, g 4x16 + 12x4,
    // norm 4, out 16x12: 576 + 144 + 15 + 112 + 48 + 112 + 4 + 192 = 1,203.
    std::int64_t sum = 0;
    for (const WeightMatrix& weight : spec.layer(0).weights)
        if (weight.component == Component::linear_attention) sum += parameters(weight);
    CHECK(sum == 1'203);
    CHECK(std::holds_alternative<LatentAttention>(spec.layer(2).attention));  // the lists count from 1
    CHECK(std::holds_alternative<LinearAttention>(spec.layer(3).attention));
    CHECK(std::holds_alternative<DenseFfn>(spec.layer(0).ffn));
}

TEST_CASE("DeepSeek-V4 keeps one entry for all heads, compressed by 4 with an index or by 128", "[model][v4][quirks]") {
    const LlmSpec spec =
        model_of(R"({"model_type": "deepseek_v4", "num_hidden_layers": 3, "hidden_size": 128, "num_attention_heads": 4,
        "num_key_value_heads": 1, "head_dim": 32, "qk_rope_head_dim": 8, "q_lora_rank": 16, "o_lora_rank": 16, "o_groups": 2, "sliding_window": 128,
        "compress_ratios": [0, 4, 128, 0], "index_n_heads": 2, "index_head_dim": 16, "index_topk": 64, "n_routed_experts": 4,
        "num_experts_per_tok": 2, "moe_intermediate_size": 32, "n_shared_experts": 1, "num_hash_layers": 1, "hc_mult": 4, "vocab_size": 100,
        "expert_dtype": "fp4", "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}, "torch_dtype": "bfloat16"})");
    // The list also covers the draft layer and is longer than the layer count.
    CHECK(spec.layers() == 3);
    CHECK(std::get<CompressedAttention>(spec.layer(0).attention).ratio == 0);
    CHECK(std::get<CompressedAttention>(spec.layer(1).attention).ratio == 4);
    CHECK(has_matrix(spec.layer(1), "attn.indexer.wq_b"));
    CHECK_FALSE(has_matrix(spec.layer(2), "attn.indexer.wq_b"));
    // The overlap of ratio 4 doubles the compressor: 2 x 32 rows, against 32.
    CHECK(matrix(spec.layer(1), "attn.compressor.wkv").rows == 64);
    CHECK(matrix(spec.layer(2), "attn.compressor.wkv").rows == 32);
    // Hash-routed layers choose by a table of int64, the others have a bias.
    CHECK(matrix(spec.layer(0), "ffn.gate.tid2eid").format.element == DType::i64);
    CHECK_FALSE(has_matrix(spec.layer(0), "ffn.gate.bias"));
    CHECK(has_matrix(spec.layer(1), "ffn.gate.bias"));
    // fp4 experts beside fp8 with scales of one byte, although the method says fp8.
    CHECK(matrix(spec.layer(1), "ffn.experts.*.w1").format.scheme == Scheme::mxfp4);
    CHECK(matrix(spec.layer(1), "attn.wq_a").format.scheme == Scheme::fp8_block);
    CHECK(matrix(spec.layer(1), "attn.wq_a").format.scale == DType::e8m0);
    CHECK(matrix(spec.layer(1), "hc_attn_fn").format.element == DType::f32);
}

TEST_CASE("Released checkpoints come out to the parameter and the byte", "[model][released]") {
    // Facts of public configs; totals as the Hub's safetensors metadata has them.
    SECTION(
        "Step-3.5-Flash: windowed layers with 96 heads, a head in each of three draft layers, correction biases in "
        "f32") {
        std::string types, experts;
        for (int i = 0; i < 48; ++i)
            types += std::string(i ? ", " : "") + (i % 4 == 0 ? "\"full_attention\"" : "\"sliding_attention\"");
        for (int i = 3; i < 45; ++i) experts += (i > 3 ? "," : "") + std::to_string(i);
        const ModelTotals sums = totals(model_of(
            R"({"model_type": "step3p5", "hidden_size": 4096, "num_hidden_layers": 45, "num_attention_heads": 64, "num_attention_groups": 8, "head_dim": 128,
            "intermediate_size": 11264, "vocab_size": 128896, "sliding_window": 512, "attention_other_setting": {"num_attention_heads": 96},
            "moe_num_experts": 288, "moe_top_k": 8, "moe_intermediate_size": 1280, "share_expert_dim": 1280, "num_nextn_predict_layers": 3,
            "torch_dtype": "bfloat16", "layer_types": [)" +
            types + R"(], "moe_layers_enum": ")" + experts + "\"}"));
        CHECK(sums.total_params == 199'384'301'376);
        CHECK(sums.checkpoint_bytes.count() == 398'768'626'944);
    }
    SECTION("LongCat-Flash: two attentions a layer, experts that compute nothing, 27e9 active on average") {
        const LlmSpec spec = model_of(
            R"({"architectures": ["LongcatFlashForCausalLM"], "hidden_size": 6144, "num_layers": 28, "num_attention_heads": 64,
            "ffn_hidden_size": 12288, "expert_ffn_hidden_size": 2048, "n_routed_experts": 512, "zero_expert_num": 256, "moe_topk": 12, "q_lora_rank": 1536,
            "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 131072, "torch_dtype": "bfloat16"})");
        CHECK(totals(spec).total_params == 561'862'880'256);
        CHECK(spec.layers() == 56);
        CHECK(static_cast<double>(totals(spec).active_params) == Approx(27e9).epsilon(0.05));
        CHECK(matrix(spec.layer(0), "mlp.router.classifier").rows == 768);
        CHECK(matrix(spec.layer(0), "mlp.experts.*.up_proj").count == 512);
    }
    SECTION("MiniMax-Text-01: head and routers in f32") {
        std::string types;
        for (int i = 1; i <= 80; ++i) types += std::string(i > 1 ? ", " : "") + (i % 8 == 0 ? "1" : "0");
        const ModelTotals sums = totals(model_of(
            R"({"model_type": "minimax_text_01", "head_dim": 128, "hidden_size": 6144, "intermediate_size": 9216,
            "num_attention_heads": 64, "num_experts_per_tok": 2, "num_hidden_layers": 80, "num_key_value_heads": 8, "num_local_experts": 32,
            "vocab_size": 200064, "attn_type_list": [)" +
            types + "]}"));
        CHECK(sums.total_params == 456'089'655'296);
        CHECK(sums.checkpoint_bytes.count() == 914'669'154'304);
        CHECK(static_cast<double>(sums.active_params) == Approx(45.9e9).epsilon(0.002));
    }
    SECTION(
        "Falcon-180B: tied by the class's default and stored all the same, an MLP without a gate of four times the "
        "width") {
        ReadOptions options;
        options.stored_lm_head = true;
        const ModelTotals sums = totals(model_of(
            R"({"model_type": "falcon", "hidden_size": 14848, "num_hidden_layers": 80, "num_attention_heads": 232,
            "num_kv_heads": 8, "vocab_size": 65024, "new_decoder_architecture": true, "bias": false, "torch_dtype": "bfloat16"})",
            options));
        CHECK(sums.total_params == 179'522'565'120);
        CHECK(sums.checkpoint_bytes.count() == 359'045'130'240);
        CHECK(sums.tensors == 644);
    }
    SECTION("LFM2.5-8B-A1B: short convolutions, 22 layers of experts with an f32 bias, tied by default") {
        std::string types;
        for (int i = 0; i < 24; ++i)
            types += std::string(i ? ", " : "") + (i % 4 == 2 ? "\"full_attention\"" : "\"conv\"");
        const LlmSpec spec = model_of(R"({"model_type": "lfm2_moe", "hidden_size": 2048, "num_hidden_layers": 24,
            "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 7168, "moe_intermediate_size": 1792,
            "num_experts": 32, "num_experts_per_tok": 4, "num_dense_layers": 2, "conv_L_cache": 3, "vocab_size": 128000,
            "dtype": "bfloat16", "layer_types": [)" +
                                      types + "]}");
        CHECK(totals(spec).total_params == 8'467'856'832);
        CHECK(totals(spec).checkpoint_bytes.count() == 16'935'715'072);
        CHECK(std::get<LinearAttention>(spec.layer(0).attention).kind == LinearAttention::Kind::short_conv);
    }
    SECTION("Mixtral-8x22B-Instruct") {
        CHECK(
            totals(
                model_of(
                    R"({"model_type": "mixtral", "hidden_size": 6144, "num_hidden_layers": 56, "num_attention_heads": 48, "num_key_value_heads": 8,
            "intermediate_size": 16384, "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32768, "torch_dtype": "bfloat16"})"))
                .total_params == 140'630'071'296);
    }
}
