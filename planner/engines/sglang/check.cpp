#include "planner/engines/sglang/check.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/json/document.hpp"
#include "planner/engines/checks.hpp"
#include "planner/engines/sglang/defaults.hpp"
#include "planner/engines/sglang/gpu_facts.hpp"
#include "planner/engines/sglang/kv_dtype.hpp"
#include "planner/engines/sglang/storage.hpp"
#include "planner/engines/sglang/versions.hpp"
#include "units/diagnostic.hpp"

namespace kvplan::sglang {
namespace {

std::string text(std::int64_t n) { return std::to_string(n); }

void check_groups(const Scenario& scenario, Diagnostics& out) {
    const EngineOptions& e = scenario.engine;
    const auto divides = [&](std::int64_t part, std::int64_t whole, std::string flag, std::string code, std::string what) {
        if (part >= 1 && whole % part == 0) return;
        fault(out, Severity::error, std::move(code), std::move(flag), std::move(what), text(part), "a divisor of " + text(whole), "");
    };
    if (e.enable_dp_attention) divides(e.dp, e.tp, "--dp-size", "engine.dp", "with DP attention dp must divide tp");
    divides(e.ep, e.tp, "--ep-size", "engine.ep", "ep must divide tp");
    const std::int64_t per_worker = e.enable_dp_attention && e.dp >= 1 && e.tp % e.dp == 0 ? e.tp / e.dp : e.tp;
    divides(e.attention_context_parallel, per_worker, "--attention-context-parallel-size", "engine.cp", "context parallelism must divide the attention ranks");
    divides(e.decode_context_parallel, per_worker, "--dcp-size", "engine.cp", "decode context parallelism must divide the attention ranks");
    for (const LayerClass& c : scenario.model->classes) {
        const auto* moe = std::get_if<MoeFfn>(&c.ffn);
        if (moe == nullptr || e.ep < 1 || (moe->experts + e.redundant_experts) % e.ep == 0) continue;
        fault(out, Severity::error, "engine.ep", "--ep-size", "the experts cannot be divided over the expert-parallel ranks",
            text(e.ep) + " ranks for " + text(moe->experts + e.redundant_experts) + " experts", "a divisor", "redundant experts count too");
        break;
    }
}

/// Blocks of 128 cannot be cut: the intermediate size of one rank must be whole blocks.
void check_blocks(const Scenario& scenario, Diagnostics& out) {
    const Parallelism p = parallelism(scenario);
    for (const LayerClass& c : scenario.model->classes) {
        for (const WeightMatrix& m : c.weights) {
            const bool cut = m.component == Component::experts && m.format.scheme == Scheme::fp8_block && m.inside_expert == Sharding::row;
            if (!cut || m.format.block_cols <= 0 || p.moe_tp <= 1 || (m.cols / p.moe_tp) % m.format.block_cols == 0) continue;
            // A format that was only asked for may have other blocks in a real checkpoint.
            const Severity severity = scenario.engine.quantization.empty() ? Severity::error : Severity::warning;
            fault(out, severity, "engine.tp", "--tp-size", "the experts' scale blocks would be cut", text(m.cols) + " / " + text(p.moe_tp),
                "a multiple of " + text(m.format.block_cols), "a smaller tp / ep, so that each rank has whole blocks: raise --ep-size");
            return;
        }
    }
}

void check_memory(const Scenario& scenario, Diagnostics& out) {
    const EngineOptions& e = scenario.engine;
    if (e.mem_fraction_static) {
        const double f = e.mem_fraction_static->value;
        if (!(f > 0 && f < 1)) fault(out, Severity::error, "engine.fraction", "--mem-fraction-static", "not a share of the memory", std::to_string(f), "more than 0 and less than 1", "0.85, not 85");
    }
    if (!e.kv_cache_dtype.empty() && !kv_dtype(scenario).known) {
        constexpr std::array<std::string_view, 8> kNames{"auto", "bfloat16", "fp8_e4m3", "fp8_e5m2", "fp4_e2m1", "nvfp4", "fp4_mx_block16", "mxfp8"};
        const auto near = nearest_names(e.kv_cache_dtype, kNames);
        fault(out, Severity::error, "engine.kv_dtype", "--kv-cache-dtype", "not a KV type of SGLang", e.kv_cache_dtype,
            "auto, bfloat16, fp8_e4m3, fp8_e5m2, fp4_e2m1, nvfp4, fp4_mx_block16 or mxfp8", did_you_mean(near));
    }
    if (e.kv_cache_dtype == "nvfp4" && gpu_facts(scenario).sm_major > 0 && gpu_facts(scenario).sm_major < 10)
        fault(out, Severity::error, "engine.kv_dtype", "--kv-cache-dtype", "nvfp4 needs a GPU of compute capability 10 or 12", e.kv_cache_dtype, "fp8_e4m3", "");
    if (e.swa_full_tokens_ratio && !(*e.swa_full_tokens_ratio > 0 && *e.swa_full_tokens_ratio <= 1)) {
        fault(out, Severity::error, "engine.swa_ratio", "--swa-full-tokens-ratio", "not a share of the full pool", std::to_string(*e.swa_full_tokens_ratio), "more than 0 and at most 1", "");
    }
    if (e.mamba_full_memory_ratio && !(*e.mamba_full_memory_ratio > 0)) {
        fault(out, Severity::error, "engine.mamba_ratio", "--mamba-full-memory-ratio", "not a ratio", std::to_string(*e.mamba_full_memory_ratio), "more than 0", "");
    }
}

void check_hicache(const Scenario& scenario, Diagnostics& out) {
    const HicacheOptions& h = scenario.engine.hicache;
    if (!h.enabled) return;
    if (scenario.engine.disable_radix_cache) {
        fault(out, Severity::error, "engine.hicache", "--enable-hierarchical-cache", "a hierarchical cache needs the radix cache", "--disable-radix-cache", "one of the two", "");
    }
    if (h.size_gb && *h.size_gb > 0 && is_compressed(*scenario.model)) {
        fault(out, Severity::error, "engine.hicache", "--hicache-size", "DeepSeek-V4's host pools take a ratio only", text(*h.size_gb), "--hicache-ratio", "");
    }
    if (h.ratio && !(*h.ratio > 0 && std::isfinite(*h.ratio))) {
        fault(out, Severity::error, "engine.hicache", "--hicache-ratio", "not a ratio", std::to_string(*h.ratio), "more than 0", "");
    }
}

void check_storage(const Scenario& scenario, Diagnostics& out) {
    const std::string& config = scenario.engine.hicache.storage_backend_extra_config;
    if (config.empty() || config.front() == '@') return;
    Diagnostics found;
    const auto document = json::parse(config, "--hicache-storage-backend-extra-config", found);
    const bool object = document && document->root().is_object();
    const json::Value size = object ? document->root()["global_segment_size"] : json::Value{};
    if (!object)
        fault(out, Severity::error, "engine.hicache", "--hicache-storage-backend-extra-config", "not JSON", config, "an object, or @FILE", R"({"global_segment_size": "64gb"})");
    else if (size.exists() && !size.integer() && !(size.string() && segment_size(*size.string())))
        fault(out, Severity::error, "engine.hicache", "--hicache-storage-backend-extra-config", "global_segment_size is no size", size.describe(), "bytes, or a size such as 64gb", "units are of 1024 here");
}

void check_speculative(const Scenario& scenario, Diagnostics& out) {
    constexpr std::array<std::string_view, 10> kNames{"EAGLE", "EAGLE3", "NEXTN", "MTP", "STANDALONE", "NGRAM", "DFLASH", "DSPARK", "FROZEN_KV_MTP", "LOOKAHEAD"};
    const std::string& asked = scenario.engine.speculative.algorithm;
    if (asked.empty() || std::find(kNames.begin(), kNames.end(), asked) != kNames.end()) return;
    fault(out, Severity::warning, "engine.speculative", "--speculative-algorithm", "not a drafting algorithm that is known here", asked,
        "EAGLE, EAGLE3, NEXTN, STANDALONE, NGRAM, DFLASH or DSPARK", did_you_mean(nearest_names(asked, kNames)));
}

}  // namespace

void check(const Scenario& scenario, Diagnostics& diagnostics) {
    check_version(find_version(scenario.engine.version_text), "SGLang", scenario.engine.version_text, diagnostics);
    if (!scenario.model) return;
    check_heads(scenario, parallelism(scenario).attention_tp, diagnostics);
    check_groups(scenario, diagnostics);
    check_blocks(scenario, diagnostics);
    check_stages(scenario, diagnostics);
    check_memory(scenario, diagnostics);
    check_hicache(scenario, diagnostics);
    check_storage(scenario, diagnostics);
    check_speculative(scenario, diagnostics);
}

}  // namespace kvplan::sglang
