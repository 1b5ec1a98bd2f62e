#include "planner/trace/workload.hpp"

#include "planner/trace/analysis.hpp"
#include "tests/planner/trace/support.hpp"

using namespace kvplan;
using namespace kvplan::trace;
using kvplan::trace::test::line;
using kvplan::trace::test::trace_of;

TEST_CASE("workload facts of a hand-worked trace", "[trace][workload]") {
    // Prompts 100, 200, 300, outputs 10, 30, 20 at 0, 1 and 4 s.
    const Trace trace = trace_of(line(0, 100, 10, {1}) + line(1000, 200, 30, {2}) + line(4000, 300, 20, {1}));
    const WorkloadFacts facts = workload_facts(trace, 0.25);
    REQUIRE(facts.requests == 3);
    REQUIRE(facts.input_tokens == 600);
    REQUIRE(facts.output_tokens == 60);
    REQUIRE(facts.span_seconds == Approx(4.0));
    REQUIRE(facts.requests_per_second == Approx(0.5));
    // Variance of the prompts (100^2 + 0 + 100^2)/3 = 6,666.7, over 200^2.
    REQUIRE(facts.input.cv2 == Approx(1.0 / 6.0));
    REQUIRE(facts.input.p50 == 200);
    REQUIRE(facts.input.p99 == 300);
    // E[IO] = (1,000 + 6,000 + 6,000)/3 = 4,333.3; minus 200 x 20.
    REQUIRE(facts.covariance == Approx(333.3333));
    REQUIRE(facts.correlation == Approx(0.5));
    // (13,000 + (100 + 900 + 400)/2) / 60 = 228.33.
    REQUIRE(facts.mean_footprint == Approx(228.3333));
    REQUIRE(facts.reusable_share == 0.25);
    // Block 1 begins two of three prompts: more than half.
    REQUIRE(facts.common_prefix_tokens == 512);
}

TEST_CASE("a fixed length has the footprint and deviation of a uniform phase", "[trace][workload]") {
    // 1,000 + U(0, 3,000): mean 2,500, deviation 3,000/sqrt(12).
    const WorkloadFacts facts = workload_facts(trace_of(line(0, 1000, 3000, {1, 2}) + line(0, 1000, 3000, {1, 2})), std::nullopt);
    REQUIRE(facts.mean_footprint == Approx(2500.0));
    REQUIRE(facts.footprint_deviation == Approx(866.0254));
    REQUIRE_FALSE(facts.requests_per_second.has_value());
}

TEST_CASE("a trace fills in only what the scenario leaves open", "[trace][workload]") {
    const WorkloadFacts facts = workload_facts(trace_of(line(0, 100, 10, {1}) + line(2000, 300, 30, {2})), std::nullopt);
    Scenario scenario;
    scenario.workload.output_tokens = 77.0;
    use_as_workload(facts, scenario);
    REQUIRE(scenario.workload.input_tokens == 200.0);
    REQUIRE(scenario.workload.input_cv2 == Approx(0.25));
    REQUIRE(scenario.workload.output_tokens == 77.0);
    REQUIRE_FALSE(scenario.workload.output_cv2.has_value());
    REQUIRE(scenario.workload.request_rate == Approx(0.5));
    REQUIRE(scenario.origin.at("input_tokens") == "trace");
}

TEST_CASE("the knee of a cliff is its edge", "[trace][curve]") {
    // Round robin of 16 conversations of 4 blocks: nothing below 61 blocks, everything at 64.
    std::string text;
    for (int round = 0; round < 6; ++round)
        for (int chat = 0; chat < 16; ++chat) text += line(round * 16 + chat, 2048, 1, {chat * 10, chat * 10 + 1, chat * 10 + 2, chat * 10 + 3});
    const HitCurve curve = hit_curve(trace_of(text));
    REQUIRE(curve.at(60).blocks == 0);
    REQUIRE(knee_blocks(curve) == 64);
    // All reuse at the smallest distance: no knee beyond it, and nothing gained after it.
    const HitCurve flat = hit_curve(trace_of(line(0, 512, 1, {1}) + line(1, 512, 1, {1})));
    REQUIRE(knee_blocks(flat, 1) == 0);
}

TEST_CASE("an analysis answers the capacities asked for, in their order", "[trace][analysis]") {
    const Trace trace = trace_of(line(0, 1024, 1, {1, 2}) + line(1, 1024, 1, {1, 2}));
    AnalysisOptions options;
    options.capacities = {1023, std::nullopt, 512};
    const Analysis analysis = analyse(trace, options);
    REQUIRE(analysis.points.size() == 3);
    REQUIRE(analysis.points[0].blocks == 1);
    REQUIRE(analysis.points[0].hits.tokens == 512);
    REQUIRE_FALSE(analysis.points[1].blocks.has_value());
    REQUIRE(analysis.points[1].hits.tokens == 1024);
    REQUIRE(analysis.points[2].hits.tokens == 512);
    const Analysis automatic = analyse(trace, {});
    REQUIRE(automatic.points.size() >= 2);
    REQUIRE_FALSE(automatic.points.back().tokens.has_value());
    REQUIRE(automatic.points[automatic.points.size() - 2].hits.tokens == automatic.points.back().hits.tokens);
}
