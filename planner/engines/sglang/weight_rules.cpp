#include "planner/engines/sglang/weight_rules.hpp"

#include <algorithm>
#include <array>

#include "planner/engines/rope_table.hpp"
#include "planner/engines/sglang/defaults.hpp"
#include "planner/engines/sglang/gpu_facts.hpp"
#include "planner/engines/sglang/versions.hpp"

namespace kvplan::sglang {
namespace {

/// All-to-all backends whose ranks each run the shared expert on their own tokens.
bool whole_shared_expert(const std::string& backend) {
    constexpr std::array<std::string_view, 6> kBackends{"deepep", "mooncake", "nixl", "mori", "flashinfer", "megamoe"};
    return std::find(kBackends.begin(), kBackends.end(), backend) != kBackends.end();
}

bool has_scheme(const LlmSpec& model, std::initializer_list<Scheme> schemes) {
    return std::any_of(model.classes.begin(), model.classes.end(), [&](const LayerClass& c) {
        return std::any_of(c.weights.begin(), c.weights.end(), [&](const WeightMatrix& m) {
            return std::find(schemes.begin(), schemes.end(), m.format.scheme) != schemes.end();
        });
    });
}

bool fuses_shared_expert(const Scenario& scenario, const GpuFacts& gpu) {
    if (scenario.engine.disable_shared_experts_fusion || scenario.engine.ep > 1 || gpu.sm_major == 0) return false;
    return std::any_of(scenario.model->classes.begin(), scenario.model->classes.end(), [&](const LayerClass& c) {
        const auto* moe = std::get_if<MoeFfn>(&c.ffn);
        return moe != nullptr && moe->experts == 256 && moe->shared_experts == 1 && gpu.sm_major >= 8;
    });
}

/// Formats whose experts, or all of whose matrices, are rearranged or repacked after loading.
bool rearranged(const LlmSpec& model) {
    if (has_scheme(model, {Scheme::packed_int, Scheme::gptq, Scheme::awq, Scheme::nvfp4, Scheme::mxfp4})) return true;
    return std::any_of(model.classes.begin(), model.classes.end(), [](const LayerClass& c) {
        return std::any_of(c.weights.begin(), c.weights.end(), [](const WeightMatrix& m) {
            return m.component == Component::experts && m.format.scheme != Scheme::plain;
        });
    });
}

/// "mem usage" of start-up logs less tensors, rotary tables and the allocator's rests: -0.01 to 0.12 GiB in eleven logs, alone and in
/// groups. Large quantized mixtures can leave more behind: Kimi-K2.5 1.8 (73.58 on eight MI355X), DeepSeek-V4-Flash 1.7 (36.57
/// on eight H20). What it consists of is not known, so the collection of garbage before the second measurement (2026-08-27)
/// is not taken to remove it.
Estimate<double> overhead(const Scenario& scenario) { return {-0.05, 0.0, rearranged(*scenario.model) ? 2.0 : 0.3, Basis::assumed}; }

}  // namespace

WeightRules weight_rules(const Scenario& scenario) {
    const Parallelism p = parallelism(scenario);
    const EngineOptions& engine = scenario.engine;
    const GpuFacts gpu = gpu_facts(scenario);
    WeightRules rules;
    rules.attention_tp = p.attention_tp;
    rules.dense_tp = engine.moe_dense_tp_size.value_or(p.tp);
    rules.moe_tp = p.moe_tp;
    rules.ep = p.ep;
    rules.shared_tp = whole_shared_expert(engine.moe_a2a_backend) ? 1 : p.tp;
    rules.vocab_tp = engine.enable_dp_attention ? p.attention_tp : p.tp;
    rules.head_tp = engine.enable_dp_lm_head ? p.attention_tp : p.tp;
    rules.vision_tp = engine.mm_enable_dp_encoder ? 1 : p.attention_tp;
    // kimi_k25.py builds the MLPs of its tower from plain linear layers.
    rules.vision_mlp_tp = scenario.model->architecture == "KimiK25ForConditionalGeneration" ? 1 : rules.vision_tp;
    rules.vocab_padding = 64;
    rules.redundant_experts = engine.redundant_experts;
    rules.shared_experts_fused = fuses_shared_expert(scenario, gpu);
    rules.absorbed_latent_copies = true;
    // trtllm kernels of compute capability 10 take the scales as they are shuffled; the others keep both.
    rules.second_scale_copy = has_scheme(*scenario.model, {Scheme::nvfp4}) && gpu.sm_major != 10;
    const bool trtllm_moe = gpu.sm_major == 10 && has_scheme(*scenario.model, {Scheme::mxfp4, Scheme::nvfp4});
    rules.expert_padding = trtllm_moe ? 128 : 1;
    // Triton's mxfp4 kernels on compute capability 9 swizzle values in tiles of 256 and leave scales as they are.
    if (gpu.sm_major == 9 && has_scheme(*scenario.model, {Scheme::mxfp4})) {
        rules.expert_padding = 64;
        rules.expert_width_padding = 256;
        rules.pads_values_only = true;
    }
    rules.allocator = AllocatorCount::reserved;
    rules.rope_table = rope_table(*scenario.model, gpu.amd ? 2 : 4);
    rules.draft_resident = draft_has_layers(scenario) && (scenario.draft_model || scenario.model->draft);
    rules.draft_shares_embeddings = engine.speculative.algorithm != "STANDALONE";
    rules.overhead_gib = overhead(scenario);
    return rules;
}

}  // namespace kvplan::sglang
