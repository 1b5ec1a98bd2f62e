#include "planner/engines/sglang/memory.hpp"

#include "planner/engines/sglang/engine.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scenarios.hpp"

namespace kvplan {
namespace {

using namespace testing;

PoolPlan pools_of(const Scenario& s, double weights_gib) { return sglang::pools(s, weights_of(gib(weights_gib))); }

Scenario measured(LlmSpec spec, std::int64_t tp, std::string version, double free_gib, double fraction, std::int64_t memory_mib, int sm = 9) {
    Scenario s = scenario_of(std::move(spec), tp, std::move(version), memory_mib, sm);
    s.hardware.gpu_free = gib(free_gib);
    s.engine.mem_fraction_static = FreeMemoryFraction{fraction};
    return s;
}

void check_waterfall(const PoolPlan& p) {
    const GpuPlan& g = p.gpu;
    CHECK(g.weights_bytes + g.kv_pool_bytes + g.state_pool_bytes + g.slack_bytes - g.shortfall_bytes == g.free_before_load_bytes.expected);
    CHECK(g.shortfall_bytes.count() >= 0);
    CHECK(g.slack_bytes.count() >= 0);
}

TEST_CASE("The budget is a share of the memory that is free before the weights load", "[sglang][memory]") {
    // Llama-3-70B, 8x H200: 120.86 - 137.29 * 0.103 = 106.719 GiB over 40,960 B.
    // 137.29 * 0.897 - 16.43 = 106.71913 GiB = 114,588,793,xxx B -> 2,797,577 tokens; the log has 2,795,207.
    const PoolPlan p = pools_of(measured(llama_70b(), 8, "2025-10-16", 137.29, 0.897, 143771), 16.43);
    CHECK(p.capacity.max_total_num_tokens.expected.count() == Approx(2797577).margin(2));
    CHECK(p.capacity.max_total_num_tokens.expected.count() == Approx(2795207).epsilon(1e-3));
    check_waterfall(p);
    // "Memory pool end" printed 11.87 = 14.14 - 2.00 (request table) - 0.27.
    CHECK(in_gib(p.gpu.left_after_pools_bytes.low) <= 11.87);
    CHECK(in_gib(p.gpu.left_after_pools_bytes.high) >= 11.87);
    CHECK(p.capacity.max_running_requests == Requests{4096});
}

TEST_CASE("Tokens come in whole pages", "[sglang][memory]") {
    // Kimi-K2 int4 on 8x H200: 137.3 * 0.886 - 71.07 = 50.578 GiB -> 772,818 tokens, 772,800 in pages of 64.
    Scenario s = measured(kimi_k2(), 8, "2026-01-01", 137.3, 0.886, 143771);
    CHECK(pools_of(s, 71.07).capacity.max_total_num_tokens.expected == Tokens{772818});
    s.engine.page_size = 64;
    CHECK(pools_of(s, 71.07).capacity.max_total_num_tokens.expected == Tokens{772800});
    s.engine.max_total_tokens = 100000;
    CHECK(pools_of(s, 71.07).capacity.max_total_num_tokens.expected == Tokens{99968});
    s.engine.max_total_tokens = 10000000;
    CHECK(pools_of(s, 71.07).capacity.max_total_num_tokens.expected == Tokens{772800});
}

// Start-up logs: free before load, weights, fraction, and the tokens they printed. Logs show two decimals of one rank,
// the engine takes the minimum over the ranks: within 0.35 %.
struct Logged {
    const char* name;
    Scenario scenario;
    double weights_gib;
    std::int64_t tokens;
};

std::vector<Logged> logged_starts() {
    Scenario glm = measured(glm_5(), 8, "", 93.99, 0.92, 97887, 12);
    glm.engine.kv_cache_dtype = "bfloat16";
    Scenario glm52 = measured(glm_52(), 4, "2026-09-14", 278.42, 0.85, 294896, 0);
    glm52.engine.kv_cache_dtype = "fp8_e4m3";
    glm52.engine.enable_dp_attention = true;
    glm52.engine.dp = 4;
    glm52.engine.speculative.algorithm = "EAGLE";
    Scenario glm52_88 = glm52;
    glm52_88.engine.mem_fraction_static = FreeMemoryFraction{0.88};
    Scenario gemma = measured(gemma4_12b(), 2, "2026-06", 22.91, 0.85, 24576, 8);
    return {
        {"QwQ-32B, 4x L4", measured(grouped_model(64, 40, 8, 128), 4, "2025-03-20", 21.63, 0.85, 23034, 8), 15.54, 46611},
        {"Llama-3.1-8B, H100", measured(grouped_model(32, 32, 8, 128), 1, "2025-01-23", 78.81, 0.88, 81559), 15.09, 444500},
        {"Qwen3-8B, B200", measured(grouped_model(36, 32, 8, 128), 1, "2026-04-05", 177.57, 0.854, 183359, 10), 15.27, 992896},
        {"grok-2, 8x H100", measured(grouped_model(64, 64, 8, 128), 8, "0.5.2rc2", 77.43, 0.831, 81559), 36.74, 903439},
        {"GLM-5 NVFP4, 8x RTX PRO 6000", glm, 57.06, 314304},
        {"GLM-5.2, 4x MI355X, DP attention", glm52, 126.76, 2436864},
        {"GLM-5.2, 4x MI355X, 0.88", glm52_88, 126.76, 2622144},
        {"DeepSeek-V4-Flash, 8x H20", measured(deepseek_v4_flash(), 8, "2026-05-15", 93.58, 0.60, 97871), 36.57, 1317632},
        {"DeepSeek-V4-Flash, 8x H20, 0.88", measured(deepseek_v4_flash(), 8, "2026-05-15", 93.58, 0.88, 97871), 36.57, 3080960},
        {"DeepSeek-R1 int4 experts on the host, 8x H100", measured(deepseek_v3(), 8, "2026-08-27", 77.33, 0.831, 81559), 3.23, 932468},
        {"gemma-4-12B, 2x 3090", gemma, 5.41, 102094},
    };
}

TEST_CASE("Given the free memory and weights of a log, its tokens follow", "[sglang][memory][logs]") {
    for (const Logged& row : logged_starts()) {
        INFO(row.name);
        const PoolPlan p = pools_of(row.scenario, row.weights_gib);
        CHECK(static_cast<double>(p.capacity.max_total_num_tokens.expected.count()) == Approx(static_cast<double>(row.tokens)).epsilon(0.0035));
        check_waterfall(p);
    }
}

TEST_CASE("Every start that was logged lies inside its feasible interval", "[sglang][memory][feasible]") {
    for (const Logged& row : logged_starts()) {
        INFO(row.name);
        const MemFraction f = pools_of(row.scenario, row.weights_gib).gpu.mem_fraction;
        REQUIRE(f.feasible_min);
        REQUIRE(f.feasible_max);
        CHECK(*f.feasible_min <= f.value);
        CHECK(f.value <= *f.feasible_max);
        REQUIRE(f.recommended);
        CHECK(*f.recommended >= *f.feasible_min);
        CHECK(*f.recommended <= *f.feasible_max);
    }
}

TEST_CASE("Below the smallest fraction there is no pool, above it there is one", "[sglang][memory][feasible]") {
    for (const Logged& row : logged_starts()) {
        INFO(row.name);
        const auto min = pools_of(row.scenario, row.weights_gib).gpu.mem_fraction.feasible_min;
        REQUIRE(min);
        Scenario s = row.scenario;
        s.engine.mem_fraction_static = FreeMemoryFraction{*min - 1e-3};
        CHECK(pools_of(s, row.weights_gib).capacity.max_total_num_tokens.expected == Tokens{0});
        s.engine.mem_fraction_static = FreeMemoryFraction{*min + 1e-4};
        CHECK(pools_of(s, row.weights_gib).capacity.max_total_num_tokens.expected > Tokens{0});
    }
}

TEST_CASE("DeepSeek-V4-Pro on eight H200 needs the fraction that the engine printed", "[sglang][memory][feasible]") {
    // InferenceX issue 2128: 12.25 GiB left of 137.90 after 125.65 of weights; "minimum viable" 0.9113.
    const PoolPlan p = pools_of(measured(deepseek_v4_pro(), 8, "", 137.90, 0.88, 143771), 125.65);
    CHECK(p.capacity.max_total_num_tokens.expected == Tokens{0});
    CHECK(p.gpu.shortfall_bytes > Bytes{0});
    check_waterfall(p);
    const double min = p.gpu.mem_fraction.feasible_min.value_or(0);
    CHECK(min == Approx(0.9113).margin(0.002));
}

TEST_CASE("Weights beyond the memory leave a shortfall and no interval", "[sglang][memory]") {
    // 79.53 GiB of DeepSeek-V3 on 80 GB cards.
    const PoolPlan p = pools_of(measured(deepseek_v3(), 8, "", 77.4, 0.88, 81559), 79.53);
    CHECK(p.capacity.max_total_num_tokens.expected == Tokens{0});
    // Weights less the budget: 79.53 - 0.88 * 77.4 = 11.418 GiB.
    CHECK(in_gib(p.gpu.shortfall_bytes) == Approx(11.418).margin(0.001));
    CHECK_FALSE(p.gpu.mem_fraction.feasible_min);
    CHECK_FALSE(p.gpu.mem_fraction.recommended);
    check_waterfall(p);
}

TEST_CASE("State slots take their share first", "[sglang][memory][linear]") {
    // Qwen3.5-9B on a 39.5 GiB slice: 15.657 GiB after weights; 0.9 / 1.9 of it = 7.416 GiB: 154 slots of 51,511,296 B;
    // 8.269 GiB over 32,768 B = 270,976 tokens (the log has 152 slots and 268,567). rho 0.17: 47 slots, 439,180 tokens.
    Scenario s = measured(qwen35_9b(), 1, "2026-05-01", 39.0, 0.80, 40448);
    const double weights = 39.0 * 0.80 - 15.657;
    const PoolPlan p = pools_of(s, weights);
    CHECK(p.capacity.state_slots == 154);
    CHECK(p.capacity.max_total_num_tokens.expected.count() == Approx(270976).epsilon(1e-4));
    CHECK(p.capacity.max_running_requests == Requests{51});
    check_waterfall(p);
    s.engine.mamba_full_memory_ratio = 0.17;
    CHECK(pools_of(s, weights).capacity.state_slots == 47);
    CHECK(pools_of(s, weights).capacity.max_total_num_tokens.expected.count() == Approx(439180).epsilon(1e-4));
    s.engine.max_mamba_cache_size = 12;
    CHECK(pools_of(s, weights).capacity.state_slots == 12);
    CHECK(pools_of(s, weights).capacity.max_running_requests == Requests{4});
}

TEST_CASE("Requests that run at once are limited by version", "[sglang][requests]") {
    const auto running = [](std::string version, std::optional<std::int64_t> asked, std::int64_t tokens) {
        Scenario s = scenario_of(kimi_k2(), 8, std::move(version));
        s.engine.context_length = 131072;
        s.engine.max_running_requests = asked;
        return sglang::request_limits(s, Tokens{tokens}, std::nullopt).running;
    };
    // int(772,800 / 131,072 * 512) = 3,018; 46,611 tokens give 182, which is raised to 2,048.
    CHECK(running("2026-01-01", {}, 772800) == 3018);
    CHECK(running("2026-01-01", {}, 46611) == 2048);
    CHECK(running("2026-01-01", {}, 2000) == 1000);
    // A given number: as it is; capped by the estimate from 2026-03-08; by T / 2 from 2026-06-12.
    CHECK(running("2026-01-01", 6000, 772800) == 6000);
    CHECK(running("2026-04-01", 6000, 772800) == 3018);
    CHECK(running("2026-07-01", 6000, 772800) == 6000);
    CHECK(running("2026-07-01", 6000, 8000) == 4000);
    Scenario s = scenario_of(kimi_k2(), 8);
    s.engine.speculative.algorithm = "EAGLE";
    CHECK(sglang::request_limits(s, Tokens{772800}, std::nullopt).running == 48);
    s.engine.enable_dp_attention = true;
    s.engine.dp = 4;
    CHECK(sglang::request_limits(s, Tokens{772800}, std::nullopt).running == 12);
    CHECK(sglang::request_limits(scenario_of(deepseek_v4_flash(), 8), Tokens{1000000}, std::nullopt).running == 256);
}

TEST_CASE("The request table grows with the context", "[sglang][requests]") {
    Scenario s = scenario_of(kimi_k2(), 8);
    s.engine.context_length = 131072;
    // 4,096 * 131,076 * 4 = 2.000 GiB; 1 M tokens of context: 16.0 GiB.
    CHECK(in_gib(sglang::request_table(s, {4096, 4096})) == Approx(2.000).margin(1e-3));
    s.engine.context_length = 1048576;
    CHECK(in_gib(sglang::request_table(s, {4096, 4096})) == Approx(16.0).margin(1e-3));
    s.engine.context_length = 262144;
    CHECK(in_gib(sglang::request_table(s, {2049, 2049})) == Approx(2.0).margin(2e-3));
}

TEST_CASE("The smallest pipeline stage decides", "[sglang][memory]") {
    Scenario s = measured(grouped_model(62, 32, 8, 128), 1, "2026-01-01", 70.0, 0.9, 81559);
    s.engine.pp = 4;
    WeightsPlan weights = weights_of(gib(20));
    weights.stage_bytes = {gib(18), gib(17), gib(17), gib(20)};
    // The last stage has 16 layers of 4,096 B and 20 GiB: (63 - 20) GiB / 65,536.
    CHECK(sglang::pools(s, weights).capacity.max_total_num_tokens.expected == Tokens{43LL * kGiB / 65536});
}

TEST_CASE("Old servers loaded drafts after the pools", "[sglang][memory][draft]") {
    Scenario s = measured(deepseek_v3(), 8, "2026-05-01", 137.3, 0.88, 143771);
    s.engine.speculative.algorithm = "EAGLE";
    s.engine.speculative.num_steps = 3;
    WeightsPlan weights = weights_of(gib(82));
    weights.draft_bytes = gib(2);
    // Sized without the draft: 0.88 * 137.3 - 80 = 40.824 GiB over 70,272; the draft's 1,152 B a token and 2 GiB come from the slack.
    const PoolPlan old = sglang::pools(s, weights);
    CHECK(old.capacity.max_total_num_tokens.expected.count() == Approx(40.824 * kGiB / 70272).margin(1));
    CHECK(in_gib(old.gpu.kv_pool_bytes) == Approx(40.824 * 71424 / 70272).margin(0.001));
    check_waterfall(old);
    s.engine.version_text = "2026-07-13";
    const PoolPlan now = sglang::pools(s, weights);
    CHECK(now.capacity.max_total_num_tokens.expected.count() == Approx(38.824 * kGiB / 71424).margin(1));
    check_waterfall(now);
}

TEST_CASE("Window and full pools share the budget", "[sglang][memory][swa]") {
    // gpt-oss-120b, one GPU, 50 GiB: 50 * 2^30 / 66,355.2 = 809,086 full and 647,268 window slots.
    const PoolPlan p = pools_of(measured(gpt_oss_120b(), 1, "2026-08-22", 100.0, 0.9, 143771), 40.0);
    CHECK(p.capacity.max_total_num_tokens.expected == Tokens{809086});
    CHECK(p.capacity.swa_tokens == Tokens{647268});
    CHECK(in_gib(p.gpu.kv_pool_bytes) == Approx(50).margin(0.001));
}

TEST_CASE("DeepSeek-V4 sets the state of its requests aside first", "[sglang][memory][v4]") {
    // 256 requests: ceil128(257 * 128 + 129) = 33,152 rows * 4,096 B * 20 layers = 2.53 GiB.
    const PoolPlan p = pools_of(measured(deepseek_v4_flash(), 8, "2026-07-01", 93.58, 0.88, 97871), 36.57);
    CHECK(in_gib(p.gpu.state_pool_bytes) == Approx(2.53).margin(0.005));
    CHECK(p.capacity.max_total_num_tokens.expected.count() % 256 == 0);
    CHECK(p.capacity.swa_tokens->count() % 256 == 0);
}

TEST_CASE("More memory, a higher fraction or lighter weights never give fewer tokens", "[sglang][memory]") {
    for (const LlmSpec& spec : {kimi_k2(), gpt_oss_120b(), qwen3_next(), deepseek_v4_flash()}) {
        std::int64_t last = 0;
        for (double f = 0.30; f < 0.99; f += 0.03) {
            const std::int64_t tokens = pools_of(measured(spec, 8, "", 90, f, 97887), 40).capacity.max_total_num_tokens.expected.count();
            CHECK(tokens >= last);
            last = tokens;
        }
        Scenario s = measured(spec, 8, "", 90, 0.85, 97887);
        CHECK(pools_of(s, 41).capacity.max_total_num_tokens.expected <= pools_of(s, 40).capacity.max_total_num_tokens.expected);
    }
}

TEST_CASE("The interval of tokens follows those of weights and free memory", "[sglang][memory]") {
    Scenario s = measured(kimi_k2(), 8, "2026-01-01", 137.3, 0.886, 143771);
    WeightsPlan weights = weights_of(gib(71.5));
    weights.bytes_per_rank = {gib(71.07), gib(71.5), gib(73.0), Basis::assumed};
    const Estimate<Tokens> t = sglang::pools(s, weights).capacity.max_total_num_tokens;
    CHECK(t.high == Tokens{772818});
    // (121.6478 - 73) GiB / 70,272.
    CHECK(t.low.count() == Approx((137.3 * 0.886 - 73.0) * kGiB / 70272).margin(1));
    CHECK(t.low < t.expected);
    CHECK(t.expected < t.high);
    CHECK(t.basis == Basis::assumed);
}

}  // namespace
}  // namespace kvplan
