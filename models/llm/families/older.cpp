// Decoders of the years before one layout won: layer norms with biases, MLPs without a gate, fused projections.
#include "models/llm/families/dense_style.hpp"
#include "models/llm/keys.hpp"

namespace kvplan::families {
namespace {

/// Qwen 1: intermediate_size counts both halves of the gated MLP.
void qwen1(Build& build) {
    DenseStyle style;
    style.layer_prefix = "transformer.h";
    style.norms = {"ln_1", "ln_2"};
    style.attention.prefix = "attn.";
    style.attention.fused = "c_attn";
    style.attention.o = "c_proj";
    style.qkv_bias = Bias::always;
    style.ffn.gate = "w2";
    style.ffn.up = "w1";
    style.ffn.down = "c_proj";
    style.ffn_width_divisor = 2;
    style.outside.embedding = "transformer.wte";
    style.outside.norm = "transformer.ln_f";
    dense_decoder(build, style);
}

/// Phi 1 to 2: attention and MLP side by side behind one norm, a bias everywhere, also on the head.
void phi(Build& build) {
    DenseStyle style;
    style.norms = {"input_layernorm"};
    style.norm_bias = true;
    style.attention.o = "dense";
    style.qkv_bias = style.o_bias = style.ffn_bias = Bias::always;
    style.gated = false;
    style.ffn.up = "fc1";
    style.ffn.down = "fc2";
    style.outside.norm = "model.final_layernorm";
    style.outside.norm_bias = true;
    style.outside.head_bias = true;
    dense_decoder(build, style);
}

void starcoder2(Build& build) {
    DenseStyle style;
    style.norm_bias = true;
    if (build.facts.flag({"use_bias"}, true)) style.qkv_bias = style.o_bias = style.ffn_bias = Bias::always;
    style.gated = false;
    style.ffn.up = "c_fc";
    style.ffn.down = "c_proj";
    style.windows = Windows::all;
    style.outside.norm_bias = true;
    dense_decoder(build, style);
}

/// Phi-3-small: a fused qkv, a doubled up projection, biases, tied embeddings; block-sparse attention keeps all KV.
void phi3small(Build& build) {
    DenseStyle style;
    style.norm_bias = true;
    style.attention.fused = "query_key_value";
    style.attention.o = "dense";
    style.qkv_bias = style.o_bias = style.ffn_bias = Bias::always;
    style.ffn.fused = "up_proj";
    style.outside.embedding = "model.embed_tokens";
    style.outside.norm = "model.final_layernorm";
    style.outside.norm_bias = true;
    dense_decoder(build, style);
}

/// GPT-J: one norm, no bias in attention, one in the MLP and on the head. n_inner null means 4 x hidden.
void gptj(Build& build) {
    DenseStyle style;
    style.layer_prefix = "transformer.h";
    style.norms = {"ln_1"};
    style.norm_bias = true;
    style.attention.prefix = "attn.";
    style.attention.o = "out_proj";
    style.gated = false;
    style.ffn.up = "fc_in";
    style.ffn.down = "fc_out";
    style.ffn_bias = Bias::always;
    style.ffn_default_multiple = 4;
    style.outside.embedding = "transformer.wte";
    style.outside.norm = "transformer.ln_f";
    style.outside.norm_bias = true;
    style.outside.head_bias = true;
    dense_decoder(build, style);
}

/// GPT-BigCode: learned positions, one KV head with multi_query.
void gpt_bigcode(Build& build) {
    DenseStyle style;
    style.layer_prefix = "transformer.h";
    style.norms = {"ln_1", "ln_2"};
    style.norm_bias = true;
    style.attention.prefix = "attn.";
    style.attention.fused = "c_attn";
    style.attention.o = "c_proj";
    style.qkv_bias = style.o_bias = style.ffn_bias = Bias::always;
    style.gated = false;
    style.ffn.up = "c_fc";
    style.ffn.down = "c_proj";
    style.ffn_default_multiple = 4;
    if (build.facts.flag({"multi_query"}, true)) style.kv_heads_default = 1;
    style.outside.embedding = "transformer.wte";
    style.outside.norm = "transformer.ln_f";
    style.outside.norm_bias = true;
    dense_decoder(build, style);
    const std::int64_t positions = build.facts.required({"context", "n_positions"});
    Module table = vector_of("transformer.wpe", Component::embedding, positions);
    table.weight.cols = build.facts.required(keys::kHidden);
    build.blueprint.outside.push_back(std::move(table));
}

/// Falcon: two norms with new_decoder_architecture, else one; the MLP is 4 x hidden wide when nothing says otherwise.
void falcon(Build& build) {
    DenseStyle style;
    const bool newer = build.facts.flag({"new_decoder_architecture"}, false);
    style.layer_prefix = "transformer.h";
    style.norms =
        newer ? std::vector<std::string_view>{"ln_attn", "ln_mlp"} : std::vector<std::string_view>{"input_layernorm"};
    if (!newer && !build.facts.flag({"parallel_attn"}, true)) style.norms.push_back("post_attention_layernorm");
    style.norm_bias = true;
    style.attention.prefix = "self_attention.";
    style.attention.fused = "query_key_value";
    style.attention.o = "dense";
    if (build.facts.flag({"bias"}, false)) style.qkv_bias = style.o_bias = style.ffn_bias = Bias::always;
    style.gated = false;
    style.ffn.up = "dense_h_to_4h";
    style.ffn.down = "dense_4h_to_h";
    style.ffn_default_multiple = 4;
    if (!newer && build.facts.flag({"multi_query"}, true)) style.kv_heads_default = 1;
    style.outside.embedding = "transformer.word_embeddings";
    style.outside.norm = "transformer.ln_f";
    style.outside.norm_bias = true;
    dense_decoder(build, style);
}

}  // namespace

std::vector<Family> older() {
    std::vector<Family> families;
    families.push_back({"qwen", {"qwen"}, {"QWenLMHeadModel"}, qwen1});
    families.push_back({"phi", {"phi"}, {}, phi});
    families.push_back({"phi3small", {"phi3small"}, {}, phi3small, true});
    families.push_back({"starcoder2", {"starcoder2"}, {}, starcoder2, true});
    families.push_back({"gptj", {"gptj"}, {}, gptj});
    families.push_back({"gpt_bigcode", {"gpt_bigcode"}, {}, gpt_bigcode, true});
    families.push_back({"falcon", {"falcon"}, {}, falcon, true});
    return families;
}

}  // namespace kvplan::families
