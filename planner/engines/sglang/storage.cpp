#include "planner/engines/sglang/storage.hpp"

#include <charconv>

#include "models/json/document.hpp"
#include "planner/engines/sglang/versions.hpp"

namespace kvplan::sglang {
namespace {

constexpr Bytes kDefaultSegment = gibibytes(4), kClientBuffer{16'000'000}, kUsrbioFile = gibibytes(1024);

/// `global_segment_size` of the extra configuration. A file (@name) is not read: the default counts.
Bytes configured_segment(const std::string& config) {
    if (config.empty() || config.front() == '@') return kDefaultSegment;
    Diagnostics unheard;  // faults are told when the scenario is checked
    const auto document = json::parse(config, "--hicache-storage-backend-extra-config", unheard);
    if (!document || !document->root().is_object()) return kDefaultSegment;
    const json::Value size = document->root()["global_segment_size"];
    if (const auto text = size.string()) return segment_size(*text).value_or(kDefaultSegment);
    if (const auto bytes = size.integer()) return Bytes{*bytes};
    return kDefaultSegment;
}

Bytes mooncake_memory(const Scenario& scenario) {
    const Parallelism p = parallelism(scenario);
    const Bytes segment = configured_segment(scenario.engine.hicache.storage_backend_extra_config);
    const bool divided = in_force(Change::mooncake_segment_by_rank, rule_date(scenario.engine));
    return ((divided ? Bytes{segment.count() / p.tp} : segment) + kClientBuffer) * p.ranks_per_node;
}

}  // namespace

std::optional<Bytes> segment_size(std::string_view text) {
    double number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault != std::errc{} || number < 0 || number > 1e15) return std::nullopt;
    std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
    if (!unit.empty() && (unit.back() == 'b' || unit.back() == 'B')) unit.remove_suffix(1);
    constexpr std::string_view kUnits = "kmgt";
    double factor = 1;
    if (unit.size() == 1) {
        const std::size_t power = kUnits.find(static_cast<char>(unit.front() | 0x20));
        if (power == std::string_view::npos) return std::nullopt;
        for (std::size_t i = 0; i <= power; ++i) factor *= 1024;
    } else if (!unit.empty()) {
        return std::nullopt;
    }
    return number * factor < 9e18 ? std::optional<Bytes>(floor_bytes(number * factor)) : std::nullopt;
}

std::optional<StoragePlan> storage_tier(const Scenario& scenario, double slot_bytes, std::int64_t page, bool latent) {
    const EngineOptions& e = scenario.engine;
    const Parallelism p = parallelism(scenario);
    StoragePlan plan;
    if (e.lmcache_max_local_cpu_gb) {
        plan.backend = "lmcache";
        plan.host_bytes_per_node = nearest_bytes(*e.lmcache_max_local_cpu_gb * static_cast<double>(kGiB)) * p.ranks_per_node;
        return plan;
    }
    if (!e.hicache.enabled || e.hicache.storage_backend.empty() || e.hicache.storage_backend == "none") return std::nullopt;
    plan.backend = e.hicache.storage_backend;
    plan.page_bytes = ceil_bytes(slot_bytes * static_cast<double>(page));
    plan.parts = latent ? 1 : p.attention_tp;
    if (plan.backend == "mooncake") plan.host_bytes_per_node = mooncake_memory(scenario);
    if (plan.backend == "hf3fs") plan.file_bytes_per_node = kUsrbioFile * (latent ? 1 : p.ranks_per_node);
    return plan;
}

}  // namespace kvplan::sglang
