#include "models/llm/quantization.hpp"

#include <string>

#include "tests/support/catch.hpp"

using namespace kvplan;

namespace {

QuantizationRules read(const std::string& config, const std::string& hf_quant = "null", const QuantizationOptions& options = {}) {
    Diagnostics diagnostics;
    const auto document = json::parse(config, "config.json", diagnostics);
    const auto second = json::parse(hf_quant, "hf_quant_config.json", diagnostics);
    REQUIRE(document);
    REQUIRE(second);
    QuantizationRules rules = read_quantization(document->root(), second->root(), options, diagnostics);
    INFO(render(diagnostics));
    CHECK(diagnostics.empty());
    return rules;
}

std::string at(const QuantizationRules& rules, std::string_view path) { return label(rules.format_for(path)); }

}  // namespace

TEST_CASE("Without a description nothing is quantized", "[quantization]") {
    const QuantizationRules rules = read(R"({"torch_dtype": "bfloat16", "quantization_config": null})");
    CHECK_FALSE(rules.quantizes());
    CHECK(at(rules, "model.layers.0.mlp.up_proj") == "bf16");
    CHECK(rules.label() == "bf16");
}

TEST_CASE("DeepSeek's FP8 has no list: what stays in 16 bits is convention", "[quantization][quirks]") {
    const QuantizationRules rules =
        read(R"({"quantization_config": {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128], "scale_fmt": "ue8m0"}})");
    CHECK(at(rules, "model.layers.3.mlp.experts.0.gate_proj") == "fp8 128x128");
    CHECK(at(rules, "model.layers.3.self_attn.kv_a_proj_with_mqa") == "fp8 128x128");
    for (const char* path : {"model.layers.3.mlp.gate", "model.layers.3.input_layernorm", "model.embed_tokens", "lm_head",
                             "model.layers.61.eh_proj", "model.layers.3.self_attn.indexer.weights_proj", "model.layers.61.shared_head.head"})
        CHECK(at(rules, path) == "bf16");
    // "ue8m0" is said by V3.1 and V3.2 too, which store f32: only a family knows better
    CHECK(rules.format_for("model.layers.3.mlp.experts.0.gate_proj").scale == DType::f32);
    QuantizationOptions v4;
    v4.block_scale = DType::e8m0;
    const QuantizationRules other = read(
        R"({"expert_dtype": "fp4", "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128], "scale_fmt": "ue8m0"}})", "null", v4);
    CHECK(at(other, "layers.3.ffn.experts.0.w1") == "mxfp4");
    CHECK(other.format_for("layers.3.attn.wq_a").scale == DType::e8m0);
    CHECK(other.label() == "mixed (mxfp4, fp8 128x128)");
}

TEST_CASE("modules_to_not_convert: bare words are whole parts", "[quantization][quirks]") {
    const QuantizationRules rules = read(R"({"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128],
        "modules_to_not_convert": ["gate", "e_score_correction_bias", "lm_head"]}})");
    CHECK(at(rules, "model.layers.0.block_sparse_moe.gate") == "bf16");
    CHECK(at(rules, "model.layers.0.block_sparse_moe.experts.0.w1") == "fp8 128x128");
}

TEST_CASE("GLM lists a name that no tensor has; the indexer's projection stays anyway", "[quantization][quirks]") {
    const QuantizationRules rules = read(R"({"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128],
        "modules_to_not_convert": ["lm_head", "model.layers.0.self_attn.indexers_proj", "model.layers.0.mlp.gate"]}})");
    CHECK(at(rules, "model.layers.0.self_attn.indexer.weights_proj") == "bf16");
    CHECK(at(rules, "model.layers.0.self_attn.indexer.wq_b") == "fp8 128x128");
}

TEST_CASE("Kimi-K2.5: int4 in the text model's own section, by expressions", "[quantization][quirks]") {
    const QuantizationRules rules = read(R"({"text_config": {"quantization_config": {"quant_method": "compressed-tensors", "format": "pack-quantized",
        "config_groups": {"group_0": {"targets": ["Linear"], "input_activations": null,
           "weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32, "symmetric": true, "actorder": null}}},
        "ignore": ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*", "re:.*mlp\\.(gate|up|gate_up|down)_proj.*"], "kv_cache_scheme": null}}})");
    CHECK(rules.label() == "int4 g32");
    CHECK(rules.method() == "compressed-tensors");
    CHECK(at(rules, "language_model.model.layers.5.mlp.experts.*.down_proj") == "int4 g32");
    for (const char* path : {"language_model.model.layers.5.self_attn.q_b_proj", "language_model.model.layers.5.mlp.shared_experts.up_proj",
                             "language_model.model.layers.0.mlp.up_proj", "language_model.model.layers.5.mlp.gate", "language_model.lm_head",
                             "vision_tower.encoder.blocks.3.mlp.fc0", "mm_projector.linear_1"})
        CHECK(at(rules, path) == "bf16");
    CHECK_FALSE(rules.kv_cache_dtype());
}

TEST_CASE("modelopt NVFP4 from its own file, with the KV cache's type", "[quantization][quirks]") {
    const QuantizationRules rules = read("{}", R"({"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8",
        "group_size": 16, "exclude_modules": ["lm_head", "model.layers.0.self_attn.q_a_proj", "model.layers.61*"]}})");
    CHECK(at(rules, "model.layers.0.self_attn.o_proj") == "nvfp4");
    CHECK(at(rules, "model.layers.0.self_attn.q_a_proj") == "bf16");
    CHECK(at(rules, "model.layers.61.mlp.experts.0.up_proj") == "bf16");
    CHECK(rules.format_for("model.layers.0.self_attn.o_proj").scalars == 2);
    CHECK(rules.kv_cache_dtype() == DType::f8_e4m3);
    CHECK(rules.method() == "modelopt");
}

TEST_CASE("KV cache hints: an object, a word, null", "[quantization][quirks]") {
    const auto kv = [](const std::string& scheme) {
        return read(R"({"quantization_config": {"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_scheme": )" + scheme + "}}").kv_cache_dtype();
    };
    CHECK(kv(R"({"dynamic": false, "num_bits": 8, "type": "float"})") == DType::f8_e4m3);
    CHECK(kv(R"("FP8")") == DType::f8_e4m3);
    CHECK_FALSE(kv("null"));
    CHECK(kv(R"({"num_bits": 8, "type": "int"})") == DType::i8);
}

TEST_CASE("Mixed precision: a map of modules, or of single experts", "[quantization][quirks]") {
    const QuantizationRules rules = read(R"({"quantization_config": {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION",
        "exclude_modules": ["mtp*", "mtp.layers.0*"], "quantized_layers": {
          "language_model.model.layers.0.self_attn.q_proj": {"quant_algo": "MXFP8"},
          "language_model.model.layers.3.block_sparse_moe.experts.0.w1": {"quant_algo": "NVFP4", "group_size": 16},
          "language_model.model.layers.3.block_sparse_moe.experts.1.w1": {"quant_algo": "NVFP4", "group_size": 16},
          "model.language_model.layers.4.mlp.experts": {"quant_algo": "W4A16_NVFP4", "group_size": 16},
          "lm_head": {"quant_algo": "W4A16_NVFP4", "group_size": 16}}}})");
    CHECK(at(rules, "model.layers.0.self_attn.q_proj") == "mxfp8");
    CHECK(at(rules, "model.layers.0.self_attn.o_proj") == "bf16");
    CHECK(at(rules, "model.layers.3.block_sparse_moe.experts.*.w1") == "nvfp4");
    CHECK(at(rules, "model.layers.4.mlp.experts.gate_up_proj") == "nvfp4");
    CHECK(rules.format_for("model.layers.4.mlp.experts.down_proj").scalars == 1);
    CHECK(at(rules, "lm_head") == "nvfp4");
    CHECK(at(rules, "mtp.layers.0.self_attn.q_proj") == "bf16");
    CHECK(rules.label() == "mixed (nvfp4, mxfp8)");
}

TEST_CASE("DeepSeek-V4 NVFP4: the list names what stays as it was, not what is in 16 bits", "[quantization][quirks]") {
    const QuantizationRules rules = read(R"({"expert_dtype": "fp4", "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128],
        "quant_algo": "MIXED_PRECISION", "ignore": ["*.attn.*", "*.ffn.shared_experts.*", "head", "mtp.*"],
        "quantized_layers": {"layers.0.ffn.experts": {"quant_algo": "NVFP4", "group_size": 16}}}})");
    CHECK(at(rules, "layers.0.ffn.experts.3.w1") == "nvfp4");
    CHECK(at(rules, "layers.0.attn.wq_a") == "fp8 128x128");
    CHECK(at(rules, "layers.0.ffn.shared_experts.w1") == "fp8 128x128");
    CHECK(at(rules, "mtp.0.ffn.experts.3.w1") == "mxfp4");
    CHECK(at(rules, "head") == "bf16");
}

TEST_CASE("gpt-oss: only experts, by globs", "[quantization][quirks]") {
    const QuantizationRules rules = read(R"({"quantization_config": {"quant_method": "mxfp4",
        "modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]}})");
    CHECK(at(rules, "model.layers.7.mlp.experts.gate_up_proj") == "mxfp4");
    CHECK(at(rules, "model.layers.7.self_attn.q_proj") == "bf16");
    CHECK(at(rules, "model.layers.7.mlp.router") == "bf16");
}

TEST_CASE("MLX: embeddings too, with modules of their own format or none", "[quantization][quirks]") {
    const QuantizationRules rules = read(R"({"quantization": {"bits": 4, "group_size": 32, "mode": "affine",
          "language_model.lm_head": {"bits": 8, "group_size": 64, "mode": "affine"},
          "language_model.model.layers.3.mlp.down_proj": {"bits": 8, "group_size": 64},
          "language_model.model.layers.3.mlp.gate": false},
        "quantization_config": {"bits": 4, "group_size": 32, "mode": "affine",
          "language_model.lm_head": {"bits": 8, "group_size": 64, "mode": "affine"},
          "language_model.model.layers.3.mlp.down_proj": {"bits": 8, "group_size": 64},
          "language_model.model.layers.3.mlp.gate": false}})");
    CHECK(at(rules, "model.embed_tokens") == "mlx 4-bit g32");
    CHECK(at(rules, "lm_head") == "mlx 8-bit g64");
    CHECK(at(rules, "model.layers.3.mlp.down_proj") == "mlx 8-bit g64");
    CHECK(at(rules, "model.layers.4.mlp.down_proj") == "mlx 4-bit g32");
    CHECK(at(rules, "model.layers.3.mlp.gate") == "bf16");
    CHECK(at(rules, "model.layers.4.input_layernorm") == "bf16");
    CHECK(rules.method() == "mlx");
}

TEST_CASE("Static scales, words, blocks, bitsandbytes: every producer's keys", "[quantization]") {
    CHECK(read(R"({"quantization_config": {"config_groups": {"group_0": {"input_activations": {"dynamic": false, "num_bits": 8, "type": "float"},
        "weights": {"dynamic": false, "num_bits": 8, "type": "float"}}}, "ignore": ["lm_head"], "quant_algo": "FP8", "kv_cache_scheme": "FP8"}})")
              .format_for("model.layers.0.mlp.up_proj")
              .static_activations);
    CHECK(read(R"({"quantization_config": {"quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0, "modules_to_not_convert": ["model.layers.0.mlp.up_proj"]}})").label() ==
          "fbgemm fp8");
    const QuantizationRules gptq = read(R"({"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": -1, "desc_act": false, "sym": true}})");
    CHECK(gptq.label() == "gptq int4");
    CHECK(gptq.format_for("model.layers.0.mlp.up_proj").act_order);
    CHECK(read(R"({"quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": true, "version": "gemm"}})").label() ==
          "awq int4 g128");
    CHECK(read(R"({"quantization_config": {"quant_method": "auto-round", "packing_format": "auto_round:auto_gptq", "bits": 4, "group_size": 64}})").label() ==
          "gptq int4 g64");
    const QuantizationRules nf4 = read(
        R"({"quantization_config": {"quant_method": "bitsandbytes", "_load_in_4bit": true, "load_in_4bit": true, "bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": true}})");
    CHECK(nf4.format_for("model.layers.0.mlp.up_proj").double_quantized);
    CHECK(at(nf4, "lm_head") == "bf16");
    CHECK(read(R"({"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": false, "load_in_8bit": true}})").label() == "bnb int8");
    // Scout FP8-dynamic: one bf16 scale a row
    const QuantizationRules channel = read(R"({"quantization_config": {"quant_method": "compressed-tensors", "format": "float-quantized", "config_groups": {"group_0":
        {"targets": ["Linear"], "input_activations": {"dynamic": true, "num_bits": 8, "strategy": "token", "type": "float"},
         "weights": {"num_bits": 8, "strategy": "channel", "type": "float", "group_size": null}}}}})");
    CHECK(channel.label() == "fp8 channel");
    CHECK(channel.format_for("model.layers.0.mlp.up_proj").scale == DType::bf16);
    CHECK_FALSE(channel.format_for("model.layers.0.mlp.up_proj").static_activations);
    CHECK(read(R"({"compression_config": {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"targets": ["Linear"],
        "weights": {"num_bits": 8, "strategy": "block", "type": "float", "block_structure": "64x128"}}}}})").label() == "fp8 64x128");
    CHECK(read(R"({"quantization_config": {"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4", "qscheme": "per_group", "group_size": 32}},
        "exclude": ["lm_head", "re:.*self_attn.*"]}})").label() == "mxfp4");
}

TEST_CASE("Groups with targets by name", "[quantization]") {
    const QuantizationRules rules = read(R"({"quantization_config": {"quant_method": "compressed-tensors", "config_groups": {
        "group_0": {"targets": ["re:.*self_attn.*"], "weights": {"num_bits": 8, "type": "float", "strategy": "tensor"}, "input_activations": {"dynamic": false, "num_bits": 8}},
        "group_1": {"targets": ["model.layers.0.mlp.up_proj"], "weights": {"num_bits": 4, "type": "float", "group_size": 16}}}, "ignore": ["re:.*o_proj$"]}})");
    CHECK(at(rules, "model.layers.0.self_attn.q_proj") == "fp8 tensor");
    CHECK(at(rules, "model.layers.0.self_attn.o_proj") == "bf16");
    CHECK(at(rules, "model.layers.0.mlp.up_proj") == "nvfp4");
    CHECK(at(rules, "model.layers.0.mlp.down_proj") == "bf16");
}

TEST_CASE("An unknown method is a warning that says how to go on", "[quantization]") {
    Diagnostics diagnostics;
    const auto document = json::parse(R"({"quantization_config": {"quant_method": "brand_new"}})", "config.json", diagnostics);
    const QuantizationRules rules = read_quantization(document->root(), {}, {}, diagnostics);
    REQUIRE(diagnostics.items().size() == 1);
    CHECK(diagnostics.items()[0].code == "quantization.unknown-method");
    CHECK(diagnostics.items()[0].found == "brand_new");
    CHECK_FALSE(diagnostics.has_errors());
    CHECK_FALSE(rules.quantizes());
}

TEST_CASE("Faults in a description are told", "[quantization]") {
    Diagnostics diagnostics;
    const auto document = json::parse(
        R"({"quantization_config": {"quant_method": "awq", "bits": 4.5, "group_size": "big", "modules_to_not_convert": [3, "re:(("]}})", "config.json", diagnostics);
    (void)read_quantization(document->root(), {}, {}, diagnostics);
    CHECK(diagnostics.items().size() == 4);
}

TEST_CASE("A variant by name leaves alone what its producers leave alone", "[quantization][override]") {
    const auto named = [](std::string_view name) {
        const auto rules = quantization_named(name, {});
        REQUIRE(rules);
        return *rules;
    };
    for (const char* name : {"fp8", "fp8_block128", "FP8-Block128"}) CHECK(named(name).label() == "fp8 128x128");
    CHECK(named("int4-g32").label() == "int4 g32");
    CHECK(named("int4_g128").label() == "int4 g128");
    CHECK(named("awq").label() == "awq int4 g128");
    CHECK(named("mlx4_g64").label() == "mlx 4-bit g64");
    CHECK(named("nf4").label() == "nf4");
    CHECK(named("bf16").label() == "bf16");
    CHECK_FALSE(named("bf16").quantizes());
    CHECK_FALSE(quantization_named("int5", {}));
    CHECK_FALSE(quantization_named("int4-g3", {}));
    CHECK_FALSE(quantization_named("fp8-g32", {}));
    CHECK_FALSE(quantization_named("", {}));

    const QuantizationRules fp8 = named("fp8");
    CHECK(at(fp8, "model.layers.0.linear_attn.in_proj_qkv") == "fp8 128x128");
    for (const char* path : {"lm_head", "model.embed_tokens", "model.layers.0.mlp.gate", "model.layers.0.mlp.shared_expert_gate",
                             "model.layers.0.linear_attn.in_proj_a", "mtp.fc", "model.visual.blocks.0.mlp.linear_fc1", "model.norm"})
        CHECK(at(fp8, path) == "bf16");
    const QuantizationRules mlx = named("mlx4-g64");
    for (const char* path : {"lm_head", "model.embed_tokens", "model.layers.0.mlp.gate", "model.layers.0.linear_attn.in_proj_a"})
        CHECK(at(mlx, path) == "mlx 4-bit g64");
    CHECK(at(mlx, "model.visual.blocks.0.mlp.linear_fc1") == "bf16");
    // Every name of the list can be read back
    for (const std::string& name : quantization_names()) CHECK(quantization_named(name, {}));
}

TEST_CASE("Draft layers are those behind the main ones", "[quantization][override]") {
    QuantizationOptions options;
    options.main_layers = 61;
    const auto rules = quantization_named("nvfp4", options);
    CHECK(at(*rules, "model.layers.60.mlp.experts.0.up_proj") == "nvfp4");
    CHECK(at(*rules, "model.layers.61.mlp.experts.0.up_proj") == "bf16");
    CHECK(at(*rules, "model.layers.60.self_attn.q_a_proj") == "bf16");
    options.extra_ignore = {"mtp", "self_attn"};
    const auto fp8 = quantization_named("fp8", options);
    CHECK(at(*fp8, "model.layers.61.mlp.experts.0.up_proj") == "bf16");
    CHECK(at(*fp8, "model.layers.60.self_attn.o_proj") == "bf16");
    CHECK(at(*fp8, "model.layers.60.mlp.experts.0.up_proj") == "fp8 128x128");
}

TEST_CASE("A map of 22,000 modules is looked up by hash", "[quantization][speed]") {
    std::string config = R"({"quantization_config": {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {)";
    for (int layer = 0; layer < 57; ++layer)
        for (int expert = 0; expert < 128; ++expert)
            for (const char* name : {"w1", "w2", "w3"})
                config += (layer + expert > 0 || std::string(name) != "w1" ? ",\"" : "\"") + std::string("language_model.model.layers.") + std::to_string(layer) +
                          ".block_sparse_moe.experts." + std::to_string(expert) + "." + name + R"(": {"quant_algo": "NVFP4", "group_size": 16})";
    const QuantizationRules rules = read(config + "}}}");
    int found = 0;
    for (int layer = 0; layer < 57; ++layer)
        for (int expert = 0; expert < 128; ++expert)
            found += at(rules, "model.layers." + std::to_string(layer) + ".block_sparse_moe.experts." + std::to_string(expert) + ".w2") == "nvfp4" ? 1 : 0;
    CHECK(found == 57 * 128);
}
