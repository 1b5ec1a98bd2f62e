#include "planner/host/findings.hpp"

#include <algorithm>

#include "planner/startup.hpp"
#include "units/format.hpp"

namespace kvplan {
namespace {

using Change = Finding::Change;

FindingValue bytes(std::string_view name, Bytes value) { return {name, "decimal_bytes", static_cast<double>(value.count()), {}}; }
FindingValue tokens(std::string_view name, Tokens value) { return {name, "tokens", static_cast<double>(value.count()), {}}; }
FindingValue count(std::string_view name, std::int64_t value) { return {name, "count", static_cast<double>(value), {}}; }
FindingValue seconds(std::string_view name, double value) { return {name, "seconds", value, {}}; }
FindingValue text(std::string_view name, std::string_view value) { return {name, "text", 0.0, std::string(value)}; }

/// Everything the single findings look at.
struct Subject {
    const Scenario& scenario;
    const Plan& plan;
    const HostRules& rules;
    std::vector<Finding> found;

    [[nodiscard]] bool cache_on() const { return plan.hicache.enabled && plan.hicache.bytes_per_rank.count() > 0; }
    [[nodiscard]] bool unsafe() const { return plan.host.safe && !*plan.host.safe; }
    [[nodiscard]] bool by_ratio() const {
        return rules.size_flag == HostRules::SizeFlag::none || (rules.size_flag == HostRules::SizeFlag::hicache_size && !scenario.engine.hicache.size_gb);
    }
    Finding& add(std::string_view code, FindingSeverity severity, std::vector<FindingValue> values, std::vector<std::string_view> fields,
                 std::vector<Change> remedy = {}) {
        found.push_back({code, severity, std::move(values), std::move(fields), std::move(remedy)});
        return found.back();
    }
};

bool window_empty(const HostPlan& host) {
    return host.safe_max && host.min_useful && host.safe_max->hicache_size_gb && *host.safe_max->hicache_size_gb < host.min_useful->hicache_size_gb;
}

/// The largest safe ratio, 0 when the engine would not start with it.
double safe_ratio(const Subject& s) {
    const double ratio = s.plan.host.safe_max ? s.plan.host.safe_max->hicache_ratio.value_or(0.0) : 0.0;
    return s.rules.refuses_smaller_than_device && ratio <= 1.0 ? 0.0 : ratio;
}

/// What makes the host cache safe: the safe size by the flag that was used, or no host cache where none is of use.
std::vector<Change> safe_change(const Subject& s) {
    const HostPlan& host = s.plan.host;
    if (!host.safe_max) return {};
    const HostPlan::SafeMax& safe = *host.safe_max;
    if (safe.lmcache_size_gb) {
        if (*safe.lmcache_size_gb == 0) return {};
        return {{"lmcache_max_local_cpu_size", std::to_string(*safe.lmcache_size_gb)}};
    }
    if (safe.kv_offloading_size_gib) {
        if (*safe.kv_offloading_size_gib == 0) return {};
        return {{"kv_offloading_size", std::to_string(*safe.kv_offloading_size_gib)}};
    }
    const double ratio = safe_ratio(s);
    if (s.by_ratio() && ratio > 0.0 && !window_empty(host)) return {{"hicache_ratio", shortest(ratio, 2)}};
    if (s.by_ratio() && s.rules.size_flag == HostRules::SizeFlag::none) return {{"enable_hierarchical_cache", "false"}};
    if (safe.hicache_size_gb.value_or(0) == 0 || window_empty(host)) return {{"enable_hierarchical_cache", "false"}};
    return {{"hicache_size", std::to_string(*safe.hicache_size_gb)}};
}

std::vector<std::string_view> size_fields(const Subject& s) {
    if (s.rules.size_flag == HostRules::SizeFlag::kv_offloading_size) return {"kv_offloading_size", "host_available"};
    return {s.by_ratio() ? std::string_view("hicache_ratio") : std::string_view("hicache_size"), "host_available"};
}

std::int64_t safe_size(const HostPlan::SafeMax& safe) {
    return safe.lmcache_size_gb.value_or(safe.kv_offloading_size_gib.value_or(safe.hicache_size_gb.value_or(0)));
}

/// "Take at most --hicache-size 39 (39.00 GB a rank with all pools), or --hicache-ratio 2.3".
std::string safe_flags(const Subject& s) {
    const HostPlan::SafeMax& safe = *s.plan.host.safe_max;
    const bool refused = s.rules.refuses_smaller_than_device && window_empty(s.plan.host);
    const std::int64_t size = safe_size(safe);
    std::string advice;
    if (size > 0 && !refused) {
        advice = safe.lmcache_size_gb ? "LMCACHE_MAX_LOCAL_CPU_SIZE=" : safe.kv_offloading_size_gib ? "--kv-offloading-size " : "--hicache-size ";
        advice += std::to_string(size) + " (" + decimal_size(safe.bytes_per_rank) + " a rank with all pools)";
    }
    const double ratio = safe_ratio(s);
    if (ratio > 0.0 && !refused) advice += (advice.empty() ? "" : ", or ") + std::string("--hicache-ratio ") + shortest(ratio, 2);
    if (!advice.empty()) return "Take at most " + advice;
    return refused ? "Start without the host cache, or cap the device pool (--max-total-tokens): what is safe is no larger than the device pool, and this version refuses that"
                   : "Start without the host cache: no size is safe";
}

std::vector<FindingValue> room(const Subject& s) {
    const HostPlan& host = s.plan.host;
    std::vector<FindingValue> values = {bytes("asked", s.plan.hicache.bytes_per_node), bytes("per_rank", s.plan.hicache.bytes_per_rank),
                                        count("ranks", host.ranks_per_node), bytes("required", host.required_bytes),
                                        bytes("required_high", host.required_high_bytes), bytes("available", *host.available_bytes),
                                        text("limit", name_of(host.limited_by))};
    if (host.safe_max) {
        values.push_back(text("advice", safe_flags(s)));
        values.push_back(count("safe_size", safe_size(*host.safe_max)));
        values.push_back({"safe_ratio", "ratio", host.safe_max->hicache_ratio.value_or(0.0), {}});
        values.push_back(bytes("safe_bytes_per_rank", host.safe_max->bytes_per_rank));
    }
    return values;
}

void find_lack(Subject& s) {
    const HostPlan& host = s.plan.host;
    if (!host.available_bytes && s.cache_on())
        s.add("host_memory_unknown", FindingSeverity::warning, {bytes("asked", s.plan.hicache.bytes_per_node)}, {"host_available", "host_ram"});
    if (!s.unsafe()) return;
    for (const HostBound& bound : host.bounds) {
        if (!bound.per_rank || host.pools_high_bytes_per_rank <= bound.bytes) continue;
        s.add("hicache_exceeds_lock_limit", FindingSeverity::error,
              {bytes("per_rank", host.pools_high_bytes_per_rank), bytes("limit_bytes", bound.bytes), text("limit", name_of(bound.limit))},
              {"memlock", "hicache_size"}, safe_change(s));
    }
    if (!host.available_bytes || host.required_high_bytes <= *host.available_bytes) return;
    if (!s.cache_on()) {
        s.add("host_ram_too_small", FindingSeverity::warning, room(s), {"host_available"});
    } else if (host.shortfall_bytes.count() > 0) {
        s.add("hicache_exceeds_host_ram", FindingSeverity::error, room(s), size_fields(s), safe_change(s));
    } else {
        s.add("host_memory_tight", FindingSeverity::warning, room(s), size_fields(s), safe_change(s));
    }
}

/// A size meant for the node: alone it is within the RAM, for every rank it is not.
void find_total_taken_for_rank(Subject& s) {
    const HostPlan& host = s.plan.host;
    const std::optional<std::int64_t>& size = s.scenario.engine.hicache.size_gb;
    if (!s.cache_on() || !s.unsafe() || !host.available_bytes || !size || s.rules.size_flag != HostRules::SizeFlag::hicache_size || host.ranks_per_node < 2) return;
    const Bytes once = gigabytes(*size);
    if (once > *host.available_bytes || once * host.ranks_per_node <= *host.available_bytes) return;
    s.add("hicache_size_is_per_rank", FindingSeverity::warning,
          {count("size", *size), count("ranks", host.ranks_per_node), bytes("asked", s.plan.hicache.bytes_per_node),
           count("share", *size / host.ranks_per_node)},
          {"hicache_size"}, safe_change(s));
}

/// Other ways to a useful host cache than capping the device pool.
std::string alternatives(const Subject& s) {
    std::string list;
    const auto add = [&](std::string_view change) { list += (list.empty() ? "" : ", ") + std::string(change); };
    const KvCachePlan& kv = s.plan.kv_cache;
    if (kv.dtype.find("fp8") == std::string_view::npos && kv.dtype.find("fp4") == std::string_view::npos) add("kv_cache_dtype=fp8_e4m3");
    if (kv.latent && s.plan.parallelism.attention_tp > 1) add("enable_dp_attention=true");
    if (s.scenario.engine.hicache.storage_backend.empty()) add("hicache_storage_backend=mooncake");
    if (s.rules.refuses_smaller_than_device) add("engine=sglang@2026-06-26");
    return list;
}

void find_window(Subject& s) {
    const HostPlan& host = s.plan.host;
    if (!s.plan.hicache.enabled || !window_empty(host)) return;
    std::vector<Change> remedy;
    const Tokens device = s.plan.capacity.max_total_num_tokens.expected;
    // Half of what the safe host pool holds leaves the engine's usual ratio of 2 between host and device.
    const double held = host.safe_max->hicache_ratio.value_or(0.0) * static_cast<double>(device.count());
    const std::int64_t cap = round_down(static_cast<std::int64_t>(held / 2.0), 1000);
    if (cap > 0 && *host.safe_max->hicache_size_gb > 0) {
        remedy = {{"max_total_tokens", std::to_string(cap)}, {"hicache_size", std::to_string(*host.safe_max->hicache_size_gb)}};
    }
    s.add("hicache_window_empty", FindingSeverity::warning,
          {count("safe_size", *host.safe_max->hicache_size_gb), count("min_useful", host.min_useful->hicache_size_gb), text("reason", host.min_useful->reason),
           tokens("device_tokens", device), text("alternatives", alternatives(s))},
          {"hicache_size", "max_total_tokens", "kv_cache_dtype", "enable_dp_attention", "hicache_storage_backend"}, std::move(remedy));
}

void find_small_pool(Subject& s) {
    const Tokens device = s.plan.capacity.max_total_num_tokens.expected;
    if (!s.cache_on() || s.plan.hicache.tokens.count() <= 0 || s.plan.hicache.tokens > device) return;
    const HostPlan& host = s.plan.host;
    std::vector<Change> remedy;
    if (host.min_useful && !window_empty(host)) remedy = {{"hicache_size", std::to_string(host.min_useful->hicache_size_gb)}};
    const bool own_flags = s.rules.size_flag != HostRules::SizeFlag::kv_offloading_size;
    std::vector<FindingValue> values = {tokens("host_tokens", s.plan.hicache.tokens), tokens("device_tokens", device),
                                        text("ways", own_flags ? "Take a larger size, cap --max-total-tokens, or --hicache-write-policy write_back"
                                                     : s.scenario.engine.lmcache_max_local_cpu_gb ? "Raise LMCACHE_MAX_LOCAL_CPU_SIZE, or lower --gpu-memory-utilization"
                                                                                                 : "Take a larger --kv-offloading-size, or lower --gpu-memory-utilization")};
    const std::vector<std::string_view> size_flags = own_flags ? std::vector<std::string_view>{"hicache_size", "hicache_ratio"}
                                                               : std::vector<std::string_view>{"kv_offloading_size", "gpu_memory_utilization"};
    if (s.rules.refuses_smaller_than_device) {
        s.add("hicache_refused_by_engine", FindingSeverity::error, std::move(values), {"hicache_size", "hicache_ratio"}, std::move(remedy));
    } else if (s.scenario.engine.hicache.write_policy != "write_back") {
        s.add("hicache_not_larger_than_device", FindingSeverity::warning, std::move(values), size_flags, std::move(remedy));
    }
}

/// Whether the engine would have stopped by itself, and what it does not see.
void find_own_check(Subject& s) {
    const HostPlan& host = s.plan.host;
    if (!s.cache_on()) return;
    if (host.engine_check_catches && !*host.engine_check_catches) {
        const std::string ranks = std::to_string(host.ranks_per_node);
        const std::string how = !s.rules.check_reserve ? "it has no check of the kind"
                                : s.rules.check_divides_by_ranks ? "its check gives each of the " + ranks + " ranks a share of the free RAM, but counts neither the processes nor a container's limit"
                                                                 : "each of the " + ranks + " ranks compares its own pools with the machine's whole free RAM, before the pages of the others are touched";
        s.add("engine_check_blind", FindingSeverity::warning, {count("ranks", host.ranks_per_node), bytes("per_rank", s.plan.hicache.bytes_per_rank), text("how", how)}, {"engine"});
    }
    if (host.engine_check_catches && *host.engine_check_catches) {
        s.add("engine_check_refuses", FindingSeverity::note, {bytes("per_rank", s.plan.hicache.bytes_per_rank), count("ranks", host.ranks_per_node)}, {"engine"});
    }
    const Parallelism& p = s.plan.parallelism;
    const std::int64_t servers = std::max<std::int64_t>(1, s.scenario.hardware.host.instances_per_node) * p.replicas;
    if (servers > 1 && p.ranks_per_node > p.ranks_per_replica) {
        s.add("engine_counts_one_server", FindingSeverity::note, {count("servers", servers), count("ranks", p.ranks_per_node)}, {"dp_size", "instances_per_node"});
    }
    if (host.limited_by == HostLimit::cgroup && s.rules.check_reserve) {
        s.add("cgroup_limit_unseen", s.unsafe() ? FindingSeverity::warning : FindingSeverity::note, {bytes("available", *host.available_bytes)}, {"cgroup_limit"});
    }
}

/// Pools that the flag does not count.
void find_extra_pools(Subject& s) {
    if (!s.cache_on()) return;
    for (const HicachePool& pool : s.plan.hicache.pools) {
        if (!s.scenario.engine.hicache.size_gb || s.by_ratio()) break;  // a ratio is one of every pool
        const bool indexer = pool.name.find("indexer") != std::string_view::npos;
        const bool draft = pool.name.find("draft") != std::string_view::npos;
        const bool own_size = pool.name.find("swa") != std::string_view::npos || pool.name.find("mamba") != std::string_view::npos;
        const std::string_view code = indexer ? "hicache_indexer_beyond_size" : draft ? "hicache_draft_beyond_size" : own_size ? "hicache_size_per_pool" : "";
        if (code.empty() || pool.bytes_per_rank.count() == 0) continue;
        s.add(code, FindingSeverity::note,
              {text("pool", pool.name), bytes("pool_bytes", pool.bytes_per_rank), bytes("per_rank", s.plan.hicache.bytes_per_rank)}, {"hicache_size"});
    }
    if (s.rules.pins_power_of_two && s.scenario.engine.hicache.size_gb) {
        s.add("hicache_power_of_two", FindingSeverity::note,
              {count("size", *s.scenario.engine.hicache.size_gb), bytes("per_rank", s.plan.hicache.bytes_per_rank)}, {"hicache_size", "engine"});
    }
}

void find_replication(Subject& s) {
    if (!s.cache_on()) return;
    s.add("host_cache_no_concurrency", FindingSeverity::note, {tokens("device_tokens", s.plan.capacity.max_total_num_tokens.expected)}, {"enable_hierarchical_cache"});
    if (s.plan.hicache.replication < 2) return;
    const bool own_flags = s.rules.size_flag != HostRules::SizeFlag::kv_offloading_size;
    const std::vector<std::string_view> fields = own_flags ? std::vector<std::string_view>{"enable_dp_attention", "hicache_storage_backend"}
                                                           : std::vector<std::string_view>{"dp_size", "enable_expert_parallel"};
    s.add("hicache_replicated_copies", FindingSeverity::note,
          {count("copies", s.plan.hicache.replication), bytes("node_bytes", s.plan.hicache.bytes_per_node), tokens("distinct_tokens", s.plan.hicache.distinct_tokens),
           text("ways", own_flags ? "DP attention gives each worker tokens of its own; a storage backend keeps one copy"
                                  : "With --data-parallel-size and --enable-expert-parallel each rank keeps tokens of its own")},
          fields);
}

void find_host_setup(Subject& s) {
    const HostOptions& host = s.scenario.hardware.host;
    const Plan& plan = s.plan;
    if (host.shm_size && s.rules.pool_in_shm && s.cache_on() && plan.hicache.bytes_per_node > *host.shm_size) {
        s.add("host_pool_exceeds_shm", FindingSeverity::error, {bytes("asked", plan.hicache.bytes_per_node), bytes("shm", *host.shm_size)}, {"shm_size", "kv_offloading_size"});
    } else if (host.shm_size && *host.shm_size < gibibytes(1) && plan.parallelism.ranks_per_node > 1) {
        s.add("shm_small", FindingSeverity::warning, {bytes("shm", *host.shm_size), count("ranks", plan.parallelism.ranks_per_node)}, {"shm_size"}, {{"shm_size", "32GiB"}});
    }
    if (!s.cache_on()) return;
    if (host.huge_pages_reserved && *host.huge_pages_reserved >= gibibytes(1)) {
        s.add("huge_pages_set_aside", s.unsafe() ? FindingSeverity::warning : FindingSeverity::note, {bytes("huge_pages", *host.huge_pages_reserved)}, {"huge_pages_reserved"});
    }
    if (plan.host.available_bytes && plan.host.available_basis == Basis::assumed && !host.available && host.ram) {
        s.add("host_available_assumed", FindingSeverity::note, {bytes("ram", *host.ram), bytes("available", *plan.host.available_bytes)}, {"host_ram", "host_available"});
    }
    const auto origin = s.scenario.origin.find("memlock");
    if (host.memlock && origin != s.scenario.origin.end() && origin->second == "probe" && *host.memlock < plan.hicache.bytes_per_rank) {
        s.add("memlock_probed", FindingSeverity::note, {bytes("memlock", *host.memlock), bytes("per_rank", plan.hicache.bytes_per_rank)}, {"memlock"});
    }
}

void find_flags(Subject& s) {
    const HicacheOptions& cache = s.scenario.engine.hicache;
    if (!cache.enabled && (cache.size_gb || cache.ratio) && s.rules.size_flag == HostRules::SizeFlag::hicache_size) {
        s.add("hicache_flags_without_effect", FindingSeverity::note, {}, {"hicache_size", "hicache_ratio", "enable_hierarchical_cache"});
    }
    if (s.cache_on() && cache.size_gb && cache.ratio && s.rules.size_flag == HostRules::SizeFlag::hicache_size) {
        s.add("hicache_size_overrides_ratio", FindingSeverity::note, {count("size", *cache.size_gb), {"ratio", "ratio", *cache.ratio, {}}}, {"hicache_size", "hicache_ratio"});
    }
}

void find_slow_start(Subject& s) {
    if (!s.cache_on() && !s.scenario.hardware.host.startup_limit_seconds) return;
    const double limit = s.scenario.hardware.host.startup_limit_seconds.value_or(kDefaultStartupLimitSeconds);
    const Estimate<double> start = startup_seconds(s.scenario, s.plan);
    if (start.high <= limit) return;
    const bool expected = start.expected > limit;
    s.add(expected ? "startup_exceeds_watchdog" : "startup_may_exceed_watchdog", expected ? FindingSeverity::warning : FindingSeverity::note,
          {seconds("expected", start.expected), seconds("high", start.high), seconds("limit", limit)}, {"startup_limit"});
}

}  // namespace

std::vector<Finding> host_findings(const Scenario& scenario, const Plan& plan, const HostRules& rules) {
    Subject subject{scenario, plan, rules, {}};
    find_lack(subject);
    find_total_taken_for_rank(subject);
    find_own_check(subject);
    find_window(subject);
    find_small_pool(subject);
    find_replication(subject);
    find_extra_pools(subject);
    find_flags(subject);
    find_host_setup(subject);
    find_slow_start(subject);
    std::stable_sort(subject.found.begin(), subject.found.end(), [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
    return std::move(subject.found);
}

}  // namespace kvplan
