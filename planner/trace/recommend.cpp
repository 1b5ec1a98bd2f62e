#include "planner/trace/recommend.hpp"

#include <algorithm>
#include <cmath>

#include "models/hardware/gpu_spec.hpp"
#include "planner/trace/reuse.hpp"

namespace kvplan::trace {

namespace {

/// GPU slots for prompts depend on how many requests run, and these on how much of each prompt is shared in the GPU; a
/// few rounds settle it.
constexpr int kRounds = 4;
constexpr std::int64_t kSizesShown = 12;

struct Deployment {
    const Trace& trace;
    const HitCurve& curve;
    const WorkloadFacts& facts;
    Scenario scenario;
    WritePolicy policy;
    double warmup_share;
};

std::int64_t blocks_in(const Trace& trace, Tokens tokens) { return tokens.count() / trace.block_tokens; }

/// Slots of one pool for prompts, by the fixed point of how many requests run and how much of each prompt is shared.
DeviceShare settled_share(const Deployment& d, Recommendation& result) {
    Scenario scenario = d.scenario;
    const double given_prefix = scenario.workload.shared_prefix_tokens;
    DeviceShare share{Tokens{-1}, Tokens{0}};
    for (int round = 0; round < kRounds; ++round) {
        const Plan planned = plan(scenario);
        result.in_flight_requests = planned.concurrency.per_dp_worker;
        const DeviceShare next = device_share(scenario, planned);
        const bool settled = next.prompts == share.prompts;
        share = next;
        if (settled) break;
        // The part of a prompt that is found in the GPU is held once for all, not by each request.
        const double resident = d.curve.at(blocks_in(d.trace, share.prompts)).token_rate * d.facts.input.mean;
        scenario.workload.shared_prefix_tokens = std::max(given_prefix, std::min(resident, static_cast<double>(share.prompts.count())));
    }
    return share;
}

HostSize host_size(const Deployment& d, std::int64_t size_gb, const Plan& planned, const TierResult& tiers, double device_rate) {
    HostSize size;
    size.hicache_size_gb = size_gb;
    size.host_tokens = planned.hicache.tokens;
    size.hit_rate = tiers.total_rate();
    size.gained = size.hit_rate - device_rate;
    const double requests = static_cast<double>(std::max<std::int64_t>(1, tiers.requests));
    const double input = static_cast<double>(tiers.input_tokens) / requests;
    size.prefill_saved_tokens = size.gained * input;
    const double per_token = planned.hicache.tokens.count() > 0 ? static_cast<double>(planned.hicache.bytes_per_rank.count()) /
                                                                      static_cast<double>(planned.hicache.tokens.count())
                                                                : 0.0;
    size.loaded_bytes = static_cast<double>(tiers.host_hit_tokens) / requests * per_token;
    if (const auto rate = host_rate(*d.scenario.gpu); rate && rate->value.value > 0.0) size.link_seconds = size.loaded_bytes / rate->value.value;
    if (planned.throughput.prefill && planned.throughput.prefill->value > 0.0)
        size.prefill_saved_seconds = size.prefill_saved_tokens / planned.throughput.prefill->value;
    if (size.link_seconds && size.prefill_saved_seconds) size.ttft_change_seconds = *size.link_seconds - *size.prefill_saved_seconds;
    size.safe = planned.host.safe_max && size_gb <= planned.host.safe_max->hicache_size_gb.value_or(0);
    return size;
}

TierResult tiers_at(const Deployment& d, std::int64_t device_blocks, std::int64_t host_blocks) {
    if (d.policy == WritePolicy::write_back)
        return simulate_tiers(d.trace, d.policy, {device_blocks, host_blocks, false, {}}, d.warmup_share);
    // Copies are made on the way in: the total is the curve at the host's capacity, and the GPU's part its own.
    const HitPoint device = d.curve.at(device_blocks), total = d.curve.at(std::max(device_blocks, host_blocks));
    TierResult result;
    result.requests = d.curve.requests;
    result.blocks = d.curve.blocks;
    result.input_tokens = d.curve.input_tokens;
    result.device_hit_blocks = device.blocks;
    result.device_hit_tokens = device.tokens;
    result.host_hit_blocks = total.blocks - device.blocks;
    result.host_hit_tokens = total.tokens - device.tokens;
    result.written_blocks = result.blocks - d.curve.at(host_blocks).blocks;
    return result;
}

/// Whole sizes up to the largest, about evenly spread, each once.
std::vector<std::int64_t> sizes_to_show(std::int64_t first, std::int64_t last) {
    std::vector<std::int64_t> sizes;
    for (std::int64_t i = 0; i < kSizesShown; ++i) {
        const std::int64_t size = first + (last - first) * i / (kSizesShown - 1);
        if (sizes.empty() || size > sizes.back()) sizes.push_back(size);
    }
    return sizes;
}

}  // namespace

std::int64_t knee_blocks(const HitCurve& curve, std::int64_t from_blocks) {
    const std::int64_t first = std::max<std::int64_t>(1, from_blocks), last = curve.last_useful();
    if (last <= first) return 0;
    const double low = curve.at(first).token_rate, high = curve.at(last).token_rate;
    if (high <= low) return 0;
    const double span = std::log2(static_cast<double>(last) / static_cast<double>(first));
    std::int64_t knee = first;
    double farthest = 0.0;
    for (std::int64_t capacity = first; capacity <= last; capacity += std::max<std::int64_t>(1, capacity / 512)) {
        const double along = std::log2(static_cast<double>(capacity) / static_cast<double>(first)) / span;
        const double above = (curve.at(capacity).token_rate - low) / (high - low) - along;
        if (above > farthest) {
            farthest = above;
            knee = capacity;
        }
    }
    // A curve that bends the other way (a cliff) is worth nothing before its end.
    return farthest > 0.0 ? knee : last;
}

Recommendation recommend(const Trace& trace, const HitCurve& curve) {
    Recommendation result;
    const std::int64_t knee = knee_blocks(curve);
    result.knee_tokens = knee * trace.block_tokens;
    result.knee_rate = curve.at(knee).token_rate;
    result.unlimited_rate = curve.at({}).token_rate;
    return result;
}

Recommendation recommend(const Trace& trace, const HitCurve& curve, const WorkloadFacts& facts, Scenario scenario,
                         WritePolicy policy, double warmup_share) {
    Recommendation result = recommend(trace, curve);
    result.policy = policy;
    scenario.engine.hicache.enabled = true;
    scenario.engine.hicache.ratio.reset();
    if (!scenario.engine.hicache.size_gb) scenario.engine.hicache.size_gb = 1;
    const Deployment d{trace, curve, facts, scenario, policy, warmup_share};
    const DeviceShare share = settled_share(d, result);
    const Tokens device = share.prompts;
    const std::int64_t device_blocks = blocks_in(trace, device);
    const double device_rate = curve.at(device_blocks).token_rate;
    result.device_tokens = device;
    result.device_rate = device_rate;
    result.device_rate_low = curve.at(blocks_in(trace, share.idle)).token_rate;

    const Plan first = plan(scenario);
    const auto planned_at = [&](std::int64_t size_gb) {
        Scenario sized = scenario;
        sized.engine.hicache.size_gb = size_gb;
        return plan(sized);
    };
    const auto evaluated = [&](std::int64_t size_gb) {
        const Plan planned = planned_at(size_gb);
        return host_size(d, size_gb, planned, tiers_at(d, device_blocks, blocks_in(trace, planned.hicache.tokens)), device_rate);
    };
    const std::int64_t smallest = std::max<std::int64_t>(1, first.host.min_useful ? first.host.min_useful->hicache_size_gb : 1);
    // What holds every block that ever hits again: nothing is gained beyond it.
    const double per_token = first.hicache.tokens.count() > 0 ? static_cast<double>(first.hicache.bytes_per_rank.count()) /
                                                                    static_cast<double>(first.hicache.tokens.count())
                                                              : 0.0;
    const auto all_gb = static_cast<std::int64_t>(std::ceil(static_cast<double>(curve.last_useful() + 1) * static_cast<double>(trace.block_tokens) * per_token / 1e9));
    const std::int64_t safe_gb = first.host.safe_max ? first.host.safe_max->hicache_size_gb.value_or(0) : 0;
    const std::int64_t shown_to = std::max<std::int64_t>(smallest, safe_gb > 0 ? std::min(safe_gb, std::max(all_gb, smallest)) : all_gb);
    for (const std::int64_t size : sizes_to_show(std::min(smallest, shown_to), shown_to)) result.sizes.push_back(evaluated(size));
    if (safe_gb > 0) result.largest_safe = evaluated(safe_gb);

    if (result.unlimited_rate - device_rate < kWorthwhileGain) {
        result.reason = "no_gain";
    } else if (!first.host.safe_max) {
        result.reason = "host_unknown";
    } else if (safe_gb < smallest) {
        result.reason = "no_room";
    } else if (result.largest_safe->gained < kWorthwhileGain) {
        result.reason = "small_gain";
    } else {
        // The hit rate rises with the size, so the smallest size that is good enough is found by halving.
        std::int64_t low = smallest, high = std::min(safe_gb, std::max(all_gb, smallest));
        const double wanted = result.largest_safe->gained * kShareOfGain;
        while (low < high) {
            const std::int64_t middle = low + (high - low) / 2;
            if (evaluated(middle).gained >= wanted) high = middle;
            else low = middle + 1;
        }
        result.recommended = evaluated(low);
        result.reason = "recommended";
    }
    return result;
}

}  // namespace kvplan::trace
