#include "planner/concurrency/concurrency.hpp"

#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/support/scenarios.hpp"

using namespace kvplan;

namespace {

Plan with_pool(const Scenario& s, std::int64_t tokens, std::int64_t page = 1) {
    Plan p;
    p.fits = true;
    p.parallelism = parallelism(s);
    p.kv_cache.page_size = Tokens{page};
    p.capacity.max_total_num_tokens = certain(Tokens{tokens});
    p.capacity.max_running_requests = Requests{2048};
    p.capacity.longest_request_tokens = Tokens{tokens};
    return p;
}

Scenario kimi(std::optional<double> input, std::optional<double> output, std::optional<double> together = std::nullopt) {
    Scenario s = kvplan::testing::scenario_of(kvplan::testing::kimi_k2(), 8);
    s.engine.context_length = 131'072;
    s.workload.input_tokens = input;
    s.workload.output_tokens = output;
    s.workload.request_tokens = together;
    return s;
}

bool within(std::optional<double> x, double expected, double tolerance) { return x && std::abs(*x - expected) <= tolerance; }

}  // namespace

TEST_CASE("The founding deployment: 28 by full length, 51 by growth, SGLang's rule between", "[concurrency][founding]") {
    const Scenario s = kimi(500, 3500);
    const ConcurrencyPlan c = plan_concurrency(s, with_pool(s, 116'000));
    CHECK(within(c.full_length, 28, 0));
    CHECK(within(c.steady_state, 51.44, 0.01));
    CHECK(within(c.retraction_free, 44.58, 0.02));
    CHECK(within(c.admission, 46.25, 0.01));
    CHECK(c.limited_by == ConcurrencyLimit::kv_pool);
    // 46.252 x 2,250 / 116,000, and what that leaves
    CHECK(within(c.token_usage, 0.8971, 0.0001));
    CHECK(c.idle_prefix_tokens == Tokens{11933});
}

TEST_CASE("A bare length prints the range that its unknown split leaves", "[concurrency][founding]") {
    const Scenario s = kimi(std::nullopt, std::nullopt, 4000);
    const ConcurrencyPlan c = plan_concurrency(s, with_pool(s, 116'000));
    CHECK(within(c.full_length, 28, 0));
    CHECK(within(c.steady_state_low, 28, 0));
    CHECK(within(c.steady_state_high, 51.44, 0.01));
    CHECK_FALSE(c.steady_state);
    CHECK_FALSE(c.admission);
    // One of the two lengths is enough to know the other.
    const Scenario known = kimi(500, std::nullopt, 4000);
    CHECK(within(plan_concurrency(known, with_pool(known, 116'000)).steady_state, 51.44, 0.01));
}

TEST_CASE("The smallest of all limits binds and is named", "[concurrency]") {
    Scenario s = kimi(500, 3500);
    Plan p = with_pool(s, 116'000);
    p.capacity.max_running_requests = Requests{20};
    CHECK(plan_concurrency(s, p).limited_by == ConcurrencyLimit::max_running_requests);
    CHECK(within(plan_concurrency(s, p).admission, 20, 0));
    CHECK(within(plan_concurrency(s, p).full_length, 20, 0));
    p.capacity.state_slots = 30;
    p.capacity.state_slots_per_request = 3;
    CHECK(plan_concurrency(s, p).limited_by == ConcurrencyLimit::state_slots);
    CHECK(within(plan_concurrency(s, p).admission, 10, 0));
    s.workload.concurrency = 4;
    CHECK(plan_concurrency(s, p).limited_by == ConcurrencyLimit::offered);
    CHECK(within(plan_concurrency(s, p).admission, 4, 0));
}

TEST_CASE("Workers of DP attention and replicas count together", "[concurrency]") {
    Scenario s = kimi(500, 3500);
    s.engine.dp = 8;
    s.engine.enable_dp_attention = true;
    const ConcurrencyPlan c = plan_concurrency(s, with_pool(s, 116'000));
    CHECK(within(c.full_length, 8 * 28, 0));
    // ratio 0.0294: 111,999/(2,250 + 0.0294 x 1,750) = 48.66 a worker
    CHECK(within(c.per_dp_worker, 48.66, 0.01));
    CHECK(within(c.admission, 8 * 48.66, 0.08));
    s.engine.enable_dp_attention = false;
    CHECK(within(plan_concurrency(s, with_pool(s, 116'000)).full_length, 8 * 28, 0));
}

TEST_CASE("The table by context reaches up to the whole context and falls", "[concurrency]") {
    const Scenario s = kimi(std::nullopt, std::nullopt);
    const ConcurrencyPlan c = plan_concurrency(s, with_pool(s, 1'000'000, 64));
    REQUIRE(c.by_context.size() == 4);  // 4k, 8k, 32k and 128k, which is the whole context
    CHECK(c.by_context.back().context_tokens == Tokens{131'072});
    // 999,999/4,096 = 244.1;  999,999/131,072 = 7.6
    CHECK(c.by_context.front().full_length == 244);
    CHECK(c.by_context.back().full_length == 7);
    // half output: f = 2,048 + 1,024 + 31.5, gap 1,024: 998,976/3,103.5 = 321.9
    CHECK(within(c.by_context.front().steady_state, 321.9, 0.1));
    for (std::size_t i = 1; i < c.by_context.size(); ++i) CHECK(c.by_context[i].steady_state < c.by_context[i - 1].steady_state);
}

TEST_CASE("Concurrency scales with the pool", "[concurrency][property]") {
    const Scenario s = kimi(1000, 1000);
    const double one = *plan_concurrency(s, with_pool(s, 100'000)).steady_state, ten = *plan_concurrency(s, with_pool(s, 1'000'000)).steady_state;
    CHECK(std::abs(ten / one - 10) < 0.1);
    const ConcurrencyPlan none = plan_concurrency(s, with_pool(s, 0));
    CHECK(within(none.full_length, 0, 0));
    CHECK(within(none.admission, 0, 0));
}
