#include "tests/support/specs.hpp"

namespace kvplan::testing {
namespace {

LlmSpec named(std::string name, std::string architecture, std::int64_t hidden, std::int64_t vocab, std::int64_t context) {
    LlmSpec spec;
    spec.name = std::move(name);
    spec.architecture = std::move(architecture);
    spec.hidden_size = hidden;
    spec.vocab_size = vocab;
    spec.max_position_embeddings = context;
    return spec;
}

int add_class(LlmSpec& spec, std::string name, Attention attention, Ffn ffn = NoFfn{}) {
    LayerClass layer;
    layer.name = std::move(name);
    layer.attention = std::move(attention);
    layer.ffn = ffn;
    spec.classes.push_back(std::move(layer));
    return static_cast<int>(spec.classes.size()) - 1;
}

void repeat(LlmSpec& spec, int layer_class, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) spec.layer_class.push_back(layer_class);
}

GroupedAttention grouped(std::int64_t query, std::int64_t kv, std::int64_t dim) {
    GroupedAttention a;
    a.query_heads = query;
    a.kv_heads = kv;
    a.head_dim = a.v_head_dim = dim;
    return a;
}

LatentAttention latent(std::int64_t heads) {
    LatentAttention a;
    a.heads = heads;
    a.q_lora_rank = 1536;
    a.kv_lora_rank = 512;
    a.qk_nope_head_dim = 128;
    a.qk_rope_head_dim = 64;
    a.v_head_dim = 128;
    return a;
}

MoeFfn experts(std::int64_t count, std::int64_t top_k, std::int64_t intermediate, std::int64_t width) {
    MoeFfn ffn;
    ffn.experts = count;
    ffn.top_k = top_k;
    ffn.intermediate = intermediate;
    ffn.width = width;
    return ffn;
}

LlmSpec deepseek(std::string name, bool indexer) {
    LlmSpec spec = named(std::move(name), indexer ? "DeepseekV32ForCausalLM" : "DeepseekV3ForCausalLM", 7168, 129280, 163840);
    LatentAttention a = latent(128);
    if (indexer) a.indexer = SparseIndexer{64, 128, 2048, true};
    DenseFfn dense;
    dense.intermediate = 18432;
    repeat(spec, add_class(spec, "dense", a, dense), 3);
    repeat(spec, add_class(spec, "moe", a, experts(256, 8, 2048, 7168)), 58);
    DraftLayers draft;
    draft.layers = 1;
    draft.layer.attention = a;
    spec.draft = draft;
    return spec;
}

}  // namespace

LlmSpec grouped_model(std::int64_t layers, std::int64_t query_heads, std::int64_t kv_heads, std::int64_t head_dim) {
    LlmSpec spec = named("grouped", "TestForCausalLM", query_heads * head_dim, 128256, 131072);
    repeat(spec, add_class(spec, "layer", grouped(query_heads, kv_heads, head_dim)), layers);
    return spec;
}

LlmSpec kimi_k2() {
    LlmSpec spec = named("kimi-k2", "DeepseekV3ForCausalLM", 7168, 163840, 262144);
    DenseFfn dense;
    dense.intermediate = 18432;
    repeat(spec, add_class(spec, "dense", latent(64), dense), 1);
    repeat(spec, add_class(spec, "moe", latent(64), experts(384, 8, 2048, 7168)), 60);
    return spec;
}

LlmSpec deepseek_v3() { return deepseek("deepseek-v3", false); }
LlmSpec deepseek_v32() { return deepseek("deepseek-v3.2", true); }

LlmSpec glm_5() {
    LlmSpec spec = named("glm-5", "GlmMoeDsaForCausalLM", 6144, 154880, 202752);
    LatentAttention a = latent(64);
    a.indexer = SparseIndexer{32, 128, 2048, true};
    repeat(spec, add_class(spec, "moe", a, experts(256, 8, 2048, 6144)), 78);
    DraftLayers draft;
    draft.layers = 1;
    draft.layer.attention = a;
    spec.draft = draft;
    return spec;
}

LlmSpec glm_52() {
    LlmSpec spec = glm_5();
    spec.name = "glm-5.2";
    LatentAttention reuses = latent(64);
    reuses.indexer = SparseIndexer{32, 128, 2048, false};
    spec.layer_class.clear();
    const int shared = add_class(spec, "moe_shared_index", reuses, experts(256, 8, 2048, 6144));
    repeat(spec, 0, 21);
    repeat(spec, shared, 57);
    return spec;
}

LlmSpec llama_70b() {
    LlmSpec spec = named("llama-3-70b", "LlamaForCausalLM", 8192, 128256, 131072);
    DenseFfn dense;
    dense.intermediate = 28672;
    repeat(spec, add_class(spec, "layer", grouped(64, 8, 128), dense), 80);
    return spec;
}

LlmSpec qwen3_235b() {
    LlmSpec spec = named("qwen3-235b-a22b", "Qwen3MoeForCausalLM", 4096, 151936, 40960);
    repeat(spec, add_class(spec, "moe", grouped(64, 4, 128), experts(128, 8, 1536, 4096)), 94);
    return spec;
}

LlmSpec gpt_oss_120b() {
    LlmSpec spec = named("gpt-oss-120b", "GptOssForCausalLM", 2880, 201088, 131072);
    GroupedAttention window = grouped(64, 8, 64);
    window.window = 128;
    const int sliding = add_class(spec, "sliding", window, experts(128, 4, 2880, 2880));
    const int full = add_class(spec, "full", grouped(64, 8, 64), experts(128, 4, 2880, 2880));
    for (int i = 0; i < 18; ++i) spec.layer_class.insert(spec.layer_class.end(), {sliding, full});
    return spec;
}

LlmSpec qwen3_next() {
    LlmSpec spec = named("qwen3-next-80b-a3b", "Qwen3NextForCausalLM", 2048, 151936, 262144);
    LinearAttention linear;
    linear.kind = LinearAttention::Kind::gated_delta_net;
    linear.heads = 32;
    linear.head_dim = 128;
    linear.groups = 16;
    linear.state_size = 128;
    linear.conv_kernel = 4;
    linear.conv_channels = 32 * 128 + 2 * 16 * 128;
    const int delta = add_class(spec, "linear", linear, experts(512, 10, 512, 2048));
    const int full = add_class(spec, "full", grouped(16, 2, 256), experts(512, 10, 512, 2048));
    for (int i = 0; i < 12; ++i) spec.layer_class.insert(spec.layer_class.end(), {delta, delta, delta, full});
    return spec;
}

LlmSpec qwen35_9b() {
    LlmSpec spec = named("qwen3.5-9b", "Qwen3_5ForConditionalGeneration", 4096, 248320, 262144);
    LinearAttention linear = std::get<LinearAttention>(qwen3_next().classes[0].attention);
    const int delta = add_class(spec, "linear", linear);
    const int full = add_class(spec, "full", grouped(16, 4, 256));
    for (int i = 0; i < 8; ++i) spec.layer_class.insert(spec.layer_class.end(), {delta, delta, delta, full});
    return spec;
}

LlmSpec gemma4_12b() {
    LlmSpec spec = named("gemma-4-12b", "Gemma4ForConditionalGeneration", 3840, 262144, 262144);
    GroupedAttention window = grouped(16, 8, 256);
    window.window = 1024;
    const int sliding = add_class(spec, "sliding", window);
    const int full = add_class(spec, "full", grouped(16, 1, 512));
    for (int i = 0; i < 8; ++i) spec.layer_class.insert(spec.layer_class.end(), {sliding, sliding, sliding, sliding, sliding, full});
    return spec;
}

namespace {

CompressedAttention compressed(std::int64_t heads, std::int64_t ratio) {
    CompressedAttention a;
    a.heads = heads;
    a.head_dim = 512;
    a.rope_head_dim = 64;
    a.window = 128;
    a.ratio = ratio;
    a.index_heads = 64;
    a.index_head_dim = 128;
    a.index_top_k = 512;
    return a;
}

LlmSpec deepseek_v4(std::string name, std::int64_t hidden, std::int64_t heads, std::int64_t plain, std::int64_t by4, std::int64_t by128) {
    LlmSpec spec = named(std::move(name), "DeepseekV4ForCausalLM", hidden, 129280, 1048576);
    repeat(spec, add_class(spec, "window", compressed(heads, 0)), plain);
    repeat(spec, add_class(spec, "by4", compressed(heads, 4)), by4);
    repeat(spec, add_class(spec, "by128", compressed(heads, 128)), by128);
    DraftLayers draft;
    draft.layers = 1;
    draft.layer.attention = compressed(heads, 0);
    spec.draft = draft;
    return spec;
}

}  // namespace

LlmSpec deepseek_v4_flash() { return deepseek_v4("deepseek-v4-flash", 4096, 64, 2, 21, 20); }
LlmSpec deepseek_v4_pro() { return deepseek_v4("deepseek-v4-pro", 7168, 128, 0, 30, 31); }

}  // namespace kvplan::testing
