// The table of families: which description is read by which rule.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/llm/hf_config.hpp"
#include "models/llm/inventory.hpp"
#include "models/llm/model_facts.hpp"

namespace kvplan::families {

/// What a rule works on and fills.
struct Build {
    const ModelFacts& facts;
    const ReadOptions& options;
    std::string architecture = {};  // architectures[0], or empty
    std::string model_type = {};    // of the text model
    Blueprint blueprint = {};
    bool tied = false;
    std::int64_t context_default = 0;  // where the config is silent and the Transformers class is not; 0: unknown
    DType block_scale = DType::f32;    // of fp8 block scales; no config tells it
    std::vector<std::string> assumptions = {};
};

using Rule = void (*)(Build&);

struct Family {
    std::string_view name;
    std::vector<std::string_view> model_types;    // of the text model
    std::vector<std::string_view> architectures;  // decide before model_type: some types are useless
    Rule rule;
    bool tied_default = false;  // tie_word_embeddings when the config is silent
    bool verified = true;
    std::string_view source = {};
    ActiveConvention active = ActiveConvention::with_head;
};

/// A tower and projector round a text model, chosen by the outer model_type when there is a vision section.
struct VisionFamily {
    std::vector<std::string_view> model_types;
    Rule rule;
};

[[nodiscard]] std::span<const Family> all();
[[nodiscard]] std::span<const VisionFamily> vision();

// Each families/*.cpp defines some of these.
[[nodiscard]] std::vector<Family> llama_like();
[[nodiscard]] std::vector<Family> older();
[[nodiscard]] std::vector<Family> qwen();
[[nodiscard]] std::vector<Family> qwen_next();
[[nodiscard]] std::vector<Family> deepseek();
[[nodiscard]] std::vector<Family> glm();
[[nodiscard]] std::vector<Family> gemma();
[[nodiscard]] std::vector<Family> mixture();
[[nodiscard]] std::vector<Family> nemotron();
[[nodiscard]] std::vector<Family> hybrid();
[[nodiscard]] std::vector<Family> deepseek_v4_families();
[[nodiscard]] std::vector<Family> minimax();
[[nodiscard]] std::vector<Family> step();
[[nodiscard]] std::vector<Family> drafters();
[[nodiscard]] std::vector<Family> lfm2();
[[nodiscard]] std::vector<Family> longcat();
[[nodiscard]] std::vector<Family> llama4();
[[nodiscard]] std::vector<Family> gemma4();
[[nodiscard]] std::vector<Family> mimo_families();
[[nodiscard]] std::vector<VisionFamily> vision_towers();

}  // namespace kvplan::families
