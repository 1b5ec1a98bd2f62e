#include "planner/engines/vllm/check.hpp"

#include <array>
#include <cmath>

#include "planner/engines/checks.hpp"
#include "planner/engines/vllm/defaults.hpp"
#include "planner/engines/vllm/versions.hpp"

namespace kvplan::vllm {
namespace {

std::string text(std::int64_t n) { return std::to_string(n); }

void check_memory(const Scenario& scenario, Diagnostics& out) {
    const EngineOptions& e = scenario.engine;
    if (e.gpu_memory_utilization && !(e.gpu_memory_utilization->value > 0 && e.gpu_memory_utilization->value <= 1))
        fault(out, Severity::error, "engine.fraction", "--gpu-memory-utilization", "not a share of the memory", std::to_string(e.gpu_memory_utilization->value),
              "more than 0 and at most 1", "0.9, not 90");
    if (!e.kv_cache_dtype.empty() && !kv_dtype(scenario).known) {
        constexpr std::array<std::string_view, 9> kNames{"auto", "bfloat16", "float16", "fp8_e4m3", "fp8_e5m2", "fp8_ds_mla", "nvfp4", "int8_per_token_head", "fp8_per_token_head"};
        fault(out, Severity::error, "engine.kv_dtype", "--kv-cache-dtype", "not a KV type of vLLM", e.kv_cache_dtype,
              "auto, bfloat16, float16, fp8_e4m3, fp8_e5m2, fp8_ds_mla, nvfp4, int8_per_token_head or fp8_per_token_head", did_you_mean(nearest_names(e.kv_cache_dtype, kNames)));
    }
    if (e.page_size && *e.page_size % 16 != 0 && *e.page_size != 1 && *e.page_size != 8)
        fault(out, Severity::warning, "engine.block_size", "--block-size", "not a block that the attention kernels take", text(*e.page_size), "a multiple of 16", "");
    if (e.kv_offloading_size_gib && !in_force(Change::offload_size_flag, e))
        fault(out, Severity::error, "engine.flag", "--kv-offloading-size", "this version does not have the flag", "", "2025-11-01 (v0.11.1) or newer", "");
}

/// Ranks that share a KV head can share its tokens too; latents have one head, so all ranks can.
void check_context_parallel(const Scenario& scenario, Diagnostics& out) {
    const std::int64_t dcp = scenario.engine.decode_context_parallel, tp = parallelism(scenario).tp;
    if (dcp <= 1) return;
    if (tp % dcp != 0) {
        fault(out, Severity::error, "engine.cp", "--decode-context-parallel-size", "decode context parallelism must divide tp", text(dcp), "a divisor of " + text(tp), "");
        return;
    }
    for (const LayerClass& c : scenario.model->classes) {
        const auto* a = std::get_if<GroupedAttention>(&c.attention);
        if (a != nullptr && a->window) {
            fault(out, Severity::error, "engine.cp", "--decode-context-parallel-size", "windows cannot be split over ranks", text(dcp), "1", "");
            return;
        }
        if (a == nullptr || a->kv_heads <= 0 || tp / std::min(tp, a->kv_heads) >= dcp) continue;
        fault(out, Severity::error, "engine.cp", "--decode-context-parallel-size", "more parts than copies of a KV head", text(dcp),
              "at most " + text(tp / std::min(tp, a->kv_heads)), "tp / KV heads");
        return;
    }
}

}  // namespace

void check(const Scenario& scenario, Diagnostics& diagnostics) {
    check_version(find_version(scenario.engine.version_text), "vLLM", scenario.engine.version_text, diagnostics);
    if (!scenario.model) return;
    check_heads(scenario, parallelism(scenario).tp, diagnostics);
    check_stages(scenario, diagnostics);
    check_memory(scenario, diagnostics);
    check_context_parallel(scenario, diagnostics);
}

}  // namespace kvplan::vllm
