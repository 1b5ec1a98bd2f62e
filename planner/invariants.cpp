#include <cmath>

#include "planner/findings.hpp"
#include "units/format.hpp"

namespace kvplan {

namespace {

class Checks {
public:
    void expect(bool holds, std::string what) {
        if (!holds) broken_.push_back(std::move(what));
    }
    void not_negative(Bytes bytes, const char* name) {
        expect(bytes.count() >= 0, std::string(name) + " is negative: " + with_commas(bytes.count()));
    }
    template <class T>
    void ordered(const Estimate<T>& estimate, const char* name) {
        expect(estimate.low <= estimate.expected && estimate.expected <= estimate.high,
               std::string(name) + ": low <= expected <= high does not hold");
    }
    std::vector<std::string> take() { return std::move(broken_); }

private:
    std::vector<std::string> broken_;
};

void check_weights(const WeightsPlan& weights, Checks& checks) {
    checks.ordered(weights.bytes_per_rank, "weights.bytes_per_rank");
    Bytes sum;
    for (const WeightComponent& component : weights.components) {
        checks.not_negative(component.bytes_per_rank, "a weight component");
        sum += component.bytes_per_rank;
    }
    checks.expect(sum == weights.bytes_per_rank.expected, "weight components sum to " + with_commas(sum.count()) + ", not to " +
                                                              with_commas(weights.bytes_per_rank.expected.count()));
}

void check_kv_cache(const KvCachePlan& kv, Checks& checks) {
    double per_token = 0.0;
    Bytes per_slot;
    for (const KvGroup& group : kv.groups) {
        if (!group.own_window_pool) per_token += group.bytes_per_token.value;
        per_slot += group.bytes_per_slot;
    }
    checks.expect(std::abs(per_token - kv.bytes_per_token.value) <= 1e-6 * (1.0 + per_token),
                  "KV groups sum to " + shortest(per_token) + " B a token, not to " + shortest(kv.bytes_per_token.value));
    checks.expect(per_slot == kv.state_bytes_per_slot, "state groups do not sum to state_bytes_per_slot");
    checks.expect(kv.page_size.count() > 0, "page_size is not positive");
}

void check_gpu(const Plan& plan, Checks& checks) {
    const GpuPlan& gpu = plan.gpu;
    checks.ordered(gpu.free_before_load_bytes, "gpu.free_before_load_bytes");
    checks.not_negative(gpu.kv_pool_bytes, "gpu.kv_pool_bytes");
    checks.not_negative(gpu.state_pool_bytes, "gpu.state_pool_bytes");
    checks.not_negative(gpu.shortfall_bytes, "gpu.shortfall_bytes");
    checks.expect(gpu.free_before_load_bytes.expected <= gpu.total_bytes, "more memory is free before load than the GPU has");
    const Bytes parts = gpu.weights_bytes + gpu.kv_pool_bytes + gpu.state_pool_bytes + gpu.slack_bytes - gpu.shortfall_bytes;
    checks.expect(parts == gpu.free_before_load_bytes.expected,
                  "weights, pools and slack sum to " + with_commas(parts.count()) + ", not to the free memory " +
                      with_commas(gpu.free_before_load_bytes.expected.count()));
    checks.expect(!plan.fits || (gpu.shortfall_bytes.count() == 0 && plan.capacity.max_total_num_tokens.expected.count() > 0), "fits contradicts the shortfall");
    const bool stopped = has_error(plan);
    checks.expect(plan.fits || gpu.shortfall_bytes.count() > 0 || plan.capacity.max_total_num_tokens.expected.count() == 0 || stopped, "it does not fit, and nothing says why");
}

void check_capacity(const Plan& plan, Checks& checks) {
    const CapacityPlan& capacity = plan.capacity;
    checks.ordered(capacity.max_total_num_tokens, "capacity.max_total_num_tokens");
    const Tokens tokens = capacity.max_total_num_tokens.expected;
    checks.expect(capacity.tokens_are_derived || tokens.count() % plan.kv_cache.page_size.count() == 0, "max_total_num_tokens is not whole pages");
    checks.expect(tokens.count() >= 0, "max_total_num_tokens is negative");
    checks.expect(capacity.tokens_are_derived || capacity.longest_request_tokens <= tokens || tokens.count() == 0, "a request can be longer than the pool");
}

void check_host(const Plan& plan, Checks& checks) {
    Bytes sum;
    for (const HicachePool& pool : plan.hicache.pools) sum += pool.bytes_per_rank;
    checks.expect(sum == plan.hicache.bytes_per_rank, "host pools do not sum to hicache.bytes_per_rank");
    checks.expect(plan.host.required_bytes <= plan.host.required_high_bytes, "host.required_bytes is above its high end");
    if (plan.host.safe && *plan.host.safe && plan.host.available_bytes)
        checks.expect(plan.host.required_high_bytes <= *plan.host.available_bytes, "safe contradicts the host's figures");
    checks.expect(plan.host.headroom_bytes.value_or(Bytes{0}).count() == 0 || plan.host.shortfall_bytes.count() == 0,
                  "the host has headroom and a shortfall");
    if (plan.host.safe_max && plan.hicache.enabled && plan.host.safe && !*plan.host.safe && plan.host.safe_max->bytes_per_rank.count() > 0)
        checks.expect(plan.host.safe_max->bytes_per_rank < plan.host.pools_high_bytes_per_rank, "an unsafe pool is no larger than the safe one");
}

void check_rates(const Plan& plan, Checks& checks) {
    const ThroughputPlan& throughput = plan.throughput;
    if (throughput.expected_output_tokens_per_second) {
        checks.ordered(*throughput.expected_output_tokens_per_second, "throughput.expected_output_tokens_per_second");
        if (throughput.output)
            checks.expect(throughput.expected_output_tokens_per_second->high <= throughput.output->value * (1 + 1e-9),
                          "expected throughput is above its ceiling");
    }
    for (const ThroughputPoint& point : throughput.curve)
        checks.expect(point.output_tokens_per_second.value >= 0 && std::isfinite(point.step_seconds), "a point of the curve is no number");
}

}  // namespace

std::vector<std::string> check_invariants(const Plan& plan) {
    Checks checks;
    check_weights(plan.weights, checks);
    check_kv_cache(plan.kv_cache, checks);
    check_gpu(plan, checks);
    check_capacity(plan, checks);
    check_host(plan, checks);
    check_rates(plan, checks);
    return checks.take();
}

}  // namespace kvplan
