#include "planner/engines/sglang/check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

#include "planner/engines/layer_partition.hpp"
#include "planner/engines/sglang/defaults.hpp"
#include "planner/engines/sglang/kv_dtype.hpp"
#include "planner/engines/sglang/stages.hpp"
#include "planner/engines/sglang/versions.hpp"
#include "units/diagnostic.hpp"

namespace kvplan::sglang {
namespace {

void add(Diagnostics& out, Severity severity, std::string code, std::string flag, std::string message, std::string found,
         std::string expected, std::string hint) {
    Diagnostic diagnostic;
    diagnostic.severity = severity;
    diagnostic.code = std::move(code);
    diagnostic.pointer = std::move(flag);
    diagnostic.message = std::move(message);
    diagnostic.found = std::move(found);
    diagnostic.expected = std::move(expected);
    diagnostic.hint = std::move(hint);
    out.add(std::move(diagnostic));
}

std::string text(std::int64_t n) { return std::to_string(n); }

void check_version(const Scenario& scenario, Diagnostics& out) {
    const std::string& asked = scenario.engine.version_text;
    const Version version = find_version(asked);
    const std::string near = did_you_mean(version.nearest);
    switch (version.match) {
        case VersionMatch::newest:
        case VersionMatch::date:
        case VersionMatch::release: return;
        case VersionMatch::between:
            add(out, Severity::note, "engine.version", "--engine", "this release is not in the table of versions", asked, "",
                "planned with the rules of " + iso(version.date) + ", between its neighbours");
            return;
        case VersionMatch::after_table:
            add(out, Severity::warning, "engine.version", "--engine", "this release is newer than all that was read", asked,
                "up to " + version.nearest.front() + ", or a date", "planned with the newest rules (" + iso(version.date) + ")");
            return;
        case VersionMatch::before_table:
            add(out, Severity::warning, "engine.version", "--engine", "this release is older than all that was read", asked,
                version.nearest.front() + " or newer", "planned with the oldest rules");
            return;
        case VersionMatch::unreadable:
            add(out, Severity::error, "engine.version", "--engine", "not a version of SGLang", asked,
                "a release (0.5.6, v0.5.4.post2), a date (2026-08-22), or nothing for the newest", near);
            return;
    }
}

/// Query and KV heads of every kind of layer must fit the attention group.
void check_heads(const Scenario& scenario, Diagnostics& out) {
    const Parallelism p = parallelism(scenario);
    std::set<std::pair<std::int64_t, std::int64_t>> seen;
    const auto heads = [&](std::int64_t query, std::int64_t kv) {
        if (!seen.insert({query, kv}).second) return;
        if (query > 0 && query % p.attention_tp != 0) {
            add(out, Severity::error, "engine.tp", "--tp-size", "the attention heads cannot be divided", text(p.attention_tp) + " ranks for " + text(query) + " heads",
                "a divisor of " + text(query), "tp / dp with DP attention is what splits the heads");
        }
        if (kv > 0 && kv % p.attention_tp != 0 && p.attention_tp % kv != 0) {
            add(out, Severity::error, "engine.tp", "--tp-size", "the KV heads neither divide the ranks nor are divided by them",
                text(p.attention_tp) + " ranks for " + text(kv) + " KV heads", "a divisor or a multiple of " + text(kv), "");
        }
    };
    for (const LayerClass& c : scenario.model->classes) {
        if (const auto* a = std::get_if<GroupedAttention>(&c.attention)) heads(a->query_heads, a->kv_heads);
        if (const auto* a = std::get_if<BlockSparseAttention>(&c.attention)) heads(a->base.query_heads, a->base.kv_heads);
        if (const auto* a = std::get_if<LatentAttention>(&c.attention)) heads(a->heads, 0);
        if (const auto* a = std::get_if<CompressedAttention>(&c.attention)) heads(a->heads, 0);
        if (const auto* a = std::get_if<LinearAttention>(&c.attention)) heads(a->heads, 0);
    }
}

void check_groups(const Scenario& scenario, Diagnostics& out) {
    const EngineOptions& e = scenario.engine;
    const auto divides = [&](std::int64_t part, std::int64_t whole, std::string flag, std::string code, std::string what) {
        if (part >= 1 && whole % part == 0) return;
        add(out, Severity::error, std::move(code), std::move(flag), std::move(what), text(part), "a divisor of " + text(whole), "");
    };
    if (e.enable_dp_attention) divides(e.dp, e.tp, "--dp-size", "engine.dp", "with DP attention dp must divide tp");
    divides(e.ep, e.tp, "--ep-size", "engine.ep", "ep must divide tp");
    const std::int64_t per_worker = e.enable_dp_attention && e.dp >= 1 && e.tp % e.dp == 0 ? e.tp / e.dp : e.tp;
    divides(e.attention_context_parallel, per_worker, "--attention-context-parallel-size", "engine.cp", "context parallelism must divide the attention ranks");
    divides(e.decode_context_parallel, per_worker, "--dcp-size", "engine.cp", "decode context parallelism must divide the attention ranks");
    for (const LayerClass& c : scenario.model->classes) {
        const auto* moe = std::get_if<MoeFfn>(&c.ffn);
        if (moe == nullptr || e.ep < 1 || (moe->experts + e.redundant_experts) % e.ep == 0) continue;
        add(out, Severity::error, "engine.ep", "--ep-size", "the experts cannot be divided over the expert-parallel ranks",
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
            add(out, Severity::error, "engine.tp", "--tp-size", "the experts' scale blocks would be cut", text(m.cols) + " / " + text(p.moe_tp),
                "a multiple of " + text(m.format.block_cols), "a smaller tp / ep, so that each rank has whole blocks: raise --ep-size");
            return;
        }
    }
}

void check_stages(const Scenario& scenario, Diagnostics& out) {
    const EngineOptions& e = scenario.engine;
    const std::int64_t layers = scenario.model->layers();
    if (e.pp > layers) add(out, Severity::error, "engine.pp", "--pp-size", "more pipeline stages than layers", text(e.pp), "at most " + text(layers), "");
    if (e.parallel_layer_partition.empty()) return;
    const auto counts = layer_partition(e.parallel_layer_partition);
    const std::int64_t sum = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    if (static_cast<std::int64_t>(counts.size()) != e.pp || sum != layers) {
        add(out, Severity::error, "engine.pp", "SGLANG_PP_LAYER_PARTITION", "the layer counts do not fit the model and the stages",
            e.parallel_layer_partition, text(e.pp) + " counts that sum to " + text(layers), "");
    }
}

void check_memory(const Scenario& scenario, Diagnostics& out) {
    const EngineOptions& e = scenario.engine;
    if (e.mem_fraction_static) {
        const double f = e.mem_fraction_static->value;
        if (!(f > 0 && f < 1)) add(out, Severity::error, "engine.fraction", "--mem-fraction-static", "not a share of the memory", std::to_string(f), "more than 0 and less than 1", "0.85, not 85");
    }
    if (!e.kv_cache_dtype.empty() && !kv_dtype(scenario).known) {
        constexpr std::array<std::string_view, 8> kNames{"auto", "bfloat16", "fp8_e4m3", "fp8_e5m2", "fp4_e2m1", "nvfp4", "fp4_mx_block16", "mxfp8"};
        const auto near = nearest_names(e.kv_cache_dtype, kNames);
        add(out, Severity::error, "engine.kv_dtype", "--kv-cache-dtype", "not a KV type of SGLang", e.kv_cache_dtype,
            "auto, bfloat16, fp8_e4m3, fp8_e5m2, fp4_e2m1, nvfp4, fp4_mx_block16 or mxfp8", did_you_mean(near));
    }
    if (e.swa_full_tokens_ratio && !(*e.swa_full_tokens_ratio > 0 && *e.swa_full_tokens_ratio <= 1)) {
        add(out, Severity::error, "engine.swa_ratio", "--swa-full-tokens-ratio", "not a share of the full pool", std::to_string(*e.swa_full_tokens_ratio), "more than 0 and at most 1", "");
    }
    if (e.mamba_full_memory_ratio && !(*e.mamba_full_memory_ratio > 0)) {
        add(out, Severity::error, "engine.mamba_ratio", "--mamba-full-memory-ratio", "not a ratio", std::to_string(*e.mamba_full_memory_ratio), "more than 0", "");
    }
}

void check_hicache(const Scenario& scenario, Diagnostics& out) {
    const HicacheOptions& h = scenario.engine.hicache;
    if (!h.enabled) return;
    if (scenario.engine.disable_radix_cache) {
        add(out, Severity::error, "engine.hicache", "--enable-hierarchical-cache", "a hierarchical cache needs the radix cache", "--disable-radix-cache", "one of the two", "");
    }
    if (h.size_gb && *h.size_gb > 0 && is_compressed(*scenario.model)) {
        add(out, Severity::error, "engine.hicache", "--hicache-size", "DeepSeek-V4's host pools take a ratio only", text(*h.size_gb), "--hicache-ratio", "");
    }
    if (h.ratio && !(*h.ratio > 0 && std::isfinite(*h.ratio))) {
        add(out, Severity::error, "engine.hicache", "--hicache-ratio", "not a ratio", std::to_string(*h.ratio), "more than 0", "");
    }
}

void check_speculative(const Scenario& scenario, Diagnostics& out) {
    constexpr std::array<std::string_view, 10> kNames{"EAGLE", "EAGLE3", "NEXTN", "MTP", "STANDALONE", "NGRAM", "DFLASH", "DSPARK", "FROZEN_KV_MTP", "LOOKAHEAD"};
    const std::string& asked = scenario.engine.speculative.algorithm;
    if (asked.empty() || std::find(kNames.begin(), kNames.end(), asked) != kNames.end()) return;
    add(out, Severity::warning, "engine.speculative", "--speculative-algorithm", "not a drafting algorithm that is known here", asked,
        "EAGLE, EAGLE3, NEXTN, STANDALONE, NGRAM, DFLASH or DSPARK", did_you_mean(nearest_names(asked, kNames)));
}

}  // namespace

void check(const Scenario& scenario, Diagnostics& diagnostics) {
    check_version(scenario, diagnostics);
    if (!scenario.model) return;
    check_heads(scenario, diagnostics);
    check_groups(scenario, diagnostics);
    check_blocks(scenario, diagnostics);
    check_stages(scenario, diagnostics);
    check_memory(scenario, diagnostics);
    check_hicache(scenario, diagnostics);
    check_speculative(scenario, diagnostics);
}

}  // namespace kvplan::sglang
