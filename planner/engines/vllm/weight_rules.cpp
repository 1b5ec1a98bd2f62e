#include "planner/engines/vllm/weight_rules.hpp"

#include <algorithm>
#include <initializer_list>

#include "models/hardware/gpu_spec.hpp"
#include "planner/engines/rope_table.hpp"
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

/// Tiles of the mxfp4 kernels (layers/quantization/mxfp4.py): FlashInfer on compute capability 10 pads both sides to 256, Marlin
/// (8 and 12) the intermediate to 128 and the width to 256, Triton on 9 swizzles values in tiles of 256 and leaves scales as they are.
/// Logs agree: gpt-oss-20b 13.47 GiB and -120b 64.38 with Triton, 65.97 with Marlin.
void pad_mxfp4(const Scenario& scenario, WeightRules& rules) {
    const int sm = scenario.gpu && scenario.gpu->sm ? scenario.gpu->sm->major : 0;
    rules.expert_padding = sm == 10 ? 256 : sm == 9 ? 64 : 128;
    rules.expert_width_padding = 256;
    rules.pads_values_only = sm == 9;
}

}  // namespace

WeightRules weight_rules(const Scenario& scenario) {
    const Parallelism p = parallelism(scenario);
    const EngineOptions& engine = scenario.engine;
    const bool whole_experts = p.ep > 1;
    WeightRules rules;
    rules.attention_tp = rules.dense_tp = rules.shared_tp = rules.vocab_tp = rules.head_tp = p.tp;
    // Towers are cut too, but for those whose code keeps them whole.
    rules.vision_tp = rules.vision_mlp_tp = engine.mm_enable_dp_encoder ? 1 : p.tp;
    rules.moe_tp = whole_experts ? 1 : p.tp * p.replicas;
    rules.ep = whole_experts ? p.tp * p.replicas : 1;
    rules.redundant_experts = engine.redundant_experts;
    rules.absorbed_latent_copies = true;
    rules.second_scale_copy = false;
    if (has_scheme(*scenario.model, {Scheme::mxfp4})) pad_mxfp4(scenario, rules);
    rules.allocator = AllocatorCount::allocated;
    rules.rope_table = rope_table(*scenario.model, 2);
    rules.draft_resident = draft_has_layers(scenario) && (scenario.draft_model || scenario.model->draft);
    rules.draft_shares_embeddings = true;
    // What else tensors hold that are no weights: small buffers, workspaces of repacked formats.
    const bool repacked = has_scheme(*scenario.model, {Scheme::packed_int, Scheme::gptq, Scheme::awq, Scheme::nvfp4, Scheme::mxfp4});
    rules.overhead_gib = {-0.05, 0.0, repacked ? 1.5 : 0.3, Basis::assumed};
    return rules;
}

}  // namespace kvplan::vllm
