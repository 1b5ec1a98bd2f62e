// Families without a real checkpoint among our facts, against the public sources that families/*.cpp cite.
#include <string>

#include "tests/models/llm/reading.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;
using namespace kvplan::test;

namespace {

/// A config of these dimensions; `more` starts with a key or is empty.
std::string sized(const std::string& type, const std::string& dimensions, const std::string& more = {}) {
    return "{\"model_type\": \"" + type + "\", " + (more.empty() ? "" : more + ", ") + dimensions +
           ", \"torch_dtype\": \"bfloat16\"}";
}

const std::string kTiny =
    R"("num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128,
    "vocab_size": 100, "max_position_embeddings": 8192)";

std::int64_t total(const std::string& config) { return totals(model_of(config)).total_params; }

std::string windows(const LlmSpec& spec) {
    std::string letters;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(spec.layer_class.size()); ++i)
        letters += std::get<GroupedAttention>(spec.layer(i).attention).window ? 'L' : 'G';
    return letters;
}

}  // namespace

TEST_CASE("ERNIE 4.5's heads are 128 wide when the config is silent", "[model][cited]") {
    // 0.3B: q and o 2 x 2,048 x 1,024, k and v 2 x 256 x 1,024, MLP 3 x 3,072 x 1,024, norms 2,048: 14,157,824 a layer,
    // x 18 = 254,840,832; tied embedding 103,424 x 1,024 = 105,906,176; norm 1,024. Published: 0.36B.
    CHECK(total(sized("ernie4_5",
                      R"("num_hidden_layers": 18, "hidden_size": 1024, "intermediate_size": 3072,
        "num_attention_heads": 16, "num_key_value_heads": 2, "vocab_size": 103424)")) == 360'748'032);
}

TEST_CASE("OLMoE norms full widths and has biases only when the config says so", "[model][cited]") {
    // Attention 4 x 2,048^2, router 64 x 2,048, experts 64 x 3 x 1,024 x 2,048, norms 4 x 2,048: 16,777,216 + 131,072 +
    // 402,653,184 + 8,192 = 419,569,664 a layer, x 16 = 6,713,114,624; embedding and head 2 x 50,304 x 2,048 =
    // 206,045,184; norm 2,048. Published: 6.9B (arXiv 2409.02060).
    const std::string dimensions =
        R"("num_hidden_layers": 16, "hidden_size": 2048, "intermediate_size": 1024, "num_attention_heads": 16,
        "num_experts": 64, "num_experts_per_tok": 8, "vocab_size": 50304)";
    CHECK(total(sized("olmoe", dimensions)) == 6'919'161'856);
    CHECK(total(sized("olmoe", dimensions, R"("attention_bias": true)")) == 6'919'161'856 + 16 * 4 * 2'048);
}

TEST_CASE("GLM-4's projections of queries, keys and values have biases unless denied", "[model][cited]") {
    // 9B: q and o 2 x 4,096^2, k and v 2 x 256 x 4,096, biases 4,096 + 2 x 256, MLP 3 x 13,696 x 4,096, four norms
    // 16,384: 33,554,432 + 2,097,152 + 4,608 + 168,296,448 + 16,384 = 203,969,024 a layer, x 40 = 8,158,760,960;
    // embedding and head 2 x 151,552 x 4,096 = 1,241,513,984; norm 4,096.
    const std::string dimensions =
        R"("num_hidden_layers": 40, "hidden_size": 4096, "intermediate_size": 13696, "num_attention_heads": 32,
        "num_key_value_heads": 2, "vocab_size": 151552)";
    CHECK(total(sized("glm4", dimensions)) == 9'400'279'040);
    CHECK(total(sized("glm4", dimensions, R"("attention_bias": false)")) == 9'400'279'040 - 40 * 4'608);
    // The "glm" of before has two norms a layer.
    CHECK(total(sized("glm", dimensions)) == 9'400'279'040 - 40 * 8'192);
}

TEST_CASE("EXAONE 4's window pattern is a number, letters, or layer_types", "[model][cited]") {
    // 32B: q and o 2 x 5,120^2, k and v 2 x 1,024 x 5,120, MLP 3 x 27,392 x 5,120, norms 2 x 5,120 + 2 x 128:
    // 52,428,800 + 10,485,760 + 420,741,120 + 10,496 = 483,666,176 a layer, x 64 = 30,954,635,264; embedding and head
    // 2 x 102,400 x 5,120 = 1,048,576,000; norm 5,120. Published: 32B.
    const LlmSpec spec = model_of(
        sized("exaone4",
              R"("num_hidden_layers": 64, "hidden_size": 5120, "intermediate_size": 27392, "num_attention_heads": 40,
        "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 102400, "sliding_window": 4096)",
              R"("sliding_window_pattern": "LLLG")"));
    CHECK(totals(spec).total_params == 32'003'216'384);
    CHECK(windows(spec).substr(0, 8) == "LLLGLLLG");

    const auto read = [](const std::string& more) { return windows(model_of(sized("exaone4", kTiny, more))); };
    CHECK(read(R"("sliding_window": 16)") == "LLLG");
    CHECK(read(R"("sliding_window": 16, "sliding_window_pattern": 2)") == "LGLG");
    CHECK(read(R"("sliding_window": 16, "sliding_window_pattern": "GL")") == "GLGG");  // the last is always global
    CHECK(read(R"("sliding_window": null, "sliding_window_pattern": null)") == "GGGG");
    CHECK(read(R"("sliding_window": 16, "sliding_window_pattern": "LLLG", "layer_types": ["full_attention",
        "sliding_attention", "full_attention", "sliding_attention"])") == "GLGL");
}

TEST_CASE("Ministral's window is every layer's unless layer_types tells", "[model][cited]") {
    const std::string types =
        R"(, "layer_types": ["full_attention", "sliding_attention", "sliding_attention", "sliding_attention"])";
    for (const char* type : {"ministral", "ministral3"}) {
        CHECK(windows(model_of(sized(type, kTiny, R"("sliding_window": 16)"))) == "LLLL");
        CHECK(windows(model_of(sized(type, kTiny, R"("sliding_window": null)"))) == "GGGG");
        CHECK(windows(model_of(sized(type, kTiny, R"("sliding_window": 16)" + types))) == "GLLL");
    }
    // 3's heads are 128 wide in a silent config, the older one's hidden / heads.
    CHECK(matrix(model_of(sized("ministral3", kTiny)).layer(0), "self_attn.q_proj").rows == 4 * 128);
    CHECK(matrix(model_of(sized("ministral", kTiny)).layer(0), "self_attn.q_proj").rows == 64);
}

TEST_CASE("EAGLE drafters have the sizes their authors publish", "[model][cited][draft]") {
    const auto own = [](const std::string& dimensions) {
        const LlmSpec spec = model_of(sized("llama", dimensions, R"("architectures": ["LlamaForCausalLMEagle"])"));
        return totals(spec).total_params - parameters(outside(spec, "model.embed_tokens"));
    };
    // Of Vicuna 7B: 4 x 4,096^2 + 3 x 11,008 x 4,096 + one norm 4,096 + fc 8,192 x 4,096 + 4,096 = 0.24B.
    CHECK(own(R"("num_hidden_layers": 1, "hidden_size": 4096, "intermediate_size": 11008, "num_attention_heads": 32,
        "vocab_size": 32000)") == 235'937'792);
    // Of LLaMA2-Chat 70B: 2 x 8,192^2 + 2 x 1,024 x 8,192 + 3 x 28,672 x 8,192 + 8,192 + 16,384 x 8,192 + 8,192 =
    // 0.99B.
    CHECK(own(R"("num_hidden_layers": 1, "hidden_size": 8192, "intermediate_size": 28672, "num_attention_heads": 64,
        "num_key_value_heads": 8, "vocab_size": 32000)") == 989'872'128);
    // Of a Qwen2: biases of 64 + 2 x 32 in each of the 4 layers.
    const std::string eagle = R"("architectures": ["LlamaForCausalLMEagle"])";
    CHECK(total(sized("llama", kTiny, eagle + R"(, "qkv_bias": true)")) - total(sized("llama", kTiny, eagle)) ==
          4 * 128);
}

TEST_CASE("P-EAGLE has a head and maps of its vocabulary even when that is the target's", "[model][cited][draft]") {
    const LlmSpec spec = model_of(sized("llama", kTiny, R"("architectures": ["PEagleDraftModel"])"));
    CHECK(outside(spec, "lm_head").rows == 100);
    CHECK(outside(spec, "lm_head").stored);
    CHECK(outside(spec, "d2t").rows == 100);
    const LlmSpec eagle3 =
        model_of(sized("llama", kTiny, R"("architectures": ["LlamaForCausalLMEagle3"], "draft_vocab_size": 100)"));
    CHECK(outside(eagle3, "d2t").rows == 100);
    CHECK(outside(eagle3, "t2d").rows == 100);
}

TEST_CASE("Block drafters read as many layers as they have when no list names them", "[model][cited][draft]") {
    const LlmSpec spec =
        model_of(sized("qwen3", kTiny, R"("architectures": ["DFlashDraftModel"], "num_target_layers": 36)"));
    CHECK(outside(spec, "fc").cols == 4 * 64);
    const Reading latent = read_config(sized(
        "qwen3", kTiny,
        R"("architectures": ["DFlashDraftModel"], "dflash_config": {"target_layer_ids": [1], "attention_mode": "mla"})"));
    CHECK(latent.has("value.unknown"));
}

TEST_CASE("DSpark's heads are told in dflash_config or beside it", "[model][cited][draft]") {
    const std::string heads = R"("markov_rank": 8, "enable_confidence_head": true)";
    const std::string class_of = R"("architectures": ["DSparkDraftModel"], )";
    const LlmSpec inside =
        model_of(sized("qwen3", kTiny, class_of + R"("dflash_config": {"target_layer_ids": [1, 2], )" + heads + "}"));
    const LlmSpec beside =
        model_of(sized("qwen3", kTiny, class_of + R"("dflash_config": {"target_layer_ids": [1, 2]}, )" + heads));
    CHECK(inside.outside == beside.outside);
    // The confidence head sees the state and, unless told otherwise, the 8 of the Markov head.
    CHECK(outside(inside, "confidence_head.proj").cols == 64 + 8);
}
