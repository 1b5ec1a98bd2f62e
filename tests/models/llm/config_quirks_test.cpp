// What real configs do that a reader must survive. Quirks of quantization descriptions are in quantization_test.cpp.
#include <string>

#include "tests/models/llm/reading.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;
using namespace kvplan::test;

namespace {

const GroupedAttention& grouped(const LlmSpec& spec, std::int64_t layer) {
    return std::get<GroupedAttention>(spec.layer(layer).attention);
}
const MoeFfn& moe(const LlmSpec& spec, std::int64_t layer) { return std::get<MoeFfn>(spec.layer(layer).ffn); }

std::string decoder(const std::string& type, const std::string& more, const std::string& layers = "4") {
    return "{\"model_type\": \"" + type + "\", " + more + (more.empty() ? "" : ", ") +
           "\"num_hidden_layers\": " + layers +
           R"(, "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 100,
              "max_position_embeddings": 8192, "torch_dtype": "bfloat16"})";
}

}  // namespace

TEST_CASE("Whole numbers written as floats count, large and tiny doubles do not disturb", "[model][quirks]") {
    const LlmSpec spec = model_of(
        tiny_llama(R"("rope_theta": 1e6, "rms_norm_eps": 1e-20, "time_step_limit": [0.0, 1e308], "head_dim": 16.0)"));
    CHECK(grouped(spec, 0).head_dim == 16);
}

TEST_CASE("A list packed in a string is a list", "[model][quirks]") {
    const std::string moe_keys =
        R"("sliding_window": 8, "moe_num_experts": 4, "moe_top_k": 2, "moe_intermediate_size": 16, "share_expert_dim": 16)";
    const LlmSpec spec = model_of(decoder(
        "step3p5", moe_keys + R"(, "moe_layers_enum": "1, 3", "layer_types": ["full_attention", "sliding_attention",
        "full_attention", "sliding_attention", "sliding_attention", "full_attention"])"));
    CHECK(std::holds_alternative<DenseFfn>(spec.layer(0).ffn));
    CHECK(std::holds_alternative<MoeFfn>(spec.layer(1).ffn));
    CHECK(std::holds_alternative<DenseFfn>(spec.layer(2).ffn));
    CHECK(read_config(decoder("step3p5", moe_keys + R"(, "moe_layers_enum": "1,x")")).has("value.type"));
}

TEST_CASE("A scalar in one model is a list with one entry a layer in the next", "[model][quirks]") {
    const LlmSpec hunyuan =
        model_of(decoder("hunyuan_v1_moe", R"("num_experts": 4, "moe_topk": [1, 2], "moe_intermediate_size": [16, 32],
        "num_shared_expert": [1, 1], "kv_lora_rank": null, "n_group": null, "use_cla": false, "cla_share_factor": 2)",
                         "2"));
    CHECK(moe(hunyuan, 0).top_k == 1);
    CHECK(moe(hunyuan, 1).top_k == 2);
    CHECK(moe(hunyuan, 1).intermediate == 32);
    CHECK(grouped(hunyuan, 1).stores_kv);  // use_cla is false whatever the factor says

    const LlmSpec widths =
        model_of(R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
        "intermediate_size": [128, 256], "vocab_size": 100, "rope_theta": [1, 2]})");
    CHECK(std::get<DenseFfn>(widths.layer(1).ffn).intermediate == 256);
    const Reading few =
        read_config(R"({"model_type": "llama", "num_hidden_layers": 3, "hidden_size": 64, "num_attention_heads": 4,
        "intermediate_size": [128, 256], "vocab_size": 100})");
    CHECK(few.has("value.range", "fewer entries"));
}

TEST_CASE("Null is absent", "[model][quirks]") {
    const LlmSpec lite = model_of(
        decoder("deepseek_v2", R"("q_lora_rank": null, "kv_lora_rank": 8, "qk_nope_head_dim": 4, "qk_rope_head_dim": 2,
        "v_head_dim": 4, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "n_shared_experts": null, "sliding_window": null,
        "rope_scaling": null)"));
    CHECK(has_matrix(lite.layer(0), "self_attn.q_proj"));
    CHECK(moe(lite, 0).shared_experts == 0);
    CHECK(model_of(decoder("mistral", R"("sliding_window": null, "head_dim": null)")).layer(0).name == "dense");
}

TEST_CASE("A model type inside differs from the one outside, and two revisions of a model differ inside",
          "[model][quirks]") {
    const std::string text =
        R"("num_hidden_layers": 2, "hidden_size": 32, "num_attention_heads": 2, "q_lora_rank": 12, "kv_lora_rank": 8,
        "qk_nope_head_dim": 6, "qk_rope_head_dim": 4, "v_head_dim": 5, "intermediate_size": 40, "moe_intermediate_size": 10, "n_routed_experts": 4,
        "num_experts_per_tok": 2, "first_k_dense_replace": 1, "vocab_size": 50)";
    const auto kimi = [&](const char* inner) {
        return model_of(
            std::string(
                R"({"model_type": "kimi_k25", "architectures": ["KimiK25ForConditionalGeneration"], "dtype": "bfloat16",
            "vision_config": {"model_type": "", "vt_num_hidden_layers": 1, "vt_hidden_size": 8, "vt_intermediate_size": 16, "vt_num_attention_heads": 2},
            "text_config": {"model_type": ")") +
            inner + "\", \"num_nextn_predict_layers\": 0, " + text + "}}");
    };
    const LlmSpec original = kimi("kimi_k2"), repack = kimi("deepseek_v3");
    CHECK(original.classes == repack.classes);
    CHECK(original.model_type == "kimi_k25");
    REQUIRE(original.vision);
    CHECK(original.vision->layers == 1);
    CHECK_FALSE(original.draft);
}

TEST_CASE("architectures decides where model_type is useless", "[model][quirks]") {
    const std::string experts = R"("num_local_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16)";
    const LlmSpec grok = model_of(decoder(
        "git",
        R"("architectures": ["Grok1ForCausalLM"], "residual_moe": true, "sliding_window_size": -1, )" + experts));
    CHECK(grok.family == "grok");
    CHECK(moe(grok, 0).dense_intermediate == 128);  // an MLP beside the experts
    CHECK(has_matrix(grok.layer(0), "mlp.up_proj"));

    const LlmSpec eagle =
        model_of(decoder("llama", R"("architectures": ["LlamaForCausalLMEagle3"], "draft_vocab_size": 40)", "1"));
    CHECK(eagle.family == "eagle3");
    CHECK(matrix(eagle.layer(0), "self_attn.q_proj").cols == 128);  // token and hidden state side by side
    CHECK(outside(eagle, "lm_head").rows == 40);
    CHECK_FALSE(outside(eagle, "model.embed_tokens").resident);
    CHECK(outside(eagle, "fc").cols == 3 * 64);

    const LlmSpec flash = model_of(decoder(
        "qwen3",
        R"("architectures": ["DFlashDraftModel"], "head_dim": 16, "dflash_config": {"target_layer_ids": [1, 9]})"));
    CHECK(flash.family == "dflash");
    CHECK(outside(flash, "fc").cols == 2 * 64);
}

TEST_CASE("Text facts lie flat, in text_config, in language_config, or flat beside a vision section",
          "[model][quirks]") {
    const std::string facts =
        R"("num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128,
        "vocab_size": 100)";
    const std::int64_t expected = totals(model_of("{\"model_type\": \"qwen2\", " + facts + "}")).total_params;
    const LlmSpec flat = model_of(
        "{\"model_type\": \"qwen2_vl\", \"vision_config\": {\"depth\": 1, \"embed_dim\": 8, \"mlp_ratio\": 4, "
        "\"num_heads\": 2}, " +
        facts + "}");
    const LlmSpec nested = model_of(
        "{\"model_type\": \"qwen2_vl\", \"vision_config\": {\"depth\": 1, \"embed_dim\": 8, \"mlp_ratio\": 4, "
        "\"num_heads\": 2}, "
        "\"text_config\": {\"model_type\": \"qwen2_vl_text\", " +
        facts + "}}");
    CHECK(flat.outside == nested.outside);
    CHECK(totals(flat).total_params > expected);
    CHECK(flat.vision->hidden == 8);
    // Patches 8 x 3x2x14x14 = 9,408; block: qkv 24x8+24, out 8x8+8, MLP 32x8+32 and 8x32+8, norms 32: 216+72+288+264+32
    // = 872; merger: norm 16, 32x32+32, 64x32+64 = 16 + 1,056 + 2,112. Together 9,408 + 872 + 3,184 = 13,464.
    CHECK(totals(flat).total_params - expected == 13'464);

    const LlmSpec deepseek = model_of(
        R"({"model_type": "deepseek_vl_v2", "language_config": {"architectures": ["DeepseekV2ForCausalLM"], "use_mla": false,
        "kv_lora_rank": 8, "qk_nope_head_dim": 0, "qk_rope_head_dim": 0, "v_head_dim": 0, "num_hidden_layers": 2, "hidden_size": 64,
        "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 100}})");
    CHECK(std::holds_alternative<GroupedAttention>(deepseek.layer(0).attention));  // keys of MLA, but use_mla is false
}

TEST_CASE("Facts lie in sub-objects", "[model][quirks]") {
    const LlmSpec dbrx = model_of(
        R"({"model_type": "dbrx", "d_model": 64, "n_heads": 8, "n_layers": 2, "max_seq_len": 4096, "vocab_size": 100,
        "attn_config": {"kv_n_heads": 2}, "ffn_config": {"ffn_hidden_size": 96, "moe_num_experts": 4, "moe_top_k": 2}, "torch_dtype": "bfloat16"})");
    CHECK(grouped(dbrx, 0).kv_heads == 2);
    CHECK(moe(dbrx, 0).experts == 4);
    CHECK(moe(dbrx, 0).intermediate == 96);
    CHECK(dbrx.max_position_embeddings == 4096);
}

TEST_CASE("What only the Transformers class knows: Gemma-3's vocabulary and context", "[model][quirks]") {
    const LlmSpec gemma = model_of(
        R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "num_hidden_layers": 12, "hidden_size": 64,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 128, "sliding_window": 1024}})");
    CHECK(gemma.vocab_size == 262'208);
    CHECK(gemma.max_position_embeddings == 131'072);
    CHECK(gemma.tied_embeddings);
    for (const std::int64_t full : {5, 11}) CHECK_FALSE(grouped(gemma, full).window);
    CHECK(grouped(gemma, 4).window == 1024);
    // A layer: 4 norms of the width and two of the head dim beside attention and MLP.
    CHECK(has_matrix(gemma.layer(0), "post_feedforward_layernorm"));
    CHECK(matrix(gemma.layer(0), "self_attn.q_norm").rows == 16);
}

TEST_CASE("The same thing has many names", "[model][quirks]") {
    CHECK(
        model_of(
            R"({"model_type": "gpt_bigcode", "n_layer": 3, "n_embd": 64, "n_head": 4, "n_inner": 256, "n_positions": 512, "vocab_size": 100})")
            .layers() == 3);
    const LlmSpec glm = model_of(
        R"({"model_type": "chatglm", "num_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "kv_channels": 16,
        "multi_query_group_num": 2, "ffn_hidden_size": 96, "padded_vocab_size": 100, "seq_length": 8192, "add_qkv_bias": true, "torch_dtype": "float16"})");
    CHECK(grouped(glm, 0).kv_heads == 2);
    CHECK(glm.vocab_size == 100);
    CHECK(glm.max_position_embeddings == 8192);
    CHECK(matrix(glm.layer(0), "self_attention.query_key_value").bias);
    // Mistral's own params.json, read by assumption.
    ReadOptions mistral;
    mistral.assume_family = "mistral";
    const LlmSpec params = model_of(
        R"({"dim": 64, "n_layers": 2, "n_heads": 4, "n_kv_heads": 2, "hidden_dim": 128, "head_dim": 16, "vocab_size": 100,
        "tied_embeddings": true})",
        mistral);
    CHECK(params.tied_embeddings);
    CHECK(totals(params).total_params == 86'848 - 6'400);
}

TEST_CASE("FFN widths that do not mean what the key says", "[model][quirks]") {
    // Qwen 1 counts gate and up together; Falcon's absent width is four times hidden; Llama 4's plain key is an
    // expert's.
    const LlmSpec qwen = model_of(
        R"({"model_type": "qwen", "num_hidden_layers": 1, "hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 256,
        "vocab_size": 100, "kv_channels": 16, "no_bias": true})");
    CHECK(std::get<DenseFfn>(qwen.layer(0).ffn).intermediate == 128);
    CHECK(matrix(qwen.layer(0), "attn.c_attn").bias);
    const LlmSpec falcon = model_of(
        R"({"model_type": "falcon", "num_hidden_layers": 1, "hidden_size": 64, "num_attention_heads": 4, "vocab_size": 100,
        "multi_query": true, "bias": false})");
    CHECK(std::get<DenseFfn>(falcon.layer(0).ffn).intermediate == 256);
    CHECK_FALSE(std::get<DenseFfn>(falcon.layer(0).ffn).gated);
    CHECK(grouped(falcon, 0).kv_heads == 1);
    const LlmSpec llama4 = model_of(
        R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text", "num_hidden_layers": 4, "hidden_size": 64,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 32, "intermediate_size_mlp": 96, "num_local_experts": 4,
        "num_experts_per_tok": 1, "interleave_moe_layer_step": 2, "attention_chunk_size": 16, "no_rope_layers": [], "vocab_size": 100}})");
    CHECK(std::get<DenseFfn>(llama4.layer(0).ffn).intermediate == 96);
    CHECK(moe(llama4, 1).intermediate == 32);
    CHECK(moe(llama4, 1).shared_experts == 1);
    CHECK(grouped(llama4, 0).chunked);
    CHECK_FALSE(grouped(llama4, 3).window);
}

TEST_CASE("Which layers are dense is told in many ways", "[model][quirks]") {
    const std::string keys = R"("num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16)";
    const auto sparse = [&](const std::string& type, const std::string& more) {
        const LlmSpec spec = model_of(decoder(type, keys + more));
        std::string map;
        for (std::int64_t i = 0; i < spec.layers(); ++i)
            map += std::holds_alternative<MoeFfn>(spec.layer(i).ffn) ? 'E' : 'd';
        return map;
    };
    CHECK(sparse("qwen3_moe", R"(, "decoder_sparse_step": 1, "mlp_only_layers": [])") == "EEEE");
    CHECK(sparse("qwen3_moe", R"(, "decoder_sparse_step": 2)") == "dEdE");
    CHECK(sparse("qwen3_moe", R"(, "mlp_only_layers": [0, 3])") == "dEEd");
    CHECK(sparse("glm4_moe", R"(, "first_k_dense_replace": 1)") == "dEEE");
    CHECK(sparse("deepseek", R"(, "moe_layer_freq": 1)") == "EEEE");
    CHECK(sparse("mimo_v2", R"(, "sliding_window": 8, "moe_layer_freq": [0, 1, 1, 0])") == "dEEd");
    CHECK(
        sparse("glm_moe_dsa",
               R"(, "mlp_layer_types": ["dense", "sparse", "sparse", "dense"], "kv_lora_rank": 8, "qk_nope_head_dim": 4,
        "qk_rope_head_dim": 2, "v_head_dim": 4, "index_n_heads": 2, "index_head_dim": 8, "index_topk": 4)") == "dEEd");
    CHECK(sparse("ernie4_5_moe", R"(, "moe_layer_start_index": 1, "moe_layer_end_index": 2)") == "dEEd");
    CHECK(
        sparse(
            "jamba",
            R"(, "expert_layer_period": 2, "expert_layer_offset": 1, "attn_layer_period": 4, "attn_layer_offset": 2, "mamba_d_state": 4,
        "mamba_d_conv": 4)") == "dEdE");
}

TEST_CASE("The layer count may only be in the list of blocks", "[model][quirks]") {
    const LlmSpec ultra =
        model_of(R"({"model_type": "nemotron_h", "layers_block_type": ["mamba", "moe", "attention"], "hidden_size": 16,
        "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8, "mamba_num_heads": 4, "mamba_head_dim": 5, "n_groups": 2, "ssm_state_size": 3,
        "conv_kernel": 4, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 6, "n_shared_experts": 1,
        "moe_shared_expert_intermediate_size": 12, "vocab_size": 50, "num_nextn_predict_layers": 1, "mtp_layers_block_type": ["attention", "moe"]})");
    CHECK(ultra.layers() == 3);
    REQUIRE(ultra.draft);
    CHECK(std::holds_alternative<GroupedAttention>(ultra.draft->layer.attention));
    CHECK(std::holds_alternative<MoeFfn>(ultra.draft->layer.ffn));
}

TEST_CASE("Head dims are taken when given and derived when not", "[model][quirks]") {
    CHECK(grouped(model_of(decoder("llama", "")), 0).head_dim == 16);
    const LlmSpec qwen3 = model_of(decoder("qwen3", R"("head_dim": 32)"));
    CHECK(matrix(qwen3.layer(0), "self_attn.q_proj").rows == 4 * 32);
    CHECK(matrix(qwen3.layer(0), "self_attn.o_proj").cols == 4 * 32);
}

TEST_CASE("Geometry that differs by kind of layer", "[model][quirks]") {
    const LlmSpec mimo = model_of(
        decoder("mimo_v2_flash", R"("head_dim": 24, "v_head_dim": 16, "swa_num_key_value_heads": 4, "swa_head_dim": 24,
        "swa_v_head_dim": 16, "hybrid_layer_pattern": [0, 1, 1, 0], "sliding_window": 8, "n_routed_experts": 4, "num_experts_per_tok": 2,
        "moe_intermediate_size": 16, "n_shared_experts": null, "add_swa_attention_sink_bias": true)"));
    CHECK(grouped(mimo, 0).kv_heads == 2);
    CHECK(grouped(mimo, 1).kv_heads == 4);
    CHECK(grouped(mimo, 1).window == 8);
    CHECK(matrix(mimo.layer(1), "self_attn.v_proj").rows == 4 * 16);
    CHECK(has_matrix(mimo.layer(1), "self_attn.sinks"));
    CHECK_FALSE(has_matrix(mimo.layer(0), "self_attn.sinks"));
    REQUIRE(mimo.draft);
    CHECK(mimo.draft->layers == 3);  // no key tells of them

    const LlmSpec gemma = model_of(decoder(
        "gemma4", R"("head_dim": 16, "global_head_dim": 32, "num_global_key_value_heads": 1, "attention_k_eq_v": true,
        "sliding_window": 512, "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"], "num_kv_shared_layers": 2,
        "num_experts": null, "top_k_experts": null)"));
    CHECK(grouped(gemma, 1).head_dim == 32);
    CHECK(grouped(gemma, 1).kv_heads == 1);
    CHECK_FALSE(has_matrix(gemma.layer(1), "self_attn.v_proj"));
    CHECK(has_matrix(gemma.layer(0), "self_attn.v_proj"));
    CHECK(grouped(gemma, 1).stores_kv);
    CHECK_FALSE(grouped(gemma, 2).stores_kv);
}

TEST_CASE("Nemotron-NAS describes every block: some have no attention, some no FFN", "[model][quirks]") {
    const LlmSpec nas =
        model_of(R"({"model_type": "nemotron-nas", "num_hidden_layers": 3, "hidden_size": 64, "num_attention_heads": 8,
        "num_key_value_heads": null, "intermediate_size": null, "vocab_size": 100, "torch_dtype": "bfloat16", "block_configs": [
        {"attention": {"n_heads_in_group": 4, "no_op": false}, "ffn": {"ffn_mult": 2.0, "no_op": false}},
        {"attention": {"no_op": true}, "ffn": {"ffn_mult": 0.5, "no_op": false}},
        {"attention": {"n_heads_in_group": 2, "no_op": false}, "ffn": {"no_op": true}}]})");
    CHECK(grouped(nas, 0).kv_heads == 2);
    CHECK(grouped(nas, 2).kv_heads == 4);
    CHECK(std::holds_alternative<NoAttention>(nas.layer(1).attention));
    CHECK(std::holds_alternative<NoFfn>(nas.layer(2).ffn));
    // 2 x 2.0 x 64 / 3 = 85, up to a multiple of 256.
    CHECK(std::get<DenseFfn>(nas.layer(0).ffn).intermediate == 256);
}

TEST_CASE("Biases that keys tell, or do not", "[model][quirks]") {
    CHECK(matrix(model_of(decoder("qwen2", "")).layer(0), "self_attn.q_proj").bias);
    CHECK_FALSE(matrix(model_of(decoder("qwen2", "")).layer(0), "self_attn.o_proj").bias);
    const LlmSpec llama = model_of(decoder("llama", R"("attention_bias": true)"));
    CHECK(matrix(llama.layer(0), "self_attn.o_proj").bias);
    const std::string experts =
        R"("attention_bias": true, "num_local_experts": 4, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16)";
    CHECK_FALSE(matrix(model_of(decoder("glm4_moe", experts)).layer(0), "self_attn.o_proj").bias);
    const LlmSpec phimoe = model_of(decoder("phimoe", experts + R"(, "lm_head_bias": true)"));
    CHECK(matrix(phimoe.layer(0), "input_layernorm").bias);
    CHECK(outside(phimoe, "lm_head").bias);
    const LlmSpec oss = model_of(decoder("gpt_oss", experts + R"(, "sliding_window": 128)"));
    CHECK(matrix(oss.layer(0), "mlp.router").bias);
    CHECK(matrix(oss.layer(0), "mlp.experts.down_proj").bias);
    CHECK(matrix(oss.layer(0), "self_attn.sinks").rows == 4);
}

TEST_CASE("Query and key norms over a head, over the full width, or as a key tells within one family",
          "[model][quirks]") {
    const std::string experts =
        R"("num_experts": 4, "num_local_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16)";
    CHECK(matrix(model_of(decoder("qwen3", "")).layer(0), "self_attn.q_norm").rows == 16);
    CHECK(matrix(model_of(decoder("olmo2", "")).layer(0), "self_attn.q_norm").rows == 64);
    CHECK(matrix(model_of(decoder("minimax_m2", experts + R"(, "qk_norm_type": "per_layer")")).layer(0),
                 "self_attn.k_norm")
              .rows == 32);
    CHECK_FALSE(
        has_matrix(model_of(decoder("glm4_moe", experts + R"(, "use_qk_norm": false)")).layer(0), "self_attn.q_norm"));
    CHECK(has_matrix(model_of(decoder("glm4_moe", experts + R"(, "use_qk_norm": true)")).layer(0), "self_attn.q_norm"));
}

TEST_CASE("Windows that are on, off, or as wide as the context", "[model][quirks]") {
    const auto window = [](const std::string& type, const std::string& more) {
        return grouped(model_of(decoder(type, more)), 0).window;
    };
    CHECK_FALSE(window("qwen2", R"("use_sliding_window": false, "sliding_window": 4096)"));
    CHECK(window("qwen2", R"("use_sliding_window": true, "sliding_window": 4096, "max_window_layers": 0)") == 4096);
    CHECK(window("mistral", R"("sliding_window": 4096)") == 4096);
    CHECK(window("starcoder2", R"("sliding_window": 4096)") == 4096);
    CHECK(window("phi3", R"("sliding_window": 2047)") == 2047);
    CHECK_FALSE(window("phi3", R"("sliding_window": 262144)"));
    CHECK_FALSE(window("phi3", R"("sliding_window": 8192)"));
    const LlmSpec gemma2 = model_of(decoder("gemma2", R"("sliding_window": 4096)"));
    CHECK(grouped(gemma2, 0).window == 4096);
    CHECK_FALSE(grouped(gemma2, 1).window);
    const LlmSpec cohere2 = model_of(decoder("cohere2", R"("sliding_window": 4096, "sliding_window_pattern": 4)"));
    CHECK(grouped(cohere2, 2).window == 4096);
    CHECK_FALSE(grouped(cohere2, 3).window);
}

TEST_CASE("Layers of fixed state stand where lists, intervals or offsets say", "[model][quirks]") {
    const std::string m1 = R"("attn_type_list": [0, 1, 0, 0], "num_local_experts": 4, "num_experts_per_tok": 2)";
    const LlmSpec minimax = model_of(decoder("minimax_m1", m1));
    CHECK(std::holds_alternative<GroupedAttention>(minimax.layer(1).attention));
    CHECK(std::get<LinearAttention>(minimax.layer(0).attention).kind == LinearAttention::Kind::lightning);
    CHECK(matrix(minimax.layer(0), "block_sparse_moe.gate").format.element == DType::f32);
    CHECK(outside(minimax, "lm_head").format.element == DType::bf16);  // f32 in Text-01 alone
    const LlmSpec jamba = model_of(
        decoder("jamba", R"("num_experts": 4, "num_experts_per_tok": 2, "attn_layer_period": 4, "attn_layer_offset": 2,
        "mamba_d_state": 4, "mamba_d_conv": 4)"));
    CHECK(std::holds_alternative<GroupedAttention>(jamba.layer(2).attention));
    CHECK(std::get<LinearAttention>(jamba.layer(3).attention).heads == 128);
    CHECK(matrix(jamba.layer(3), "mamba.A_log").format.element == DType::f32);
}

TEST_CASE("Tied by the class's default when the config is silent", "[model][quirks]") {
    CHECK(model_of(decoder("gemma", "")).tied_embeddings);
    CHECK(model_of(decoder("cohere", "")).tied_embeddings);
    CHECK(model_of(decoder("starcoder2", "")).tied_embeddings);
    CHECK(model_of(decoder("cohere2", R"("use_embedding_sharing": true)")).tied_embeddings);
    for (const char* type : {"llama", "qwen2", "mistral"}) CHECK_FALSE(model_of(decoder(type, "")).tied_embeddings);
    // At the top level of a nested config.
    CHECK(
        model_of(
            R"({"model_type": "qwen3_vl", "tie_word_embeddings": true, "text_config": {"model_type": "qwen3_vl_text", "num_hidden_layers": 1,
        "hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 100}})")
            .tied_embeddings);
}

TEST_CASE("Llama 3.2 Vision embeds 8 rows more than its head has, and its cross-attention keeps no text",
          "[model][quirks]") {
    const LlmSpec spec = model_of(
        R"({"model_type": "mllama", "text_config": {"model_type": "mllama_text_model", "num_hidden_layers": 3, "hidden_size": 64,
        "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 100, "cross_attention_layers": [1]}})");
    CHECK(outside(spec, "model.embed_tokens").rows == 108);
    CHECK(outside(spec, "lm_head").rows == 100);
    CHECK(grouped(spec, 1).image_only);
    CHECK_FALSE(grouped(spec, 0).image_only);
}

TEST_CASE("Embedding-side giants: tables for every layer and for neighbouring tokens", "[model][quirks]") {
    const LlmSpec gemma =
        model_of(decoder("gemma4", R"("head_dim": 16, "sliding_window": 512, "hidden_size_per_layer_input": 8,
        "vocab_size_per_layer_input": 90, "use_double_wide_mlp": true, "num_kv_shared_layers": 1)"));
    CHECK(outside(gemma, "model.embed_tokens_per_layer").rows == 90);
    CHECK(outside(gemma, "model.embed_tokens_per_layer").cols == 4 * 8);
    CHECK(std::get<DenseFfn>(gemma.layer(3).ffn).intermediate == 256);

    const std::string lite =
        R"({"architectures": ["LongcatFlashNgramForCausalLM"], "num_layers": 1, "hidden_size": 36, "num_attention_heads": 2,
        "ffn_hidden_size": 40, "expert_ffn_hidden_size": 8, "n_routed_experts": 4, "zero_expert_num": 2, "moe_topk": 3, "q_lora_rank": 12, "kv_lora_rank": 8,
        "qk_nope_head_dim": 4, "qk_rope_head_dim": 2, "v_head_dim": 4, "vocab_size": 100, "ngram_vocab_size_ratio": 5, "emb_neighbor_num": 4,
        "emb_split_num": 3, "torch_dtype": "bfloat16"})";
    const LlmSpec longcat = model_of(lite);
    // 3 lengths x 3 parts = 9 tables, 36 / 9 = 4 wide, of 500 + 2i + 1 rows.
    CHECK(outside(longcat, "model.ngram_embeddings.embedders.0").rows == 501);
    CHECK(outside(longcat, "model.ngram_embeddings.embedders.8").rows == 517);
    CHECK(outside(longcat, "model.ngram_embeddings.embedders.8").cols == 4);
    CHECK(matrix(longcat.layer(0), "mlp.router.classifier").rows == 6);
    // Of 3 choices among 6, 2 compute on average: matmuls count those.
    CHECK(totals(longcat).matmul_params < totals(longcat).total_params);
}

TEST_CASE("Draft layers the config promises are stored by some families and not by others", "[model][quirks]") {
    const std::string experts =
        R"("num_local_experts": 4, "n_routed_experts": 4, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16)";
    CHECK_FALSE(model_of(decoder("minimax_m2", experts + R"(, "use_mtp": true, "num_mtp_modules": 3)")).draft);
    CHECK_FALSE(model_of(decoder("deepseek_v3", experts + R"(, "num_nextn_predict_layers": 0)")).draft);
    const LlmSpec glm = model_of(decoder("glm4_moe", experts + R"(, "num_nextn_predict_layers": 1)"));
    REQUIRE(glm.draft);
    CHECK(has_matrix(glm.draft->layer, "embed_tokens"));
    const LlmSpec mimo = model_of(decoder("mimo", R"("num_nextn_predict_layers": 1, "attention_bias": true)"));
    REQUIRE(mimo.draft);
    CHECK(matrix(mimo.draft->layer, "input_proj").cols == 128);
}

TEST_CASE("Routers and correction biases in f32, norms in f32 in DeepSeek-V3.2", "[model][quirks]") {
    const std::string experts =
        R"("num_local_experts": 4, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16)";
    const LlmSpec minimax = model_of(decoder("minimax_m2", experts));
    CHECK(matrix(minimax.layer(0), "block_sparse_moe.gate").format.element == DType::f32);
    CHECK(matrix(minimax.layer(0), "block_sparse_moe.e_score_correction_bias").format.element == DType::f32);
    const LlmSpec v32 = model_of(decoder(
        "deepseek_v32", experts + R"(, "kv_lora_rank": 8, "qk_nope_head_dim": 4, "qk_rope_head_dim": 2, "v_head_dim": 4,
        "index_n_heads": 2, "index_head_dim": 8, "index_topk": 4)"));
    CHECK(matrix(v32.layer(0), "input_layernorm").format.element == DType::f32);
    CHECK(matrix(v32.layer(0), "mlp.gate").format.element == DType::bf16);
}

TEST_CASE("Layers whose formats differ by an exclusion list are classes of their own", "[model][quirks]") {
    // Llama-3.1-405B-FP8 leaves the MLPs of its first and last layer alone.
    const LlmSpec spec =
        model_of(decoder("llama", R"("quantization_config": {"quant_method": "fbgemm_fp8", "modules_to_not_convert":
        ["model.layers.0.mlp.down_proj", "model.layers.3.mlp.down_proj"]})"));
    CHECK(spec.classes.size() == 2);
    CHECK(spec.layer_class == std::vector<int>{0, 1, 1, 0});
    CHECK(matrix(spec.layer(0), "mlp.down_proj").format.scheme == Scheme::plain);
    CHECK(matrix(spec.layer(1), "mlp.down_proj").format.scheme == Scheme::fbgemm_fp8);
    // A row of scales: 128 x 64 bytes and 128 f32.
    CHECK(stored(matrix(spec.layer(1), "mlp.up_proj")).bytes.count() == 128 * 64 + 128 * 4);
}
