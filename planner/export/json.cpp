#include "planner/export/json.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "planner/engines/engine.hpp"
#include "planner/export/finding_text.hpp"
#include "planner/export/launch.hpp"
#include "planner/fields/fields.hpp"

namespace kvplan::exporting {

using Json = nlohmann::ordered_json;

namespace {

// A real number that is whole is written as an integer: bytes per token 70272, not 70272.0.
Json number(double x) {
    if (!std::isfinite(x)) return nullptr;
    if (x == std::floor(x) && std::abs(x) < 9e15) return static_cast<std::int64_t>(x);
    return x;
}

Json of(Bytes bytes) { return bytes.count(); }
Json of(Tokens tokens) { return tokens.count(); }
Json of(Requests requests) { return requests.count(); }
Json of(double x) { return number(x); }
Json of(std::int64_t n) { return n; }
Json of(bool b) { return b; }
Json of(std::string_view text) { return std::string(text); }
template <class Kind>
Json of(Rate<Kind> rate) {
    return number(rate.value);
}

template <class T>
Json of(const std::optional<T>& value);

template <class T>
Json of(const Estimate<T>& estimate) {
    Json json;
    json["low"] = of(estimate.low);
    json["expected"] = of(estimate.expected);
    json["high"] = of(estimate.high);
    json["basis"] = name_of(estimate.basis);
    return json;
}

template <class T>
Json of(const std::optional<T>& value) {
    if (!value) return nullptr;
    return of(*value);
}

Json weights(const WeightsPlan& plan) {
    Json components = Json::array();
    for (const WeightComponent& component : plan.components)
        components.push_back({{"name", component.name}, {"bytes_per_rank", of(component.bytes_per_rank)}, {"replicated", component.replicated}});
    Json stages = Json::array();
    for (const Bytes stage : plan.stage_bytes) stages.push_back(of(stage));
    return {{"bytes_per_rank", of(plan.bytes_per_rank)},
            {"checkpoint_bytes", of(plan.checkpoint_bytes)},
            {"total_params", plan.total_params},
            {"stored_elements", plan.stored_elements},
            {"active_params", plan.active_params},
            {"components", components},
            {"stage_bytes", stages},
            {"draft_bytes", of(plan.draft_bytes)}};
}

Json kv_cache(const KvCachePlan& plan) {
    Json groups = Json::array();
    for (const KvGroup& group : plan.groups) {
        Json entry{{"kind", name_of(group.kind)}, {"layers", group.layers.count()}, {"bytes_per_token", of(group.bytes_per_token)}};
        if (group.bytes_per_slot.count() > 0) entry["bytes_per_slot"] = of(group.bytes_per_slot);
        groups.push_back(std::move(entry));
    }
    return {{"bytes_per_token", of(plan.bytes_per_token)},
            {"budget_bytes_per_token", of(plan.budget_bytes_per_token)},
            {"state_bytes_per_slot", of(plan.state_bytes_per_slot)},
            {"dtype", of(plan.dtype)},
            {"page_size", of(plan.page_size)},
            {"kv_head_replication", plan.kv_head_replication},
            {"groups", groups}};
}

Json gpu(const GpuPlan& plan) {
    Json items = Json::array();
    for (const NamedBytes& item : plan.slack_items) items.push_back({{"name", item.name}, {"bytes", of(item.bytes)}});
    const MemFraction& f = plan.mem_fraction;
    return {{"total_bytes", of(plan.total_bytes)},
            {"free_before_load_bytes", of(plan.free_before_load_bytes)},
            {"budget_bytes", of(plan.budget_bytes)},
            {"weights_bytes", of(plan.weights_bytes)},
            {"kv_pool_bytes", of(plan.kv_pool_bytes)},
            {"state_pool_bytes", of(plan.state_pool_bytes)},
            {"slack_bytes", of(plan.slack_bytes)},
            {"shortfall_bytes", of(plan.shortfall_bytes)},
            {"slack_items", items},
            {"left_after_pools_bytes", of(plan.left_after_pools_bytes)},
            {"left_after_graphs_bytes", of(plan.left_after_graphs_bytes)},
            {"mem_fraction",
             {{"value", of(f.value)},
              {"source", name_of(f.source)},
              {"feasible_min", of(f.feasible_min)},
              {"feasible_max", of(f.feasible_max)},
              {"recommended", of(f.recommended)}}}};
}

Json capacity(const CapacityPlan& plan) {
    return {{"max_total_num_tokens", of(plan.max_total_num_tokens)},
            {"swa_tokens", of(plan.swa_tokens)},
            {"state_slots", of(plan.state_slots)},
            {"state_slots_per_request", of(plan.state_slots_per_request)},
            {"distinct_tokens", of(plan.distinct_tokens)},
            {"max_running_requests", of(plan.max_running_requests)},
            {"longest_request_tokens", of(plan.longest_request_tokens)},
            {"max_concurrency_full_context", of(plan.max_concurrency_full_context)}};
}

Json storage(const std::optional<StoragePlan>& plan) {
    if (!plan) return nullptr;
    return {{"backend", plan->backend},
            {"host_bytes_per_node", of(plan->host_bytes_per_node)},
            {"page_bytes", of(plan->page_bytes)},
            {"parts", plan->parts},
            {"file_bytes_per_node", of(plan->file_bytes_per_node)}};
}

Json hicache(const HicachePlan& plan) {
    Json pools = Json::array();
    for (const HicachePool& pool : plan.pools)
        pools.push_back({{"name", pool.name}, {"bytes_per_rank", of(pool.bytes_per_rank)}, {"slots", of(pool.slots)}});
    const auto when = [&](Json value) { return plan.enabled ? std::move(value) : Json(nullptr); };
    return {{"enabled", plan.enabled},
            {"tokens", when(of(plan.tokens))},
            {"bytes_per_rank", when(of(plan.bytes_per_rank))},
            {"bytes_per_node", when(of(plan.bytes_per_node))},
            {"pools", pools},
            {"distinct_tokens", when(of(plan.distinct_tokens))},
            {"replication", when(plan.replication)},
            {"gpu_staging_bytes", when(of(plan.gpu_staging_bytes))},
            {"storage", storage(plan.storage)}};
}

Json host_bounds(const HostPlan& plan) {
    Json bounds = Json::array();
    for (const HostBound& bound : plan.bounds)
        bounds.push_back({{"limit", name_of(bound.limit)}, {"bytes", of(bound.bytes)}, {"per_rank", bound.per_rank}});
    return bounds;
}

Json host(const HostPlan& plan) {
    Json safe_max = nullptr;
    if (plan.safe_max)
        safe_max = {{"hicache_size_gb", of(plan.safe_max->hicache_size_gb)},
                    {"hicache_ratio", of(plan.safe_max->hicache_ratio)},
                    {"kv_offloading_size_gib", of(plan.safe_max->kv_offloading_size_gib)},
                    {"lmcache_size_gb", of(plan.safe_max->lmcache_size_gb)},
                    {"bytes_per_rank", of(plan.safe_max->bytes_per_rank)},
                    {"limited_by", name_of(plan.safe_max->limited_by)}};
    Json min_useful = nullptr;
    if (plan.min_useful) min_useful = {{"hicache_size_gb", plan.min_useful->hicache_size_gb}, {"reason", of(plan.min_useful->reason)}};
    return {{"available_bytes", of(plan.available_bytes)},
            {"available_basis", plan.available_bytes ? Json(name_of(plan.available_basis)) : Json(nullptr)},
            {"bounds", host_bounds(plan)},
            {"reserve_bytes", of(plan.reserve_bytes)},
            {"process_bytes", of(plan.process_bytes)},
            {"storage_bytes", of(plan.storage_bytes)},
            {"offloaded_weights_bytes", of(plan.offloaded_weights_bytes)},
            {"device_bytes", of(plan.device_bytes)},
            {"pools_high_bytes_per_rank", of(plan.pools_high_bytes_per_rank)},
            {"required_bytes", of(plan.required_bytes)},
            {"required_high_bytes", of(plan.required_high_bytes)},
            {"headroom_bytes", of(plan.headroom_bytes)},
            {"shortfall_bytes", of(plan.shortfall_bytes)},
            {"ranks_per_node", plan.ranks_per_node},
            {"limited_by", name_of(plan.limited_by)},
            {"safe_max", safe_max},
            {"min_useful", min_useful},
            {"engine_check_catches", of(plan.engine_check_catches)}};
}

Json concurrency(const ConcurrencyPlan& plan) {
    Json contexts = Json::array();
    for (const ConcurrencyByContext& row : plan.by_context)
        contexts.push_back({{"context_tokens", of(row.context_tokens)}, {"full_length", row.full_length}, {"steady_state", of(row.steady_state)}});
    return {{"full_length", of(plan.full_length)},
            {"steady_state", of(plan.steady_state)},
            {"steady_state_low", of(plan.steady_state_low)},
            {"steady_state_high", of(plan.steady_state_high)},
            {"retraction_free", of(plan.retraction_free)},
            {"admission", of(plan.admission)},
            {"offered", of(plan.offered)},
            {"limited_by", name_of(plan.limited_by)},
            {"per_dp_worker", of(plan.per_dp_worker)},
            {"token_usage", of(plan.token_usage)},
            {"idle_prefix_tokens", of(plan.idle_prefix_tokens)},
            {"by_context", contexts}};
}

Json latency(const LatencyPlan& plan) {
    return {{"ttft_seconds", of(plan.ttft_seconds)}, {"itl_seconds", of(plan.itl_seconds)}, {"startup_seconds", of(plan.startup_seconds)}};
}

Json throughput(const ThroughputPlan& plan) {
    Json ceilings = Json::array();
    for (const Ceiling& ceiling : plan.ceilings)
        ceilings.push_back({{"resource", ceiling.resource}, {"tokens_per_second", of(ceiling.tokens_per_second)}});
    Json curve = Json::array();
    for (const ThroughputPoint& point : plan.curve)
        curve.push_back({{"concurrency", of(point.concurrency)},
                         {"output_tokens_per_second", of(point.output_tokens_per_second)},
                         {"step_seconds", of(point.step_seconds)},
                         {"limited_by", point.limited_by},
                         {"ttft_seconds", of(point.ttft_seconds)},
                         {"itl_seconds", of(point.itl_seconds)},
                         {"expected_output_tokens_per_second", of(point.expected_output_tokens_per_second)},
                         {"expected_ttft_seconds", of(point.expected_ttft_seconds)},
                         {"expected_itl_seconds", of(point.expected_itl_seconds)}});
    Json changes = Json::array();
    for (const ThroughputChange& change : plan.changes)
        changes.push_back({{"concurrency", of(change.concurrency)}, {"from", change.from}, {"to", change.to}});
    Json hardware;
    if (plan.hardware)
        hardware = {{"output_tokens_per_second", of(plan.hardware->output_tokens_per_second)},
                    {"concurrency", of(plan.hardware->concurrency)},
                    {"limited_by", plan.hardware->limited_by}};
    Json host_tier;
    if (plan.host_tier)
        host_tier = {{"prefill_seconds_saved", of(plan.host_tier->prefill_seconds_saved)},
                     {"host_link_seconds", of(plan.host_tier->host_link_seconds)},
                     {"output_change_per_second", of(plan.host_tier->output_change_per_second)}};
    return {{"decode_tokens_per_second", of(plan.decode)},
            {"prefill_tokens_per_second", of(plan.prefill)},
            {"output_tokens_per_second", of(plan.output)},
            {"requests_per_second", of(plan.requests_per_second)},
            {"limited_by", plan.limited_by.empty() ? Json(nullptr) : of(plan.limited_by)},
            {"expected_output_tokens_per_second", of(plan.expected_output_tokens_per_second)},
            {"ceilings", ceilings},
            {"curve", curve},
            {"changes", changes},
            {"hardware", hardware},
            {"host_tier", host_tier}};
}

Json findings(const std::vector<Finding>& all) {
    Json list = Json::array();
    for (const Finding& finding : all) {
        Json fields = Json::array();
        for (const std::string_view field : finding.fields) fields.push_back(field);
        const FindingText text = text_of(finding);
        Json changes = Json::array();
        for (const Finding::Change& change : finding.remedy) changes.push_back({{"field", change.field}, {"value", change.value}});
        list.push_back({{"code", finding.code},
                        {"severity", name_of(finding.severity)},
                        {"message", text.message},
                        {"remedy", text.remedy},
                        {"fields", fields},
                        {"changes", changes}});
    }
    return list;
}

Json reuse(const std::optional<ReusePlan>& plan) {
    if (!plan) return nullptr;
    return {{"device_tokens", plan->device_tokens.count()},
            {"device_hit_rate", plan->device_rate},
            {"device_hit_rate_low", plan->device_rate_low},
            {"hit_rate", plan->total_rate},
            {"safe_hit_rate", of(plan->safe_rate)},
            {"unlimited_hit_rate", plan->unlimited_rate},
            {"knee_tokens", plan->knee_tokens.count()}};
}

}  // namespace

Json scenario_json(const Scenario& scenario) {
    struct ToJson {
        Json operator()(std::monostate) const { return nullptr; }
        Json operator()(bool b) const { return b; }
        Json operator()(std::int64_t n) const { return n; }
        Json operator()(double x) const { return number(x); }
        Json operator()(const std::string& text) const { return text; }
        Json operator()(Bytes bytes) const { return kvplan::text_of(FieldValue{bytes}); }
    };
    Json fields = Json::object();
    const std::vector<EngineDefault> defaults = scenario.model && scenario.gpu ? engine_of(scenario.engine).defaults(scenario) : std::vector<EngineDefault>{};
    for (const FieldSpec& field : scenario_fields()) {
        const auto origin = scenario.origin.find(std::string(field.name));
        const auto filled = std::find_if(defaults.begin(), defaults.end(), [&](const EngineDefault& d) { return d.field == field.name; });
        if (filled != defaults.end() && kvplan::text_of(field.get(scenario)).empty()) {
            fields[std::string(field.name)] = {{"value", std::visit(ToJson{}, filled->value)}, {"from", kFromEngine}};
            continue;
        }
        fields[std::string(field.name)] = {{"value", std::visit(ToJson{}, field.get(scenario))},
                                           {"from", origin == scenario.origin.end() ? "default" : origin->second}};
    }
    return fields;
}

Json plan_member(const Plan& plan, std::string_view name) {
    if (name == "fits") return plan.fits;
    if (name == "safe") return of(plan.safe);
    if (name == "rule_set") return plan.rule_set;
    if (name == "weights") return weights(plan.weights);
    if (name == "kv_cache") return kv_cache(plan.kv_cache);
    if (name == "gpu") return gpu(plan.gpu);
    if (name == "capacity") return capacity(plan.capacity);
    if (name == "hicache") return hicache(plan.hicache);
    if (name == "host") return host(plan.host);
    if (name == "concurrency") return concurrency(plan.concurrency);
    if (name == "latency") return latency(plan.latency);
    if (name == "throughput") return throughput(plan.throughput);
    if (name == "reuse") return reuse(plan.reuse);
    if (name == "findings") return findings(plan.findings);
    return nullptr;
}

Json plan_json(const Scenario& scenario, const Plan& plan) {
    const LaunchText launch = launch_text(scenario, plan);
    Json changed = Json::array();
    for (const LaunchChange& change : launch.changed)
        changed.push_back({{"flag", change.flag}, {"from", change.from}, {"to", change.to}, {"why", change.why}});
    return {{"schema_version", kSchemaVersion},
            {"fits", plan.fits},
            {"safe", of(plan.safe)},
            {"rule_set", plan.rule_set},
            {"scenario", scenario_json(scenario)},
            {"weights", weights(plan.weights)},
            {"kv_cache", kv_cache(plan.kv_cache)},
            {"gpu", gpu(plan.gpu)},
            {"capacity", capacity(plan.capacity)},
            {"hicache", hicache(plan.hicache)},
            {"host", host(plan.host)},
            {"concurrency", concurrency(plan.concurrency)},
            {"latency", latency(plan.latency)},
            {"throughput", throughput(plan.throughput)},
            {"reuse", reuse(plan.reuse)},
            {"findings", findings(plan.findings)},
            {"launch", {{"command", launch.command}, {"changed", changed}, {"notes", launch.notes}}}};
}

std::string dump(const Json& document) {
    // Invalid UTF-8 from a file name is replaced, never thrown over.
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kvplan::exporting
