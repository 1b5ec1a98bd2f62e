// Gemma 1 to 3: tied embeddings; from 2 on norms before and after both halves of a layer.
#include "models/llm/families/dense_style.hpp"
#include "models/llm/keys.hpp"

namespace kvplan::families {
namespace {

// Class defaults of Gemma3TextConfig in Transformers; the first releases leave them out.
constexpr std::int64_t kGemma3Vocab = 262'208, kGemma3Context = 131'072;

DenseStyle sandwich() {
    DenseStyle style;
    style.norms = {"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",
                   "post_feedforward_layernorm"};
    style.windows = Windows::by_types;
    style.qkv_bias = style.o_bias = Bias::by_key;
    return style;
}

void gemma(Build& build) { dense_decoder(build, {}); }

void gemma2(Build& build) {
    DenseStyle style = sandwich();
    style.pattern = 2;
    dense_decoder(build, style);
}

void gemma3(Build& build) {
    DenseStyle style = sandwich();
    style.pattern = 6;
    style.qk_norm = QkNorm::per_head_dim;
    style.vocab_default = kGemma3Vocab;
    build.context_default = kGemma3Context;
    dense_decoder(build, style);
}

}  // namespace

std::vector<Family> gemma() {
    std::vector<Family> families;
    families.push_back({"gemma", {"gemma"}, {}, gemma, true});
    families.push_back({"gemma2", {"gemma2"}, {}, gemma2, true});
    families.push_back({"gemma3", {"gemma3_text", "gemma3"}, {}, gemma3, true});
    return families;
}

}  // namespace kvplan::families
