#include "planner/trace/tiers.hpp"

#include <random>

#include "tests/planner/trace/support.hpp"

using namespace kvplan;
using namespace kvplan::trace;
using kvplan::trace::test::line;
using kvplan::trace::test::real_trace;
using kvplan::trace::test::trace_of;

namespace {

/// Random walks in a small tree of prefixes.
Trace random_trace(unsigned seed, int requests) {
    std::minstd_rand random(seed);
    std::string text;
    for (int i = 0; i < requests; ++i) {
        std::vector<std::int64_t> ids;
        std::int64_t id = 0;
        const auto depth = static_cast<std::int64_t>(1 + random() % 8);
        for (std::int64_t j = 0; j < depth; ++j) ids.push_back(id = id * 4 + 1 + static_cast<std::int64_t>(random() % 3));
        text += line(i, depth * 512 - static_cast<std::int64_t>(random() % 512), 1, ids);
    }
    return trace_of(text);
}

TierSizes two(std::int64_t device, std::int64_t host) { return {device, host, false, {}}; }

}  // namespace

TEST_CASE("write-through gives the curve at the host's capacity, whatever the GPU holds", "[trace][tiers]") {
    for (unsigned seed = 1; seed < 12; ++seed) {
        const Trace trace = random_trace(seed, 150);
        const HitCurve curve = hit_curve(trace, 0.25);
        for (const std::int64_t device : {8, 13, 20})
            for (const std::int64_t host : {20, 33, 60, 500}) {
                const TierResult result = simulate_tiers(trace, WritePolicy::write_through, two(device, host), 0.25);
                REQUIRE(result.device_hit_tokens == curve.at(device).tokens);
                REQUIRE(result.device_hit_blocks + result.host_hit_blocks == curve.at(host).blocks);
                REQUIRE(result.device_hit_tokens + result.host_hit_tokens == curve.at(host).tokens);
                REQUIRE(result.input_tokens == curve.input_tokens);
                // What is not on the host is written when it comes in.
                REQUIRE(result.written_blocks == result.blocks - curve.at(host).blocks);
            }
    }
}

TEST_CASE("write-back lies between the curve at the host's and at both capacities", "[trace][tiers]") {
    for (unsigned seed = 1; seed < 12; ++seed) {
        const Trace trace = random_trace(seed, 150);
        const HitCurve curve = hit_curve(trace);
        for (const std::int64_t host : {20, 33, 60}) {
            const TierResult result = simulate_tiers(trace, WritePolicy::write_back, two(15, host));
            const std::int64_t total = result.device_hit_blocks + result.host_hit_blocks;
            REQUIRE(result.device_hit_blocks == curve.at(15).blocks);
            REQUIRE(total >= curve.at(host).blocks);
            REQUIRE(total <= curve.at(15 + host).blocks);
        }
        // No host tier: nothing but the GPU.
        REQUIRE(simulate_tiers(trace, WritePolicy::write_back, two(15, 0)).host_hit_blocks == 0);
    }
}

TEST_CASE("a hand-worked write-back keeps what leaves the GPU", "[trace][tiers]") {
    // GPU 2 blocks, host 2. A (1 2), B (3 4), A, B: B pushes 2 and 1 to the host, A loads both back (2 hits, copies stay
    // pinned by the GPU's), which pushes 4 and 3 out: the host is full of pinned copies, so they are lost unless a copy
    // can be dropped; A's copies cannot. B then finds nothing.
    const Trace trace = trace_of(line(0, 1024, 1, {1, 2}) + line(1, 1024, 1, {3, 4}) + line(2, 1024, 1, {1, 2}) + line(3, 1024, 1, {3, 4}));
    const TierResult full = simulate_tiers(trace, WritePolicy::write_back, two(2, 2));
    REQUIRE(full.device_hit_blocks == 0);
    REQUIRE(full.host_hit_blocks == 2);
    // With room for four, B is found too.
    REQUIRE(simulate_tiers(trace, WritePolicy::write_back, two(2, 4)).host_hit_blocks == 4);
}

TEST_CASE("selective writing is write-through in effect, because a request inserts twice", "[trace][tiers]") {
    const Trace trace = random_trace(3, 200);
    const TierResult through = simulate_tiers(trace, WritePolicy::write_through, two(15, 40));
    const TierResult selective = simulate_tiers(trace, WritePolicy::write_through_selective, two(15, 40));
    REQUIRE(selective.host_hit_tokens == through.host_hit_tokens);
}

TEST_CASE("the third tier is asked only for long enough parts", "[trace][tiers]") {
    // Blocks of 100 tokens: after three other prompts the first is only in storage; 2 blocks (200 tokens) are too few
    // for SGLang's 256, 3 blocks (300) are not.
    for (const std::int64_t blocks : {2, 3}) {
        ReadOptions options;
        options.block_tokens = 100;
        std::vector<std::int64_t> first, second;
        for (std::int64_t i = 0; i < blocks; ++i) {
            first.push_back(i);
            second.push_back(100 + i);
        }
        const Trace trace = trace_of(line(0, 100 * blocks, 1, first) + line(1, 100 * blocks, 1, second) + line(2, 100 * blocks, 1, first), options);
        const TierResult result = simulate_tiers(trace, WritePolicy::write_through, {blocks, blocks, true, {}});
        REQUIRE(result.host_hit_blocks == 0);
        REQUIRE(result.storage_hit_blocks == (blocks == 3 ? 3 : 0));
    }
}

TEST_CASE("tiers of the agentic trace come out as measured", "[trace][tiers][real]") {
    const auto path = real_trace("weka_agentic_merged_512.jsonl.xz");
    if (!path) return;
    Diagnostics diagnostics;
    const auto trace = read_trace({*path}, {}, diagnostics);
    REQUIRE(trace.has_value());
    const std::int64_t device = 1'000'000 / 512;
    const std::vector<std::pair<std::int64_t, double>> write_back = {{2'000'000, 0.6548}, {5'000'000, 0.8922}, {10'000'000, 0.9450}};
    for (const auto& [host, rate] : write_back)
        REQUIRE(simulate_tiers(*trace, WritePolicy::write_back, two(device, host / 512)).total_rate() == Approx(rate).margin(0.00006));
    const TierResult through = simulate_tiers(*trace, WritePolicy::write_through, two(device, 5'000'000 / 512));
    REQUIRE(through.total_rate() == Approx(0.8864).margin(0.00006));
    // 7.48 M blocks loaded and 1.35 M written over the 48,658 requests.
    REQUIRE(through.host_hit_blocks / 10'000 == 747);
    REQUIRE(through.written_blocks / 10'000 == 135);
    REQUIRE(simulate_tiers(*trace, WritePolicy::second_use, two(device, 5'000'000 / 512)).total_rate() == Approx(0.643).margin(0.0006));
}
