#include "planner/trace/reuse.hpp"

#include "tests/planner/trace/support.hpp"

using namespace kvplan;
using namespace kvplan::trace;
using kvplan::trace::test::line;
using kvplan::trace::test::TemporaryFile;

namespace {

// Round robin of 8 conversations of 4 blocks, five rounds: nothing repeats within 28 blocks, all does within 32.
std::string round_robin() {
    std::string text;
    for (int round = 0; round < 5; ++round)
        for (int chat = 0; chat < 8; ++chat) text += line(round * 8 + chat, 2048, 100, {chat * 10, chat * 10 + 1, chat * 10 + 2, chat * 10 + 3});
    return text;
}

struct Case {
    Scenario scenario;
    Plan plan;
};

Case planned(std::int64_t pool, std::int64_t host, std::optional<double> safe_ratio) {
    Case c;
    const TemporaryFile file(round_robin());
    c.scenario.workload.workload_from = file.path();
    Diagnostics diagnostics;
    REQUIRE(resolve_reuse(c.scenario, diagnostics));
    c.plan.capacity.max_total_num_tokens = certain(Tokens{pool});
    c.plan.hicache.enabled = host > 0;
    c.plan.hicache.tokens = Tokens{host};
    c.plan.concurrency.per_dp_worker = 2.0;
    c.plan.concurrency.idle_prefix_tokens = Tokens{pool / 2};
    if (safe_ratio) {
        c.plan.host.safe_max.emplace();
        c.plan.host.safe_max->hicache_ratio = *safe_ratio;
    }
    c.plan.reuse = plan_reuse(c.scenario, c.plan);
    REQUIRE(c.plan.reuse.has_value());
    return c;
}

}  // namespace

TEST_CASE("a trace becomes the workload of a scenario and stays with it", "[trace][reuse]") {
    const Case c = planned(10'000, 0, {});
    REQUIRE(c.scenario.workload.input_tokens == 2048.0);
    REQUIRE(c.scenario.workload.output_tokens == 100.0);
    REQUIRE(c.scenario.origin.at("output_tokens") == "trace");
    REQUIRE(c.scenario.reuse->curve.has_value());
    Scenario scenario;
    scenario.workload.workload_from = "/nonexistent/trace";
    Diagnostics diagnostics;
    REQUIRE_FALSE(resolve_reuse(scenario, diagnostics));
    REQUIRE(diagnostics.has_errors());
}

TEST_CASE("hit rates of a plan's caches are points of the curve", "[trace][reuse]") {
    // Two running requests of 100 tokens have generated 50 each: 16,384 + 100 leaves 32 blocks, which is everything but
    // the first round: 4/5 of the tokens. A token less leaves 31: of each prompt the last block is missing.
    REQUIRE(planned(16'484, 0, {}).plan.reuse->device_tokens == Tokens{16'384});
    REQUIRE(planned(16'484, 0, {}).plan.reuse->device_rate == Approx(0.8));
    REQUIRE(planned(16'483, 0, {}).plan.reuse->device_rate == Approx(0.6));
    REQUIRE(planned(16'484, 0, {}).plan.reuse->device_rate_low == 0.0);
    const Case both = planned(8'000, 16'384, 1.0);
    REQUIRE(both.plan.reuse->device_rate == 0.0);
    REQUIRE(both.plan.reuse->total_rate == Approx(0.8));
    REQUIRE(both.plan.reuse->safe_rate == Approx(0.0));
    REQUIRE(with_hits(both.scenario, both.plan).workload.hit_rate == Approx(0.8));
}

TEST_CASE("findings say when a host cache cannot pay", "[trace][reuse]") {
    const auto code = [](const Case& c) {
        const std::vector<Finding> findings = reuse_findings(c.scenario, c.plan);
        return findings.empty() ? std::string("none") : std::string(findings.front().code);
    };
    REQUIRE(code(planned(20'000, 40'000, 3.0)) == "host_cache_no_gain");
    REQUIRE(code(planned(8'000, 12'000, 1.5)) == "host_cache_beyond_safe");
    REQUIRE(code(planned(8'000, 7'000, 4.0)) == "host_cache_too_small");
    REQUIRE(code(planned(8'000, 20'000, 4.0)) == "none");
}
