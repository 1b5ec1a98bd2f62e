#include "tests/models/llm/reading.hpp"

#include <stdexcept>

#include "tests/support/catch.hpp"

namespace kvplan::test {

bool Reading::has(std::string_view code, std::string_view text) const {
    for (const Diagnostic& item : diagnostics.items())
        if (item.code == code && render(item).find(text) != std::string::npos) return true;
    return false;
}

Reading read_config(const std::string& config, const ReadOptions& options, const std::string& hf_quant) {
    Reading reading;
    const auto document = json::parse(config, "config.json", reading.diagnostics);
    if (!document) return reading;
    std::optional<json::Document> quant;
    if (!hf_quant.empty()) quant = json::parse(hf_quant, "hf_quant_config.json", reading.diagnostics);
    ModelFiles files;
    files.config = document->root();
    if (quant) files.hf_quant_config = quant->root();
    reading.spec = read_model(files, options, reading.diagnostics);
    return reading;
}

LlmSpec model_of(const std::string& config, const ReadOptions& options) {
    Reading reading = read_config(config, options);
    INFO(render(reading.diagnostics));
    REQUIRE(reading.spec);
    return *reading.spec;
}

bool has_matrix(const LayerClass& layer, std::string_view name) {
    for (const WeightMatrix& weight : layer.weights)
        if (weight.name == name) return true;
    return false;
}

const WeightMatrix& matrix(const LayerClass& layer, std::string_view name) {
    for (const WeightMatrix& weight : layer.weights)
        if (weight.name == name) return weight;
    throw std::runtime_error("no matrix " + std::string(name) + " in layer " + layer.name);
}

const WeightMatrix& outside(const LlmSpec& spec, std::string_view name) {
    for (const WeightMatrix& weight : spec.outside)
        if (weight.name == name) return weight;
    throw std::runtime_error("no matrix " + std::string(name) + " outside the layers");
}

std::string tiny_llama(const std::string& more) {
    return "{" + more + (more.empty() ? "" : ", ") +
           R"("model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2,
              "intermediate_size": 128, "vocab_size": 100, "torch_dtype": "bfloat16"})";
}

}  // namespace kvplan::test
