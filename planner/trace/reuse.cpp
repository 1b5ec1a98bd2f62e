#include "planner/trace/reuse.hpp"

#include <algorithm>

#include "planner/concurrency/concurrency.hpp"
#include "planner/trace/recommend.hpp"
#include "units/diagnostic.hpp"

namespace kvplan::trace {

bool resolve_reuse(Scenario& scenario, Diagnostics& diagnostics) {
    const std::string& file = scenario.workload.workload_from;
    if (file.empty()) return true;
    if (!scenario.reuse) {
        const auto trace = read_trace({file}, {}, diagnostics);
        if (!trace) return false;
        Reuse reuse;
        reuse.block_tokens = trace->block_tokens;
        if (trace->has_blocks()) reuse.curve = hit_curve(*trace);
        reuse.facts = workload_facts(*trace, reuse.curve ? std::optional(reuse.curve->at({}).token_rate) : std::nullopt);
        scenario.reuse = std::make_shared<const Reuse>(std::move(reuse));
    }
    use_as_workload(scenario.reuse->facts, scenario);
    return true;
}

DeviceShare device_share(const Scenario& scenario, const Plan& plan) {
    const Tokens pool = plan.capacity.max_total_num_tokens.expected;
    const std::int64_t workers = std::max<std::int64_t>(1, plan.parallelism.replicas * plan.parallelism.dp_attention);
    DeviceShare share{pool, pool};
    const auto request = request_shape(scenario.workload);
    if (!request || !plan.concurrency.per_dp_worker) return share;
    const double generated = *plan.concurrency.per_dp_worker * request->output / 2.0 * (1.0 + request->output_cv2);
    share.prompts = Tokens{std::max<std::int64_t>(0, pool.count() - static_cast<std::int64_t>(generated))};
    if (plan.concurrency.idle_prefix_tokens) share.idle = std::min(share.prompts, Tokens{plan.concurrency.idle_prefix_tokens->count() / workers});
    return share;
}

std::optional<ReusePlan> plan_reuse(const Scenario& scenario, const Plan& plan) {
    if (!scenario.reuse || !scenario.reuse->curve) return std::nullopt;
    const HitCurve& curve = *scenario.reuse->curve;
    const std::int64_t block = scenario.reuse->block_tokens;
    const Tokens pool = plan.capacity.max_total_num_tokens.expected;
    const DeviceShare share = device_share(scenario, plan);
    ReusePlan result;
    result.device_tokens = share.prompts;
    result.device_rate_low = curve.at(share.idle.count() / block).token_rate;
    const std::int64_t device = result.device_tokens.count() / block;
    const auto with_host = [&](std::int64_t host_tokens) { return curve.at(std::max(device, host_tokens / block)).token_rate; };
    result.device_rate = curve.at(device).token_rate;
    result.total_rate = plan.hicache.enabled ? with_host(plan.hicache.tokens.count()) : result.device_rate;
    // The host pool in tokens is its ratio to the device pool in tokens.
    if (plan.host.safe_max && plan.host.safe_max->hicache_ratio)
        result.safe_rate = with_host(static_cast<std::int64_t>(*plan.host.safe_max->hicache_ratio * static_cast<double>(pool.count())));
    result.unlimited_rate = curve.at({}).token_rate;
    result.knee_tokens = Tokens{knee_blocks(curve) * block};
    return result;
}

Scenario with_hits(const Scenario& scenario, const Plan& plan) {
    Scenario copy = scenario;
    if (plan.reuse && !copy.workload.hit_rate) copy.workload.hit_rate = plan.reuse->total_rate;
    return copy;
}

std::vector<Finding> reuse_findings(const Scenario& /*scenario*/, const Plan& plan) {
    std::vector<Finding> findings;
    if (!plan.reuse) return findings;
    const ReusePlan& reuse = *plan.reuse;
    const auto share = [](std::string_view name, double rate) { return FindingValue{name, "ratio", rate * 100.0, {}}; };
    const auto tokens = [](std::string_view name, Tokens count) { return FindingValue{name, "tokens", static_cast<double>(count.count()), {}}; };
    const auto add = [&](std::string_view code, std::vector<FindingValue> values, std::vector<Finding::Change> remedy) {
        // Advice when no host cache is asked for, a warning when one is.
        findings.push_back({code, plan.hicache.enabled ? FindingSeverity::warning : FindingSeverity::note, std::move(values), {"enable_hierarchical_cache", "hicache_size"}, std::move(remedy)});
    };
    const std::vector<Finding::Change> off = plan.hicache.enabled ? std::vector<Finding::Change>{{"enable_hierarchical_cache", "false"}} : std::vector<Finding::Change>{};
    if (reuse.unlimited_rate - reuse.device_rate < kWorthwhileGain) {
        add("host_cache_no_gain", {share("device_share", reuse.device_rate), share("unlimited_share", reuse.unlimited_rate)}, off);
    } else if (reuse.safe_rate && *reuse.safe_rate - reuse.device_rate < kWorthwhileGain) {
        add("host_cache_beyond_safe", {share("safe_share", *reuse.safe_rate), share("device_share", reuse.device_rate), tokens("knee", reuse.knee_tokens)}, off);
    } else if (plan.hicache.enabled && plan.hicache.tokens <= reuse.device_tokens) {
        add("host_cache_too_small", {tokens("host", plan.hicache.tokens), share("safe_share", reuse.safe_rate.value_or(reuse.unlimited_rate))}, {});
    }
    return findings;
}

}  // namespace kvplan::trace
