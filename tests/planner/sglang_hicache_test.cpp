#include "planner/engines/sglang/hicache.hpp"

#include "planner/engines/sglang/kv_cells.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scenarios.hpp"

namespace kvplan {
namespace {

using namespace testing;

Scenario cached(LlmSpec spec, std::int64_t tp, std::string version, std::optional<std::int64_t> gb, std::optional<double> ratio = {}) {
    Scenario s = scenario_of(std::move(spec), tp, std::move(version));
    s.engine.hicache.enabled = true;
    s.engine.hicache.size_gb = gb;
    s.engine.hicache.ratio = ratio;
    return s;
}

HicachePlan pools_of(const Scenario& s, std::int64_t tokens, std::optional<std::int64_t> window = {}, std::optional<std::int64_t> slots = {}) {
    CapacityPlan capacity;
    capacity.max_total_num_tokens = certain(Tokens{tokens});
    if (window) capacity.swa_tokens = Tokens{*window};
    capacity.state_slots = slots;
    return sglang::host_pools(s, sglang::kv_cache(s), capacity);
}

double gb_of(const HicachePlan& plan, std::string_view name) {
    for (const HicachePool& pool : plan.pools)
        if (pool.name == name) return in_gb(pool.bytes_per_rank);
    return 0;
}

TEST_CASE("--hicache-size is decimal, per rank, in whole pages and one more", "[sglang][hicache]") {
    // 300e9 // 70,272 = 4,269,125: 4,269,120 in pages of 64 by floor, 4,269,184 since 2025-11-12.
    Scenario s = cached(kimi_k2(), 8, "2026-08-22", 300);
    s.engine.page_size = 64;
    const HicachePlan plan = pools_of(s, 772800);
    CHECK(plan.tokens == Tokens{4269184});
    CHECK(in_gb(plan.bytes_per_rank) == Approx(300.004).margin(0.001));
    CHECK(in_gb(plan.bytes_per_node) == Approx(8 * 300.004).margin(0.01));
    // The latent is the same on all ranks: eight copies of the same tokens.
    CHECK(plan.replication == 8);
    CHECK(plan.distinct_tokens == plan.tokens);
    s.engine.version_text = "2025-11-11";
    CHECK(pools_of(s, 772800).tokens == Tokens{4269120});
}

TEST_CASE("A ratio counts the device's slots", "[sglang][hicache]") {
    // 772,800 * 2 = 1,545,600, one page of 64 more: 1,545,664 tokens = 108.62 GB a rank, 868.9 for eight.
    Scenario s = cached(kimi_k2(), 8, "2026-08-22", {}, 2.0);
    s.engine.page_size = 64;
    const HicachePlan plan = pools_of(s, 772800);
    CHECK(plan.tokens == Tokens{1545664});
    CHECK(in_gb(plan.bytes_per_rank) == Approx(108.62).margin(0.005));
    CHECK(in_gb(plan.bytes_per_node) == Approx(868.9).margin(0.05));
    // No flag at all: 2.0.
    s.engine.hicache.ratio.reset();
    CHECK(pools_of(s, 772800).tokens == Tokens{1545664});
}

TEST_CASE("Index keys come on top of the size", "[sglang][hicache][dsa]") {
    // DeepSeek-V3.2, 150 GB: 150e9 / 70,272 = 2,134,563 tokens -> 2,134,563 * 61 * 132 = 17.2 GB more; fp8 3,748,501 -> 30.2 GB.
    const HicachePlan plain = pools_of(cached(deepseek_v32(), 8, "2026-08-01", 150), 500000);
    CHECK(gb_of(plain, "kv") == Approx(150).margin(0.01));
    CHECK(gb_of(plain, "dsa_indexer") == Approx(17.2).margin(0.05));
    Scenario fp8 = cached(deepseek_v32(), 8, "2026-08-01", 150);
    fp8.engine.kv_cache_dtype = "fp8_e4m3";
    CHECK(gb_of(pools_of(fp8, 500000), "dsa_indexer") == Approx(30.2).margin(0.05));
    CHECK(plain.bytes_per_rank == plain.pools[0].bytes_per_rank + plain.pools[1].bytes_per_rank);
}

TEST_CASE("Each of two pools gets the size", "[sglang][hicache]") {
    const HicachePlan window = pools_of(cached(gpt_oss_120b(), 1, "2026-08-22", 30), 809086, 647268);
    CHECK(gb_of(window, "kv") == Approx(30).epsilon(0.001));
    CHECK(gb_of(window, "swa") == Approx(30).epsilon(0.001));
    CHECK(in_gb(window.bytes_per_rank) == Approx(60).epsilon(0.001));
    const HicachePlan state = pools_of(cached(qwen3_next(), 4, "2026-08-22", 30), 800000, {}, 300);
    CHECK(gb_of(state, "kv") == Approx(30).epsilon(0.001));
    CHECK(gb_of(state, "mamba") == Approx(30).epsilon(0.001));
    // By ratio each follows its own device pool: 2 * 300 slots and one more.
    const HicachePlan by_ratio = pools_of(cached(qwen3_next(), 4, "2026-08-22", {}, 2.0), 800000, {}, 300);
    CHECK(gb_of(by_ratio, "mamba") == Approx(601.0 * 19316736 / 1e9).epsilon(1e-6));
}

TEST_CASE("Drafts have host pools since 2026-04-28, packed into the main one since 2026-08-04", "[sglang][hicache][draft]") {
    const auto with = [](std::string version) {
        Scenario s = cached(deepseek_v3(), 8, std::move(version), 300);
        s.engine.speculative.algorithm = "EAGLE";
        return pools_of(s, 700000);
    };
    CHECK(with("2026-04-27").pools.size() == 1);
    // A layer more of the same slots: 300 / 61.
    CHECK(gb_of(with("2026-04-28"), "draft") == Approx(300.0 / 61).epsilon(0.001));
    // Packed: 300e9 / (62 * 1,152) tokens.
    const HicachePlan packed = with("2026-08-04");
    CHECK(packed.pools.size() == 1);
    CHECK(packed.tokens.count() == Approx(300e9 / (62 * 1152)).margin(2));
}

TEST_CASE("DP attention keeps different tokens in each worker's host pool", "[sglang][hicache]") {
    Scenario s = cached(kimi_k2(), 8, "2026-08-22", 30);
    s.engine.enable_dp_attention = true;
    s.engine.dp = 8;
    const HicachePlan plan = pools_of(s, 500000);
    CHECK(plan.replication == 1);
    CHECK(plan.distinct_tokens == plan.tokens * 8);
    s.engine.dp = 4;
    CHECK(pools_of(s, 500000).replication == 2);
    CHECK(pools_of(s, 500000).distinct_tokens == plan.tokens * 4);
}

TEST_CASE("The write-back staging of page-first layouts takes GPU memory", "[sglang][hicache]") {
    // 64 pages of 64 tokens of 70,272 bytes = 287.8 MB; none with the layer-first layout of older servers.
    Scenario s = cached(kimi_k2(), 8, "2026-08-22", 300);
    s.engine.page_size = 64;
    CHECK(pools_of(s, 772800).gpu_staging_bytes == Bytes{64LL * 64 * 70272});
    s.engine.version_text = "2026-06-15";
    CHECK(pools_of(s, 772800).gpu_staging_bytes == Bytes{0});
}

TEST_CASE("Without a size or ratio newer servers follow the host's memory", "[sglang][hicache]") {
    Scenario s = cached(kimi_k2(), 8, "2026-09-18", {});
    s.hardware.host.available = gigabytes(449);
    // 0.8 * 449 / 8 * 0.95 = 42.655 GB a rank for 54.306 GB of device pool: ratio 0.78545.
    const HicachePlan plan = pools_of(s, 772800);
    CHECK(in_gb(plan.bytes_per_rank) == Approx(42.655).margin(0.001));
    s.hardware.host.available = gigabytes(4000);
    CHECK(pools_of(s, 772800).tokens == Tokens{2 * 772800 + 1});
    s.engine.version_text = "2026-09-17";
    s.hardware.host.available = gigabytes(449);
    CHECK(pools_of(s, 772800).tokens == Tokens{2 * 772800 + 1});
}

TEST_CASE("No host cache, no pools", "[sglang][hicache]") {
    Scenario s = cached(kimi_k2(), 8, "", 300);
    s.engine.hicache.enabled = false;
    CHECK_FALSE(pools_of(s, 772800).enabled);
    CHECK(pools_of(s, 772800).bytes_per_rank == Bytes{0});
}

TEST_CASE("The engine's own check of host memory changed twice", "[sglang][hicache]") {
    const auto rules = [](std::string version) { return sglang::host_rules(cached(kimi_k2(), 8, std::move(version), 300)); };
    CHECK(rules("2026-06-25").refuses_smaller_than_device);
    CHECK_FALSE(rules("2026-06-26").refuses_smaller_than_device);
    CHECK_FALSE(rules("2026-08-18").check_divides_by_ranks);
    CHECK(rules("2026-08-19").check_divides_by_ranks);
    CHECK(rules("0.5.3").pins_power_of_two);
    CHECK_FALSE(rules("0.5.4.post2").pins_power_of_two);
    CHECK(rules("").check_reserve == gibibytes(10));
}

}  // namespace
}  // namespace kvplan
