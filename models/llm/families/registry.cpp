#include "models/llm/families/registry.hpp"

namespace kvplan::families {
namespace {

template <class Entry>
void append(std::vector<Entry>& all, std::vector<Entry> some) {
    for (Entry& entry : some) all.push_back(std::move(entry));
}

std::vector<Family> every_family() {
    std::vector<Family> families;
    append(families, llama_like());
    append(families, older());
    append(families, qwen());
    append(families, qwen_next());
    append(families, deepseek());
    append(families, glm());
    append(families, gemma());
    append(families, mixture());
    append(families, nemotron());
    append(families, hybrid());
    append(families, deepseek_v4_families());
    append(families, drafters());  // known by architecture: their model_type is that of the layers they use
    append(families, minimax());
    append(families, step());
    append(families, lfm2());
    append(families, longcat());
    append(families, llama4());
    append(families, gemma4());
    append(families, mimo_families());
    return families;
}

}  // namespace

std::span<const Family> all() {
    static const std::vector<Family> families = every_family();
    return families;
}

std::span<const VisionFamily> vision() {
    static const std::vector<VisionFamily> towers = vision_towers();
    return towers;
}

}  // namespace kvplan::families
