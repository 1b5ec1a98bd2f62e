#include "planner/engines/sglang/requests.hpp"

#include <algorithm>

#include "planner/engines/sglang/defaults.hpp"
#include "planner/engines/sglang/versions.hpp"

namespace kvplan::sglang {

std::optional<std::int64_t> asked_requests(const Scenario& scenario) {
    if (scenario.engine.max_running_requests) return scenario.engine.max_running_requests;
    if (speculative(scenario)) return 48;
    if (is_compressed(*scenario.model)) return 256;
    return std::nullopt;
}

std::int64_t estimated_requests(Tokens tokens, std::int64_t context_length) {
    const double share = static_cast<double>(tokens.count()) / static_cast<double>(std::max<std::int64_t>(1, context_length)) * 512;
    return static_cast<std::int64_t>(std::clamp(share, 2048.0, 4096.0));
}

RequestLimits request_limits(const Scenario& scenario, Tokens tokens, std::optional<std::int64_t> state_slots) {
    const RuleDate date = rule_date(scenario.engine);
    const std::int64_t estimate = estimated_requests(tokens, context_length(scenario));
    const std::int64_t workers = parallelism(scenario).dp_attention, by_pool = tokens.count() / 2;
    const auto asked = asked_requests(scenario);
    RequestLimits limits;
    if (in_force(Change::max_running_by_pool, date)) {
        limits.running = asked ? std::min(*asked / workers, by_pool) : std::min(estimate, by_pool);
        limits.rows = limits.running + 1;
    } else if (in_force(Change::max_running_capped, date)) {
        limits.running = asked ? std::min(*asked / workers, estimate) : std::min(estimate, by_pool);
        limits.rows = limits.running;
    } else {
        // The user's number sizes the table undivided; the scheduler divides it.
        limits.rows = asked.value_or(estimate);
        limits.running = std::min(asked ? *asked / workers : by_pool, limits.rows);
    }
    if (state_slots) limits.running = std::min(limits.running, *state_slots / state_slots_per_request(scenario.engine));
    limits.running = std::max<std::int64_t>(0, limits.running);
    return limits;
}

Bytes request_table(const Scenario& scenario, const RequestLimits& limits) {
    return Bytes{checked_mul(checked_mul(limits.rows, context_length(scenario) + 4 + draft_tokens(scenario)), 4)};
}

std::int64_t state_slots_per_request(const EngineOptions& engine) {
    if (engine.disable_radix_cache) return 1;
    std::int64_t slots = 3;
    const std::string& strategy = engine.mamba_scheduler_strategy;
    if (strategy.find("extra_buffer") != std::string::npos) slots += engine.disable_overlap_schedule ? 1 : 2;
    if (strategy.find("lazy") != std::string::npos) slots += 1;
    return slots;
}

}  // namespace kvplan::sglang
