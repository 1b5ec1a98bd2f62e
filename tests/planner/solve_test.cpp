#include "planner/solve.hpp"

#include <cmath>

#include "planner/export/solution.hpp"
#include "planner/resolve.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;

namespace {

Scenario resolved(const std::string& model, const std::string& gpu, std::int64_t tp) {
    Scenario s;
    s.model_name = model;
    s.hardware.gpu_name = gpu;
    s.engine.tp = tp;
    Diagnostics diagnostics;
    REQUIRE(resolve(s, {}, diagnostics));
    return s;
}

// What every answer promises: its scenario plans again to a plan that holds, and the neighbour does not.
void check_answer(const Solution& solution, const Targets& targets) {
    REQUIRE(solution.answer);
    REQUIRE(solution.scenario);
    CHECK(unmet(*solution.scenario, plan(*solution.scenario), targets).empty());
    CHECK(check_invariants(*solution.plan).empty());
    if (solution.next_that_fails) {
        CHECK_FALSE(solution.next_that_fails->reasons.empty());
        CHECK(exporting::sentence_of(solution.next_that_fails->reasons.front()).size() > 10);
    }
}

}  // namespace

TEST_CASE("The largest safe host cache found by bisection is the one the host plan names", "[solve][hicache]") {
    Scenario s = resolved("kimi-k2.5", "rtx-pro-6000-blackwell", 8);
    s.engine.mem_fraction_static = FreeMemoryFraction{0.85};
    s.hardware.host.ram = gigabytes(449);
    s.hardware.host.available = gigabytes(408);
    const Solution solution = solve(s, Question::max_hicache_size, {});
    check_answer(solution, {});
    Scenario small = s;
    small.engine.hicache.enabled = true;
    small.engine.hicache.size_gb = 10;
    CHECK(*solution.answer == static_cast<double>(*plan(small).host.safe_max->hicache_size_gb));
    REQUIRE(solution.next_that_fails);
    CHECK(solution.next_that_fails->value == *solution.answer + 1);
    CHECK(solution.next_that_fails->reasons.front().requirement == "safe");
    // 300 GB a rank, the founding launch, is far beyond it.
    CHECK(*solution.answer < 51);
}

TEST_CASE("Without anything known of the host no safe size is named", "[solve][hicache]") {
    const Solution solution = solve(resolved("kimi-k2.5", "h200", 8), Question::max_hicache_size, {});
    CHECK_FALSE(solution.answer);
    REQUIRE(solution.infeasible_because.size() == 1);
    CHECK(solution.infeasible_because.front().requirement == "host_known");
}

TEST_CASE("The least host RAM for a cache is tight", "[solve][hicache]") {
    Scenario s = resolved("kimi-k2.5", "h200", 8);
    s.engine.hicache.enabled = true;
    s.engine.hicache.size_gb = 100;
    const Solution solution = solve(s, Question::min_host_ram, {});
    check_answer(solution, {});
    REQUIRE(solution.next_that_fails);
    CHECK(solution.next_that_fails->value == *solution.answer - 1);
    CHECK(*solution.answer > 8 * 100);  // eight ranks of 100 GB are in it
}

TEST_CASE("The fraction interval holds the answer, and a larger pool moves its low end up", "[solve]") {
    const Scenario s = resolved("llama-3.1-70b", "h200", 8);
    const Solution any = solve(s, Question::mem_fraction, {});
    check_answer(any, {});
    const Targets pool{.concurrency = {}, .pool_tokens = 2'000'000, .tokens_per_second = {}, .ttft_seconds = {}, .itl_seconds = {}};
    const Solution large = solve(s, Question::mem_fraction, pool);
    check_answer(large, pool);
    CHECK(*large.feasible_min > *any.feasible_min);
    CHECK(*large.feasible_max == *any.feasible_max);
    CHECK(*large.answer >= *large.feasible_min);
    CHECK(*large.answer <= *large.feasible_max);
    // 2,000,000 tokens x 40,960 B = 76.29 GiB and 16.5 GiB of weights of about 137.7 GiB: 0.674
    CHECK(std::abs(*large.feasible_min - 0.674) < 0.005);
}

TEST_CASE("The fewest GPUs hold the load and one fewer does not", "[solve]") {
    Scenario s = resolved("llama-3.1-70b", "h200", 1);
    s.engine.context_length = 32'768;
    const Targets targets{.concurrency = 64, .pool_tokens = {}, .tokens_per_second = {}, .ttft_seconds = {}, .itl_seconds = {}};
    const Solution solution = solve(s, Question::min_gpus, targets);
    check_answer(solution, targets);
    CHECK(*solution.answer == static_cast<double>(solution.plan->parallelism.ranks));
    // 64 x 32,768 tokens x 327,680 B = 640 GiB, and 131 GiB of weights: 771 GiB of 138 each is 5.6, before the slack of each.
    CHECK(*solution.answer >= 6);
    CHECK(*solution.answer <= 8);
    REQUIRE(solution.next_that_fails);
    CHECK(solution.next_that_fails->value < *solution.answer);
    const Targets impossible{.concurrency = {}, .pool_tokens = {}, .tokens_per_second = {}, .ttft_seconds = {}, .itl_seconds = 1e-9};
    s.workload.input_tokens = s.workload.output_tokens = 100;
    const Solution none = solve(s, Question::min_gpus, impossible);
    CHECK_FALSE(none.answer);
    CHECK(none.infeasible_because.back().requirement == "itl_seconds");
}

TEST_CASE("The longest context fits once, and the next token does not", "[solve]") {
    const Scenario s = resolved("llama-3.1-8b", "l4", 1);
    const Solution solution = solve(s, Question::max_context, {});
    check_answer(solution, {});
    const double pool = static_cast<double>(solution.plan->capacity.max_total_num_tokens.expected.count());
    CHECK(*solution.answer < pool);           // the engine's test is strict
    CHECK(*solution.answer >= pool - 2);
    const Targets eight{.concurrency = 8, .pool_tokens = {}, .tokens_per_second = {}, .ttft_seconds = {}, .itl_seconds = {}};
    CHECK(*solve(s, Question::max_context, eight).answer <= *solution.answer / 8 + 1);
}

TEST_CASE("The largest concurrency obeys the pool and a time between tokens", "[solve]") {
    Scenario s = resolved("llama-3.1-70b", "h100", 4);
    s.workload.input_tokens = 4000;
    s.workload.output_tokens = 500;
    const Solution pool = solve(s, Question::max_concurrency, {});
    check_answer(pool, {});
    CHECK(*pool.answer == std::floor(*plan(s).concurrency.admission));
    const Targets brisk{.concurrency = {}, .pool_tokens = {}, .tokens_per_second = {}, .ttft_seconds = {}, .itl_seconds = 0.03};
    const Solution timed = solve(s, Question::max_concurrency, brisk);
    check_answer(timed, brisk);
    CHECK(*timed.answer < *pool.answer);
    CHECK(timed.next_that_fails->reasons.front().requirement == "itl_seconds");
}

TEST_CASE("Questions have the names of the command line", "[solve]") {
    for (const std::string_view name : question_names()) CHECK(name_of(*question_named(name)) == name);
    CHECK_FALSE(question_named("max-everything"));
}

TEST_CASE("No answer is a command that the engine refuses", "[solve][hicache]") {
    const auto first = [](const Solution& s) { return s.infeasible_because.empty() ? std::string_view{} : s.infeasible_because.front().requirement; };
    Scenario vllm = resolved("llama-3.1-70b", "h100", 4);
    vllm.engine.kind = EngineKind::vllm;
    vllm.hardware.host.available = gigabytes(200);
    CHECK(first(solve(vllm, Question::max_hicache_size, {})) == "engine_takes_size");
    CHECK(first(solve(vllm, Question::max_hicache_ratio, {})) == "engine_takes_ratio");
    Scenario v4 = resolved("deepseek-v4-flash", "h100", 4);
    v4.hardware.host.available = gigabytes(200);
    CHECK(first(solve(v4, Question::max_hicache_size, {})) == "engine_takes_size");
    CHECK(solve(v4, Question::max_hicache_ratio, {}).answer);
    // Before 2026-06-26 a host pool must hold more than the device pool: 100 GB have no room for that, 300 GB have.
    Scenario old = resolved("llama-3.1-70b", "h100", 4);
    old.engine.version_text = "2026-05-01";
    old.hardware.host.available = gigabytes(100);
    CHECK_FALSE(solve(old, Question::max_hicache_size, {}).answer);
    old.hardware.host.available = gigabytes(300);
    check_answer(solve(old, Question::max_hicache_size, {}), {});
}

TEST_CASE("The fraction is found for vLLM too, and the fewest GPUs may need another than the default", "[solve]") {
    Scenario vllm = resolved("llama-3.1-70b", "h100", 4);
    vllm.engine.kind = EngineKind::vllm;
    check_answer(solve(vllm, Question::mem_fraction, {}), {});
    // 131.4 GiB of weights in 16 bits are 65.7 a GPU of two, of 77.5 free: not at the default fraction, but at a higher one.
    const Solution fewest = solve(resolved("llama-3.1-70b", "h100", 1), Question::min_gpus, {});
    check_answer(fewest, {});
    CHECK(*fewest.answer == 2.0);
    CHECK(fewest.scenario->engine.mem_fraction_static);
    // A size of the layout that was given stays.
    Scenario fixed = resolved("llama-3.1-70b", "h100", 4);
    fixed.origin["tp_size"] = "flag";
    CHECK(*solve(fixed, Question::min_gpus, {}).answer == 4.0);
}
