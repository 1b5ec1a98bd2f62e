#include "models/llm/families/vision_blocks.hpp"

#include "models/llm/keys.hpp"

namespace kvplan::families {

void add_blocks(std::vector<Module>& out, const VisionBlock& block) {
    const std::int64_t n = block.layers, h = block.hidden, f = block.intermediate;
    const bool attention_bias = block.attention_bias.value_or(block.bias);
    const std::int64_t a = block.attention_width > 0 ? block.attention_width : h;
    const auto path = [&](const char* name) { return block.prefix + ".*." + name; };
    if (block.fused_qkv) {
        add_vision(out, path("attn.qkv"), 3 * a, h, attention_bias, n, Sharding::column, block.heads);
    } else {
        for (const char* name : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"})
            add_vision(out, path(name), a, h, attention_bias, n, Sharding::column, block.heads);
    }
    add_vision(out, path("attn.proj"), h, a, attention_bias, n, Sharding::row, block.heads);
    if (block.gated) add_vision(out, path("mlp.gate_proj"), f, h, block.bias, n, Sharding::column);
    add_vision(out, path("mlp.fc1"), f, h, block.bias, n, Sharding::column);
    add_vision(out, path("mlp.fc2"), h, f, block.bias, n, Sharding::row);
    add_vision(out, path("norm1"), h, 1, block.norm_bias, n);
    add_vision(out, path("norm2"), h, 1, block.norm_bias, n);
}

std::int64_t text_width(const Build& build) { return build.facts.required(keys::kHidden); }

}  // namespace kvplan::families
