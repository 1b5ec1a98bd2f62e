#include "models/llm/name_map.hpp"

#include <string>
#include <vector>

#include "tests/support/catch.hpp"

using namespace kvplan;

namespace {

bool hits(std::string_view pattern, std::string_view path) {
    NameMap map;
    REQUIRE(map.add(pattern, 1));
    return map.matches(path);
}

bool matches(std::string_view pattern, std::string_view text) {
    const auto program = RegexProgram::compile(pattern);
    REQUIRE(program);
    return program->match(text);
}

}  // namespace

TEST_CASE("A bare word is a whole part of the path", "[quantization][names]") {
    CHECK(hits("gate", "model.layers.3.mlp.gate"));
    CHECK_FALSE(hits("gate", "model.layers.3.mlp.gate_proj"));
    CHECK_FALSE(hits("gate", "model.layers.3.mlp.experts.0.gate_proj"));
    CHECK(hits("lm_head", "language_model.lm_head"));
    CHECK(hits("self_attn", "model.layers.17.self_attn.o_proj"));
    CHECK(hits("vision_tower", "vision_tower.encoder.layers.3.mlp.fc1"));
}

TEST_CASE("Names from the root cover the module and all below it, and nothing beside it", "[quantization][names]") {
    CHECK(hits("model.layers.1.mlp.gate", "model.layers.1.mlp.gate"));
    CHECK(hits("model.layers.1.self_attn", "model.layers.1.self_attn.q_proj"));
    CHECK_FALSE(hits("model.layers.1.self_attn", "model.layers.11.self_attn.q_proj"));
    CHECK_FALSE(hits("model.layers.0.mlp.gate_proj", "vision_tower.encoder.layers.0.mlp.gate_proj"));
    // Prefixes differ between a list and a checkpoint
    CHECK(hits("model.language_model.layers.4.mlp.up_proj", "model.layers.4.mlp.up_proj"));
    CHECK(hits("model.layers.4.mlp.up_proj", "language_model.model.layers.4.mlp.up_proj"));
    CHECK(hits("backbone.layers.5.mixer.q_proj", "model.layers.5.mixer.q_proj"));
    // and so do words
    CHECK(hits("layers.7.ffn.experts", "model.layers.7.mlp.experts.12.gate_proj"));
    CHECK(hits("language_model.model.layers.3.block_sparse_moe.experts.0.w1", "model.layers.3.mlp.experts.*.gate_proj"));
}

TEST_CASE("Globs cross dots, as the producers' fnmatch does", "[quantization][names]") {
    CHECK(hits("model.layers.10.self_attn*", "model.layers.10.self_attn.q_a_proj"));
    CHECK_FALSE(hits("model.layers.10.self_attn*", "model.layers.1.self_attn.q_a_proj"));
    // The trap: 1* is also 10 to 19
    CHECK(hits("model.layers.1*", "model.layers.1.mlp.up_proj"));
    CHECK(hits("model.layers.1*", "model.layers.17.mlp.up_proj"));
    CHECK_FALSE(hits("model.layers.1.*", "model.layers.17.mlp.up_proj"));
    CHECK(hits("model.layers.0*", "model.layers.0.mlp.up_proj"));
    CHECK_FALSE(hits("model.layers.0*", "model.layers.10.mlp.up_proj"));
    CHECK(hits("*.mlp.shared_expert.*", "model.language_model.layers.3.mlp.shared_expert.down_proj"));
    CHECK(hits("*.attn.*", "layers.3.attn.wq_a"));
    CHECK(hits("mtp*", "mtp.layers.0.self_attn.q_proj"));
    CHECK(hits("mtp.layers.0*", "mtp.layers.0.mlp.gate"));
    // Without a star at the end it still covers what lies below (gpt-oss)
    CHECK(hits("model.layers.*.self_attn", "model.layers.11.self_attn.q_proj"));
    CHECK_FALSE(hits("model.layers.*.mlp.router", "model.layers.11.mlp.experts.down_proj"));
}

TEST_CASE("Expressions match from the beginning", "[quantization][names]") {
    CHECK(hits("re:.*self_attn.*", "model.layers.3.self_attn.q_a_proj"));
    CHECK(hits("re:.*lm_head", "lm_head"));
    CHECK(hits("re:vision_tower.*", "vision_tower.encoder.blocks.0.wqkv"));
    CHECK_FALSE(hits("re:tower.*", "vision_tower.encoder.blocks.0.wqkv"));
    // Kimi: the dense layer and not the experts
    const std::string_view dense = "re:.*mlp\\.(gate|up|gate_up|down)_proj.*";
    CHECK(hits(dense, "model.layers.0.mlp.gate_proj"));
    CHECK(hits(dense, "model.layers.0.mlp.down_proj"));
    CHECK_FALSE(hits(dense, "model.layers.1.mlp.experts.0.gate_proj"));
    CHECK_FALSE(hits(dense, "model.layers.1.mlp.experts.*.gate_proj"));
    // An anchor at another root
    CHECK(hits("re:language_model.model.layers.3\\..*", "model.layers.3.mlp.up_proj"));
    CHECK(hits("re:model\\.layers\\.\\d+\\.mlp\\.experts\\.\\d+\\..*", "model.layers.3.mlp.experts.*.up_proj"));
}

TEST_CASE("Quirk names of real lists", "[quantization][names][quirks]") {
    // MiMo names the draft layers after a module that does not exist
    CHECK(hits("model.decoder.self_attn.o_proj", "model.mtp.layers.2.self_attn.o_proj"));
    CHECK_FALSE(hits("model.decoder.self_attn.o_proj", "model.layers.2.self_attn.o_proj"));
    // Fused and single names stand for each other
    CHECK(hits("model.layers.3.self_attn.qkv_proj", "model.layers.3.self_attn.k_proj"));
    CHECK(hits("model.layers.3.mlp.gate_proj", "model.layers.3.mlp.gate_up_proj"));
    CHECK(hits("model.layers.3.mlp.experts.0.gate_proj", "model.layers.3.mlp.experts.gate_up_proj"));
}

TEST_CASE("The longest name decides", "[quantization][names]") {
    NameMap map;
    map.add("layers.0.mlp.experts", 1);
    map.add("layers.0.mlp.experts.3.down_proj", 2);
    CHECK(map.find("model.layers.0.mlp.experts.3.down_proj") == 2);
    CHECK(map.find("model.layers.0.mlp.experts.4.down_proj") == 1);
    CHECK_FALSE(map.find("model.layers.1.mlp.experts.4.down_proj"));
}

TEST_CASE("The expression matcher agrees with Python's re.match", "[quantization][regex]") {
    CHECK(matches("abc", "abcdef"));
    CHECK_FALSE(matches("abc$", "abcdef"));
    CHECK(matches("a+b*c?", "aac"));
    CHECK_FALSE(matches("a+b", "b"));
    CHECK(matches("(a|bc)*d$", "abcad"));
    CHECK(matches("x{2,3}$", "xxx"));
    CHECK_FALSE(matches("x{2,3}$", "xxxx"));
    CHECK_FALSE(matches("x{2}", "x"));
    CHECK(matches("[a-c_]+\\d\\.\\w", "b_3.q"));
    CHECK_FALSE(matches("[^a-c]", "b"));
    CHECK(matches("[]a]+$", "]a"));
    CHECK(matches("^(?!.*experts).*", "layers.0.mlp.gate"));
    CHECK_FALSE(matches("^(?!.*experts).*", "layers.0.mlp.experts.3"));
    CHECK(matches("layers\\.(?:3|4)\\..*?proj$", "layers.4.mlp.up_proj"));
    CHECK(matches("", "anything"));
    CHECK(matches("(a*)*b", "aaab"));
    CHECK(matches("a||b", "b"));
}

TEST_CASE("Faulty expressions are refused, hostile ones end soon", "[quantization][regex]") {
    for (const std::string_view bad : {"(", ")", "a)", "[a", "*a", "a{3,1}", "a{", "\\1", "(?<n>a)", "a{99999}", "\\"})
        CHECK_FALSE(RegexProgram::compile(bad));
    std::string deep;
    for (int i = 0; i < 10000; ++i) deep += '(';
    CHECK_FALSE(RegexProgram::compile(deep));
    CHECK_FALSE(RegexProgram::compile("(((((a{200}){200}){200}){200}){200})"));
    CHECK_FALSE(RegexProgram::compile("(((((){200}){200}){200}){200})"));
    // Exponential for a matcher that goes back: 2^40 ways
    std::string text(40, 'a');
    CHECK_FALSE(matches("(a*)*(a*)*(a*)*c$", text));
    std::string nested = "a";
    for (int i = 0; i < 30; ++i) nested = "(" + nested + "*)";
    CHECK(matches(nested + "c?$", text));
}
