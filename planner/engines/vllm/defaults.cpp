#include "planner/engines/vllm/defaults.hpp"

#include <algorithm>
#include <array>

#include "models/hardware/gpu_spec.hpp"
#include "planner/engines/vllm/versions.hpp"
#include "planner/free_before_load.hpp"
#include "units/ascii.hpp"

namespace kvplan::vllm {
namespace {

// From 70 GiB on the engine takes its large defaults; A100s are named as the exception.
bool large_gpu(const Scenario& scenario) {
    const bool a100 = scenario.gpu && scenario.gpu->name.find("A100") != std::string::npos;
    return process_total(scenario) >= gibibytes(70) && !a100;
}

template <class T>
bool has_attention(const LlmSpec& model) {
    return std::any_of(model.classes.begin(), model.classes.end(), [](const LayerClass& c) { return std::holds_alternative<T>(c.attention); });
}

struct Named {
    std::string_view flag;
    KvDtype type;
};
// nvfp4: one scale byte for 16 elements; the per-token-head types keep an fp32 scale for K and one for V.
constexpr std::array<Named, 10> kTypes{{
    {"bfloat16", {"bfloat16", 2.0, 0.0, false, true}},
    {"float16", {"float16", 2.0, 0.0, false, true}},
    {"float32", {"float32", 4.0, 0.0, false, true}},
    {"fp8_e4m3", {"fp8_e4m3", 1.0, 0.0, true, true}},
    {"fp8_e5m2", {"fp8_e5m2", 1.0, 0.0, true, true}},
    {"fp8_ds_mla", {"fp8_ds_mla", 1.0, 0.0, true, true}},
    {"nvfp4", {"nvfp4", 0.5625, 0.0, false, true}},
    {"int8_per_token_head", {"int8_per_token_head", 1.0, 4.0, false, true}},
    {"fp8_per_token_head", {"fp8_per_token_head", 1.0, 4.0, false, true}},
    {"fp8", {"fp8_e4m3", 1.0, 0.0, true, true}},
}};

KvDtype named(std::string_view flag) {
    for (const Named& n : kTypes)
        if (n.flag == flag) return n.type;
    KvDtype unknown;
    unknown.known = false;
    return unknown;
}

}  // namespace

double utilization(const Scenario& scenario) {
    if (scenario.engine.gpu_memory_utilization) return scenario.engine.gpu_memory_utilization->value;
    return in_force(Change::utilization_092, scenario.engine) ? 0.92 : 0.90;
}

Bytes process_total(const Scenario& scenario) {
    const bool group = parallelism(scenario).ranks_per_replica > 1;
    Bytes total;
    if (scenario.free_memory) total = gpu_total(scenario) - (group ? scenario.free_memory->grouped : scenario.free_memory->alone).reserve;
    else total = scenario.hardware.gpu_memory.value_or(Bytes{0});
    // More was measured free than that: the catalogue's total is the one that is wrong.
    return scenario.hardware.gpu_free ? std::max(total, *scenario.hardware.gpu_free) : total;
}

std::int64_t max_num_seqs(const Scenario& scenario) {
    return scenario.engine.max_running_requests.value_or(large_gpu(scenario) ? 1024 : 256);
}

std::int64_t max_num_batched_tokens(const Scenario& scenario) {
    if (scenario.engine.max_num_batched_tokens) return *scenario.engine.max_num_batched_tokens;
    if (!large_gpu(scenario)) return 2048;
    const bool largest = process_total(scenario) >= gibibytes(160) && in_force(Change::batched_tokens_16384, scenario.engine);
    return largest ? 16384 : 8192;
}

std::int64_t max_model_len(const Scenario& scenario) {
    const std::int64_t asked = scenario.engine.context_length.value_or(scenario.model->max_position_embeddings);
    return asked > 0 ? asked : 8192;
}

std::int64_t speculative_tokens(const Scenario& scenario) {
    const SpeculativeOptions& s = scenario.engine.speculative;
    if (s.algorithm.empty()) return 0;
    return s.num_draft_tokens ? *s.num_draft_tokens : s.num_steps.value_or(1);
}

bool draft_has_layers(const Scenario& scenario) {
    const std::string name = lower(scenario.engine.speculative.algorithm);
    return !name.empty() && name != "ngram" && name != "suffix";
}

std::int64_t inflight_tokens(const Scenario& scenario) {
    const std::int64_t tokens = max_num_batched_tokens(scenario);
    if (!in_force(Change::inflight_by_batches, scenario.engine)) return tokens;
    const std::int64_t batches = scenario.engine.pp > 1 ? scenario.engine.pp : scenario.engine.async_scheduling ? 2 : 1;
    return checked_mul(tokens, batches);
}

std::int64_t state_blocks_per_request(const Scenario& scenario) {
    const bool prefixes = !scenario.engine.disable_radix_cache && in_force(Change::state_prefix_cache, scenario.engine);
    return (prefixes ? 2 : 1) + speculative_tokens(scenario);
}

std::int64_t captured_sizes(const Scenario& scenario) {
    if (scenario.engine.enforce_eager) return 0;
    const std::int64_t largest = std::min<std::int64_t>(512, checked_mul(2, max_num_seqs(scenario)));
    std::int64_t sizes = 0;
    for (const std::int64_t size : {1, 2, 4}) sizes += size <= largest ? 1 : 0;
    sizes += std::min<std::int64_t>(largest, 256) / 8;
    return sizes + (largest > 256 ? (largest - 256) / 16 : 0);
}

KvDtype kv_dtype(const Scenario& scenario) {
    const std::string& flag = scenario.engine.kv_cache_dtype;
    // DeepSeek-V4 has kernels for its own packing only; sparse latents in fp8 take the packed layout too.
    if (is_compressed(*scenario.model) && (flag.empty() || flag == "auto" || flag.rfind("fp8", 0) == 0)) return named("fp8_ds_mla");
    if (is_sparse_latent(*scenario.model) && (flag == "fp8" || flag == "fp8_e4m3")) return named("fp8_ds_mla");
    if (!flag.empty() && flag != "auto") return named(flag);
    if (const auto& asked = scenario.model->checkpoint_kv_dtype) {
        if (*asked == DType::f8_e4m3) return named(is_sparse_latent(*scenario.model) ? "fp8_ds_mla" : "fp8_e4m3");
        if (*asked == DType::f8_e5m2) return named("fp8_e5m2");
    }
    const std::string& type = scenario.engine.dtype;
    if (type == "float32" || type == "float") return named("float32");
    const bool half = type == "float16" || type == "half" || ((type.empty() || type == "auto") && scenario.model->dtype == DType::f16);
    return named(half ? "float16" : "bfloat16");
}

bool is_latent(const LlmSpec& model) { return has_attention<LatentAttention>(model); }

bool is_sparse_latent(const LlmSpec& model) {
    return std::any_of(model.classes.begin(), model.classes.end(), [](const LayerClass& c) {
        const auto* latent = std::get_if<LatentAttention>(&c.attention);
        return latent != nullptr && latent->indexer.has_value();
    });
}

bool is_compressed(const LlmSpec& model) { return has_attention<CompressedAttention>(model); }
bool has_state(const LlmSpec& model) { return has_attention<LinearAttention>(model); }

std::vector<EngineDefault> engine_defaults(const Scenario& scenario) {
    return {{"context_length", max_model_len(scenario)},
            {"max_running_requests", max_num_seqs(scenario)},
            {"max_num_batched_tokens", max_num_batched_tokens(scenario)},
            {"gpu_memory_utilization", utilization(scenario)},
            {"kv_cache_dtype", std::string(kv_dtype(scenario).name)}};
}

}  // namespace kvplan::vllm
