// What a description says of itself, and what is said of a faulty one.
#include "models/llm/hf_config.hpp"

#include <set>
#include <string>

#include "models/llm/families/registry.hpp"
#include "tests/models/llm/reading.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;
using namespace kvplan::test;

TEST_CASE("A Llama's parameters are those of its matrices and norms", "[model]") {
    // A layer: q 64x64, k and v 32x64, o 64x64, three MLP matrices 128x64, two norms of 64:
    // 4096 + 2 x 2048 + 4096 + 3 x 8192 + 128 = 36,992. Two of them, embedding and head 100x64 each, a norm:
    // 73,984 + 12,800 + 64 = 86,848. A token multiplies with all but embedding and norms: 2 x 36,864 + 6,400 = 80,128.
    const LlmSpec spec = model_of(tiny_llama());
    const ModelTotals sums = totals(spec);
    CHECK(sums.total_params == 86'848);
    CHECK(sums.stored_elements == 86'848);
    CHECK(sums.checkpoint_bytes.count() == 2 * 86'848);
    CHECK(sums.active_params == 80'128);
    CHECK(sums.tensors == 2 * 9 + 3);
    CHECK(spec.layers() == 2);
    CHECK(spec.classes.size() == 1);
    const auto& attention = std::get<GroupedAttention>(spec.layer(0).attention);
    CHECK(attention.head_dim == 16);
    CHECK(attention.kv_heads == 2);
    CHECK_FALSE(attention.window);
}

TEST_CASE("A tied head is neither stored nor a second copy on the GPU, unless the checkpoint stores it",
          "[model][quirks]") {
    const LlmSpec tied = model_of(tiny_llama(R"("tie_word_embeddings": true)"));
    CHECK(totals(tied).total_params == 86'848 - 6'400);
    CHECK_FALSE(outside(tied, "lm_head").resident);
    CHECK(totals(tied).matmul_params == 80'128);  // the head is multiplied with all the same

    ReadOptions stored;
    stored.stored_lm_head = true;
    const LlmSpec kept = model_of(tiny_llama(R"("tie_word_embeddings": true)"), stored);
    CHECK(totals(kept).total_params == 86'848);
    CHECK_FALSE(outside(kept, "lm_head").resident);
}

TEST_CASE("Layer count, hidden size, heads and vocabulary have no default, and all that is missing is told at once",
          "[model][errors]") {
    const Reading reading = read_config(R"({"model_type": "llama"})");
    CHECK_FALSE(reading.spec);
    for (const char* key :
         {"num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size", "intermediate_size"})
        CHECK(reading.has("value.missing", key));
}

TEST_CASE("Zero, negative, fractional and wrong-typed dimensions are faults, each with its place", "[model][errors]") {
    const Reading reading =
        read_config(R"({"model_type": "llama", "num_hidden_layers": 0, "hidden_size": -64, "num_attention_heads": 4.5,
        "num_key_value_heads": true, "intermediate_size": "128", "vocab_size": 100})");
    CHECK_FALSE(reading.spec);
    CHECK(reading.has("value.range", "/num_hidden_layers"));
    CHECK(reading.has("value.range", "/hidden_size"));
    CHECK(reading.has("value.type", "/num_attention_heads"));
    CHECK(reading.has("value.type", "/num_key_value_heads"));
    CHECK(reading.has("value.type", "/intermediate_size"));
    CHECK(reading.diagnostics.error_count() == 5);
}

TEST_CASE("Dimensions no model has are refused before they cost time or leave 64 bits", "[model][errors]") {
    CHECK(read_config(tiny_llama(R"("layers": 1000000)")).has("value.range"));
    const std::string huge =
        R"({"model_type": "llama", "num_hidden_layers": 9000, "hidden_size": 1000000000, "num_attention_heads": 1000000000,
        "head_dim": 1000000000, "intermediate_size": 1000000000, "vocab_size": 1000000000})";
    const Reading reading = read_config(huge);
    CHECK_FALSE(reading.spec);
    CHECK(reading.has("model.too-large"));
}

TEST_CASE("An unknown model type names the nearest families and how to go on", "[model][errors]") {
    const std::string config =
        R"({"model_type": "qwen3_mo", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
        "intermediate_size": 128, "vocab_size": 100})";
    const Reading reading = read_config(config);
    CHECK_FALSE(reading.spec);
    CHECK(reading.has("model.unknown-type", "qwen3_moe"));
    CHECK(reading.has("model.unknown-type", "--assume-family"));

    ReadOptions assumed;
    assumed.assume_family = "qwen3";
    const LlmSpec spec = model_of(config, assumed);
    CHECK(spec.family == "qwen3");
    CHECK_FALSE(spec.verified);
    CHECK(has_matrix(spec.layer(0), "self_attn.q_norm"));

    assumed.assume_family = "qwen33";
    CHECK(read_config(config, assumed).has("model.unknown-family", "qwen3"));
}

TEST_CASE("No model type at all is told with what is there instead", "[model][errors]") {
    const Reading reading = read_config(R"({"architectures": ["SomethingElseForCausalLM"], "hidden_size": 64})");
    CHECK(reading.has("model.unknown-type", "SomethingElseForCausalLM"));
    CHECK(read_config("[1, 2]").has("value.type"));
}

TEST_CASE("An unknown storage format names the nearest", "[model][errors]") {
    ReadOptions options;
    options.quantization = "fp8_chanel";
    CHECK(read_config(tiny_llama(), options).has("model.unknown-quantization", "fp8_channel"));
}

TEST_CASE("The type of what is not quantized is stated, or bf16 by an assumption that is told", "[model][quirks]") {
    CHECK(
        model_of(
            R"({"dtype": "float16", "model_type": "llama", "num_hidden_layers": 1, "hidden_size": 8, "num_attention_heads": 1,
        "intermediate_size": 8, "vocab_size": 8})")
            .dtype == DType::f16);
    const LlmSpec silent =
        model_of(R"({"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 8, "num_attention_heads": 1,
        "intermediate_size": 8, "vocab_size": 8})");
    CHECK(silent.dtype == DType::bf16);
    CHECK(silent.assumptions.size() == 1);
    ReadOptions options;  // Reflection-Llama says bf16 and is stored in f32
    options.base_dtype = DType::f32;
    CHECK(totals(model_of(tiny_llama(), options)).checkpoint_bytes.count() == 4 * 86'848);
}

TEST_CASE("Facts tell where they come from, and keys that nobody reads are listed", "[model]") {
    const LlmSpec spec = model_of(
        R"({"model_type": "gemma3", "rope_theta": 1, "text_config": {"model_type": "gemma3_text", "num_hidden_layers": 2,
        "hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 128, "query_pre_attn_scalar": 168}})");
    bool found = false;
    for (const Provenance& fact : spec.provenance)
        if (fact.fact == "layers")
            found = fact.source.find("/text_config/num_hidden_layers") != std::string::npos && fact.value == "2";
    CHECK(found);
    const std::set<std::string> ignored(spec.ignored_keys.begin(), spec.ignored_keys.end());
    CHECK(ignored.count("rope_theta") == 1);
    CHECK(ignored.count("text_config.query_pre_attn_scalar") == 1);
    CHECK(ignored.count("text_config.hidden_size") == 0);
}

TEST_CASE("Our own records are read by the same rules, in our own words", "[model]") {
    const LlmSpec record =
        model_of(R"({"family": "llama", "layers": 2, "hidden": 64, "heads": 4, "kv_heads": 2, "ffn": 128, "vocab": 100,
        "weights_dtype": "bfloat16"})");
    CHECK(totals(record).total_params == 86'848);
}

TEST_CASE("Facts given by the user go before those of the file", "[model]") {
    ReadOptions options;
    options.facts["intermediate_size"] = 256;  // Qwen2.5-72B's repacks pad this way
    CHECK(totals(model_of(tiny_llama(), options)).total_params == 86'848 + 2 * 3 * 128 * 64);
}

TEST_CASE("Every family has a name of its own, a rule, and when it was not tried on a real config a source",
          "[model]") {
    std::set<std::string_view> names, types;
    for (const families::Family& family : families::all()) {
        INFO(family.name);
        CHECK(names.insert(family.name).second);
        CHECK(family.rule != nullptr);
        CHECK((family.verified || !family.source.empty()));
        for (const std::string_view type : family.model_types) CHECK(types.insert(type).second);
    }
    CHECK(known_families().size() == names.size());
}
