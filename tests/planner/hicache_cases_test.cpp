// Public reports of host caches, each with its conditions. Rows that need what no flag says (a fork's rules, a working set,
// a run's outcome) are not here: hc03, hc10, hc15, hc17, hc18 and hc27 tell no size that can be computed from flags.
#include "planner/engines/engine.hpp"
#include "planner/host/memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scenarios.hpp"

using namespace kvplan;
using namespace kvplan::testing;

namespace {

struct HostCase {
    Scenario scenario;
    HicachePlan pools;

    HostCase(Scenario s, std::int64_t device_tokens) : scenario(std::move(s)) {
        scenario.engine.hicache.enabled = true;
        const Engine& engine = engine_of(scenario.engine);
        CapacityPlan capacity;
        capacity.max_total_num_tokens = certain(Tokens{device_tokens});
        capacity.swa_tokens = Tokens{device_tokens};
        capacity.state_slots = 100;
        pools = engine.host_pools(scenario, engine.kv_cache(scenario), capacity);
    }

    [[nodiscard]] double gb(std::string_view pool) const {
        for (const HicachePool& p : pools.pools)
            if (p.name == pool) return in_gb(p.bytes_per_rank);
        return 0.0;
    }
};

Scenario with_size(Scenario s, std::int64_t gb) {
    s.engine.hicache.enabled = true;
    s.engine.hicache.size_gb = gb;
    return s;
}

/// GLM-5.2 with fp8 KV in the 576 B layout (trtllm kernels on Blackwell).
Scenario glm_fp8(std::int64_t tp, std::string version) {
    Scenario s = scenario_of(glm_52(), tp, std::move(version), 189'000, 10);
    s.engine.kv_cache_dtype = "fp8_e4m3";
    s.engine.dsa_prefill_backend = s.engine.dsa_decode_backend = "trtllm";
    return s;
}

}  // namespace

TEST_CASE("hc24: 4 GB at 147,456 B a token are 27,127 tokens, 27,126 before the extra page", "[hicache_cases]") {
    // 36 layers x 8 KV heads x 128 x 2 x 2 B = 147,456; 4e9 / 147,456 = 27,126.7
    const auto tokens = [](const char* version) {
        return HostCase(with_size(scenario_of(grouped_model(36, 32, 8, 128), 1, version), 4), 42'763).pools.tokens;
    };
    REQUIRE(tokens("2026-08-22") == Tokens{27'127});
    REQUIRE(tokens("2025-11-11") == Tokens{27'126});
}

TEST_CASE("hc25: the default ratio of 2 pins 354.94 GB a worker, 1.42 TB for four", "[hicache_cases]") {
    // 28 layers x 8 x 128 x 2 x 2 = 114,688 B; 1,547,424 x 2 x 114,688 = 354.94e9
    Scenario s = scenario_of(grouped_model(28, 16, 8, 128), 1, "2025-10-16");
    s.engine.hicache.ratio = 2.0;
    s.engine.dp = 4;
    const HostCase c(s, 1'547'424);
    // before exact pinning a block takes the next power of two, 2^39, but the tokens are the same
    REQUIRE(c.pools.tokens == Tokens{2 * 1'547'424});
    REQUIRE(c.gb("kv") == Approx(549.76).epsilon(0.0001));
    Scenario exact = s;
    exact.engine.version_text = "2026-08-22";
    const HostCase now(exact, 1'547'424);
    REQUIRE(in_gb(now.pools.bytes_per_rank) == Approx(354.94).epsilon(0.0001));
    REQUIRE(in_gb(now.pools.bytes_per_node) == Approx(1'419.8).epsilon(0.0001));
}

TEST_CASE("hc23: 150 GB of GLM-5.2 bring 34.38 GB of index keys a rank", "[hicache_cases]") {
    // 150 x 132 / 576, all 78 layers with an indexer
    const HostCase c(with_size(glm_fp8(4, "2026-07-15"), 150), 1'000'000);
    REQUIRE(c.gb("kv") == Approx(150.0).epsilon(0.001));
    REQUIRE(c.gb("dsa_indexer") == Approx(34.375).epsilon(0.001));
    REQUIRE(in_gb(c.pools.bytes_per_node) == Approx(4 * 184.375).epsilon(0.001));
    // since 2026-08-17 only the 21 layers with an indexer of their own: 150 x 21 x 132 / (78 x 576)
    REQUIRE(HostCase(with_size(glm_fp8(4, "2026-08-20"), 150), 1'000'000).gb("dsa_indexer") == Approx(9.255).epsilon(0.001));
}

TEST_CASE("hc20: 135 GB with a draft are 167.67 GB a rank and 671 GB for four", "[hicache_cases]") {
    // 135 + 135 x 132/576 + 135/78 = 135 + 30.94 + 1.73
    Scenario s = with_size(glm_fp8(8, "2026-06-20"), 135);
    s.engine.speculative.algorithm = "EAGLE";
    s.engine.speculative.num_steps = 3;
    s.hardware.gpus_per_node = 4;
    s.hardware.nodes = 2;
    const HostCase c(s, 1'000'000);
    REQUIRE(c.gb("dsa_indexer") == Approx(30.94).epsilon(0.001));
    REQUIRE(c.gb("draft") == Approx(1.73).epsilon(0.005));
    REQUIRE(in_gb(c.pools.bytes_per_rank) == Approx(167.67).epsilon(0.005));
    REQUIRE(in_gb(c.pools.bytes_per_node) == Approx(671).epsilon(0.005));
}

TEST_CASE("hc02: ratio 0.75 of 169.98 GB on 8 ranks is about 1 TB; ratio 2 passes 3 TB", "[hicache_cases]") {
    // KV and index keys of a device pool of 169.98 GB: 0.75 x 169.98 x 8 = 1,020 GB; 2.0: 2,720 GB, with 10.74 + 80 of a 3 TB
    // node's 2.7 TB that are free
    Scenario s = glm_fp8(8, "2026-07-15");
    const std::int64_t tokens = static_cast<std::int64_t>(169.98e9 / (78 * 708));
    s.engine.hicache.ratio = 0.75;
    REQUIRE(in_gb(HostCase(s, tokens).pools.bytes_per_node) == Approx(1'020).epsilon(0.005));
    s.engine.hicache.ratio = 2.0;
    REQUIRE(in_gb(HostCase(s, tokens).pools.bytes_per_node) == Approx(2'720).epsilon(0.005));
}

TEST_CASE("hc22: --hicache-size 64 on two ranks asks 128 GB of a pod with 256Gi", "[hicache_cases]") {
    Scenario s = with_size(scenario_of(grouped_model(36, 32, 8, 128), 2, "2026-08-22"), 64);
    REQUIRE(in_gb(HostCase(s, 100'000).pools.bytes_per_node) == Approx(128).epsilon(0.001));
}

TEST_CASE("Report 22: one worker's pool counts again for each data-parallel worker", "[hicache_cases]") {
    Scenario s = with_size(scenario_of(grouped_model(28, 16, 8, 128), 4, "2026-08-22"), 10);
    s.engine.dp = 4;
    s.engine.enable_dp_attention = true;
    const HostCase c(s, 100'000);
    REQUIRE(in_gb(c.pools.bytes_per_node) == Approx(40).epsilon(0.001));
    REQUIRE(c.pools.distinct_tokens == c.pools.tokens * 4);
}
