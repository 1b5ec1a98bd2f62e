#include "planner/engines/vllm/weight_rules.hpp"

#include <algorithm>
#include <initializer_list>

#include "models/hardware/gpu_spec.hpp"
#include "planner/engines/vllm/defaults.hpp"

namespace kvplan::vllm {
namespace {

bool has_scheme(const LlmSpec& model, std::initializer_list<Scheme> schemes) {
    return std::any_of(model.classes.begin(), model.classes.end(), [&](const LayerClass& c) {
        return std::any_of(c.weights.begin(), c.weights.end(), [&](const WeightMatrix& m) {
            return std::find(schemes.begin(), schemes.end(), m.format.scheme) != schemes.end();
        });
    });
}

}  // namespace

WeightRules weight_rules(const Scenario& scenario) {
    const Parallelism p = parallelism(scenario);
    const EngineOptions& engine = scenario.engine;
    const bool whole_experts = p.ep > 1;
    WeightRules rules;
    rules.attention_tp = rules.dense_tp = rules.shared_tp = rules.vocab_tp = rules.head_tp = p.tp;
    // Towers are cut too, but for those whose code keeps them whole.
    rules.vision_tp = engine.mm_enable_dp_encoder ? 1 : p.tp;
    rules.moe_tp = whole_experts ? 1 : p.tp * p.replicas;
    rules.ep = whole_experts ? p.tp * p.replicas : 1;
    rules.redundant_experts = engine.redundant_experts;
    rules.absorbed_latent_copies = true;
    rules.second_scale_copy = false;
    // mxfp4 kernels want whole tiles: 128 columns with Marlin and Triton, 256 with FlashInfer.
    if (has_scheme(*scenario.model, {Scheme::mxfp4})) rules.expert_padding = scenario.gpu && scenario.gpu->sm && scenario.gpu->sm->major >= 10 ? 256 : 128;
    rules.draft_resident = draft_has_layers(scenario) && (scenario.draft_model || scenario.model->draft);
    rules.draft_shares_embeddings = true;
    // Allocated tensors only are counted ("Model loading took"): what is beyond them is rope tables and small buffers.
    const bool repacked = has_scheme(*scenario.model, {Scheme::packed_int, Scheme::gptq, Scheme::awq, Scheme::nvfp4, Scheme::mxfp4});
    rules.overhead_gib = {0.0, 0.03, repacked ? 1.5 : 0.3, Basis::assumed};
    return rules;
}

}  // namespace kvplan::vllm
