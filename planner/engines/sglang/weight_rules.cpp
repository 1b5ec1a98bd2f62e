#include "planner/engines/sglang/weight_rules.hpp"

#include <algorithm>
#include <array>

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

/// "mem usage" of start-up logs less the tensors: 0.03 to 0.3 GiB for 16-bit models. Formats that are repacked after
/// loading can leave more behind: the one log at hand of a large int4 model has 2.3 GiB beyond its tensors (73.58 of
/// 71.28, 8 ranks). What it consists of is not known, so the collection of garbage before the second measurement
/// (2026-08-27) is not taken to remove it.
Estimate<double> overhead(const Scenario& scenario) {
    const bool repacked = has_scheme(*scenario.model, {Scheme::packed_int, Scheme::gptq, Scheme::awq, Scheme::nvfp4, Scheme::mxfp4});
    return {0.0, 0.1, repacked ? 2.5 : 0.5, Basis::assumed};
}

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
    rules.vision_tp = engine.mm_enable_dp_encoder ? 1 : p.tp;
    rules.vocab_padding = 64;
    rules.redundant_experts = engine.redundant_experts;
    rules.shared_experts_fused = fuses_shared_expert(scenario, gpu);
    rules.absorbed_latent_copies = true;
    // trtllm kernels of compute capability 10 take the scales as they are shuffled; the others keep both.
    rules.second_scale_copy = has_scheme(*scenario.model, {Scheme::nvfp4}) && gpu.sm_major != 10;
    const bool trtllm_moe = gpu.sm_major == 10 && has_scheme(*scenario.model, {Scheme::mxfp4, Scheme::nvfp4});
    rules.expert_padding = trtllm_moe ? 128 : 1;
    rules.draft_resident = draft_has_layers(scenario) && (scenario.draft_model || scenario.model->draft);
    rules.draft_shares_embeddings = engine.speculative.algorithm != "STANDALONE";
    rules.overhead_gib = overhead(scenario);
    return rules;
}

}  // namespace kvplan::sglang
