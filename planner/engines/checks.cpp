#include "planner/engines/checks.hpp"

#include <numeric>
#include <set>

#include "planner/engines/layer_partition.hpp"

namespace kvplan {
namespace {

std::string text(std::int64_t n) { return std::to_string(n); }

}  // namespace

void fault(Diagnostics& out, Severity severity, std::string code, std::string flag, std::string message, std::string found,
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

void check_version(const Version& version, const std::string& engine, const std::string& asked, Diagnostics& out) {
    const std::string near = did_you_mean(version.nearest);
    switch (version.match) {
        case VersionMatch::newest:
        case VersionMatch::date:
        case VersionMatch::release: return;
        case VersionMatch::between:
            fault(out, Severity::note, "engine.version", "--engine", "this release is not in the table of versions", asked, "",
                "planned with the rules of " + iso(version.date) + ", between its neighbours");
            return;
        case VersionMatch::after_table:
            fault(out, Severity::warning, "engine.version", "--engine", "newer than all that was read", asked,
                "up to " + version.nearest.front() + ", or nothing for the newest", "planned with the newest rules");
            return;
        case VersionMatch::before_table:
            fault(out, Severity::warning, "engine.version", "--engine", "older than all that was read", asked,
                version.nearest.front() + " or newer", "planned with the oldest rules");
            return;
        case VersionMatch::unreadable:
            fault(out, Severity::error, "engine.version", "--engine", "not a version of " + engine, asked,
                "a release (0.5.6, v0.11.0), a date (2026-08-22), or nothing for the newest", near);
            return;
    }
}

void check_heads(const Scenario& scenario, std::int64_t ranks, Diagnostics& out) {
    std::set<std::pair<std::int64_t, std::int64_t>> seen;
    const auto heads = [&](std::int64_t query, std::int64_t kv) {
        if (!seen.insert({query, kv}).second) return;
        if (query > 0 && query % ranks != 0) {
            fault(out, Severity::error, "engine.tp", "--tp-size", "the attention heads cannot be divided", text(ranks) + " ranks for " + text(query) + " heads",
                "a divisor of " + text(query), "tp / dp with DP attention is what splits the heads");
        }
        if (kv > 0 && kv % ranks != 0 && ranks % kv != 0) {
            fault(out, Severity::error, "engine.tp", "--tp-size", "the KV heads neither divide the ranks nor are divided by them",
                text(ranks) + " ranks for " + text(kv) + " KV heads", "a divisor or a multiple of " + text(kv), "");
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

void check_stages(const Scenario& scenario, Diagnostics& out) {
    const EngineOptions& e = scenario.engine;
    const std::int64_t layers = scenario.model->layers();
    if (e.pp > layers) fault(out, Severity::error, "engine.pp", "--pp-size", "more pipeline stages than layers", text(e.pp), "at most " + text(layers), "");
    if (e.parallel_layer_partition.empty()) return;
    const auto counts = layer_partition(e.parallel_layer_partition);
    const std::int64_t sum = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    if (static_cast<std::int64_t>(counts.size()) != e.pp || sum != layers) {
        fault(out, Severity::error, "engine.pp", "--pp-layer-partition", "the layer counts do not fit the model and the stages",
            e.parallel_layer_partition, text(e.pp) + " counts that sum to " + text(layers), "");
    }
}

}  // namespace kvplan
