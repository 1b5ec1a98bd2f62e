// Llama and what is built like it: pre-norms, rotary attention, a gated MLP.
#include "models/llm/families/dense_style.hpp"
#include "models/llm/keys.hpp"

namespace kvplan::families {
namespace {

void llama(Build& build) {
    DenseStyle style;
    style.qkv_bias = style.o_bias = Bias::by_key;
    style.ffn_bias = Bias::by_key;
    dense_decoder(build, style);
}

void mistral(Build& build) {
    DenseStyle style;
    style.windows = Windows::all;
    dense_decoder(build, style);
}

/// Ministral: a window in the layers that layer_types names, in all of them without that list.
void ministral(Build& build) {
    DenseStyle style;
    style.windows = build.facts.has(keys::kLayerTypes) ? Windows::by_types : Windows::all;
    if (build.model_type == "ministral3") style.head_dim_default = 128;
    dense_decoder(build, style);
}

/// Fused qkv and gate_up; the window of the short-context minis is on without a flag.
void phi3(Build& build) {
    DenseStyle style;
    style.attention.fused = "qkv_proj";
    style.ffn.fused = "gate_up_proj";
    style.windows = Windows::all;
    dense_decoder(build, style);
}

void internlm2(Build& build) {
    DenseStyle style;
    style.attention.prefix = "attention.";
    style.attention.fused = "wqkv";
    style.attention.o = "wo";
    style.ffn.prefix = "feed_forward.";
    style.ffn.gate = "w1";
    style.ffn.up = "w3";
    style.ffn.down = "w2";
    style.norms = {"attention_norm", "ffn_norm"};
    if (build.facts.flag({"bias"}, false)) style.qkv_bias = style.o_bias = Bias::always;
    style.outside.embedding = "model.tok_embeddings";
    style.outside.head = "output";
    dense_decoder(build, style);
}

/// InternLM 1 tells both biases by "bias"; 3 has qkv_bias apart from it.
void internlm3(Build& build) {
    DenseStyle style;
    style.qkv_bias = build.facts.flag({"qkv_bias"}, build.facts.flag({"bias"}, false)) ? Bias::always : Bias::never;
    style.o_bias = style.ffn_bias = build.facts.flag({"bias"}, false) ? Bias::always : Bias::never;
    dense_decoder(build, style);
}

void baichuan(Build& build) {
    DenseStyle style;
    style.attention.fused = "W_pack";
    dense_decoder(build, style);
}

/// Norms after attention and MLP, none before; query and key norms over the full width.
void olmo2(Build& build) {
    DenseStyle style;
    style.norms = {"post_attention_layernorm", "post_feedforward_layernorm"};
    style.qk_norm = QkNorm::full_width;
    style.windows = Windows::by_types;
    style.qkv_bias = style.o_bias = Bias::by_key;
    dense_decoder(build, style);
}

void exaone(Build& build) {
    DenseStyle style;
    style.layer_prefix = "transformer.h";
    style.attention.prefix = "attn.attention.";
    style.attention.o = "out_proj";
    style.ffn.gate = "c_fc_0";
    style.ffn.up = "c_fc_1";
    style.ffn.down = "c_proj";
    style.norms = {"ln_1", "ln_2"};
    style.outside.embedding = "transformer.wte";
    style.outside.norm = "transformer.ln_f";
    dense_decoder(build, style);
}

/// EXAONE 4: norms after both halves, query and key norms a head, windows by layer_types.
void exaone4(Build& build) {
    DenseStyle style;
    style.norms = {"post_attention_layernorm", "post_feedforward_layernorm"};
    style.qk_norm = QkNorm::per_head_dim;
    style.windows = Windows::by_types;
    style.pattern = 4;
    dense_decoder(build, style);
}

/// One norm a layer before attention and MLP side by side; Command-R+ norms queries and keys of every head apart.
void cohere(Build& build) {
    DenseStyle style;
    style.norms = {"input_layernorm"};
    style.qkv_bias = style.o_bias = Bias::by_key;
    if (build.facts.flag({"use_qk_norm"}, false)) style.qk_norm = QkNorm::full_width;
    style.windows = Windows::by_types;
    style.pattern = 4;
    dense_decoder(build, style);
}

/// GLM-4-0414: norms before and after both halves, a fused gate and up; qkv has biases unless the config denies them.
void glm4(Build& build) {
    DenseStyle style;
    style.norms = {"input_layernorm", "post_attention_layernorm"};
    if (build.model_type == "glm4") {
        style.norms.push_back("post_self_attn_layernorm");
        style.norms.push_back("post_mlp_layernorm");
    }
    style.ffn.fused = "gate_up_proj";
    style.head_dim_default = 128;
    if (build.facts.flag(keys::kAttentionBias, true)) style.qkv_bias = Bias::always;
    dense_decoder(build, style);
}

/// Query and key norms a head dim, biases as a key tells: dense Hunyuan ("query_layernorm"), SmolLM3 without them.
void hunyuan_dense(Build& build) {
    DenseStyle style;
    style.qkv_bias = style.o_bias = Bias::by_key;
    if (build.facts.flag({"use_qk_norm"}, true)) style.qk_norm = QkNorm::per_head_dim;
    style.attention.q_norm = "query_layernorm";
    style.attention.k_norm = "key_layernorm";
    dense_decoder(build, style);
}

void ernie45(Build& build) {
    DenseStyle style;
    style.head_dim_default = 128;
    if (build.facts.flag({"use_bias"}, false)) style.qkv_bias = style.o_bias = style.ffn_bias = Bias::always;
    dense_decoder(build, style);
}

}  // namespace

std::vector<Family> llama_like() {
    std::vector<Family> families;
    families.push_back(
        {"llama",
         {"llama", "Yi", "yi", "xverse", "smollm3", "granite", "codellama", "deepseek_llama", "seed_oss", "aquila"},
         {},
         llama});
    families.push_back({"mistral", {"mistral"}, {}, mistral});
    families.push_back(
        {"ministral3",
         {"ministral3", "ministral"},
         {},
         ministral,
         false,
         false,
         "huggingface/transformers src/transformers/models/ministral3/modeling_ministral3.py at 00b364c7, "
         "models/ministral3/configuration_ministral3.py at 008e5743 and "
         "models/ministral/configuration_ministral.py at 052b1dcd"});
    families.push_back({"phi3", {"phi3", "phi4mm"}, {}, phi3});
    families.push_back({"internlm2", {"internlm2"}, {}, internlm2});
    families.push_back({"internlm3",
                        {"internlm3", "internlm"},
                        {},
                        internlm3,
                        false,
                        false,
                        "InternLM/lmdeploy lmdeploy/pytorch/models/internlm3.py at 02538214"});
    families.push_back({"baichuan", {"baichuan"}, {}, baichuan});
    families.push_back({"olmo2", {"olmo2", "olmo3"}, {}, olmo2});
    families.push_back({"exaone", {"exaone"}, {}, exaone});
    families.push_back({"exaone4",
                        {"exaone4"},
                        {},
                        exaone4,
                        false,
                        false,
                        "huggingface/transformers src/transformers/models/exaone4/modeling_exaone4.py at 0205eec1 and "
                        "configuration_exaone4.py at 008e5743"});
    families.push_back({"cohere", {"cohere", "cohere2"}, {}, cohere, true});
    families.push_back({"glm4",
                        {"glm4", "glm"},
                        {},
                        glm4,
                        false,
                        false,
                        "huggingface/transformers src/transformers/models/glm4/modeling_glm4.py at 00d01786 and "
                        "models/{glm,glm4}/configuration_{glm,glm4}.py at 008e5743"});
    families.push_back({"hunyuan_dense",
                        {"hunyuan_v1_dense"},
                        {},
                        hunyuan_dense,
                        false,
                        false,
                        "huggingface/transformers src/transformers/models/hunyuan_v1_dense/modular_hunyuan_v1_dense.py "
                        "at 0233e509 and "
                        "configuration_hunyuan_v1_dense.py at 05cd1ec1"});
    families.push_back(
        {"ernie4_5",
         {"ernie4_5"},
         {},
         ernie45,
         true,
         false,
         "huggingface/transformers src/transformers/models/ernie4_5/configuration_ernie4_5.py at 008e5743 and "
         "modular_ernie4_5.py at 016bc8ef"});
    return families;
}

}  // namespace kvplan::families
