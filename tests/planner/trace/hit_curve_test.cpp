#include "planner/trace/hit_curve.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <random>

#include "tests/planner/trace/support.hpp"

using namespace kvplan;
using namespace kvplan::trace;
using kvplan::trace::test::line;
using kvplan::trace::test::real_trace;
using kvplan::trace::test::trace_of;

namespace {

Trace read_real(const std::string& path) {
    Diagnostics diagnostics;
    auto trace = read_trace({path}, {}, diagnostics);
    INFO(render(diagnostics));
    REQUIRE(trace.has_value());
    return std::move(*trace);
}

/// The definition, literally: a list of blocks, looked up from the front, touched back to front, cut to the capacity.
std::pair<std::int64_t, std::int64_t> hits_by_definition(const Trace& trace, std::size_t capacity) {
    std::list<Block> cache;
    std::int64_t hit_blocks = 0, hit_tokens = 0;
    for (const Request& request : trace.requests) {
        std::vector<Block> prompt;
        for (Block block = request.leaf; block != kNoBlock; block = trace.forest.parent(block)) prompt.push_back(block);
        std::reverse(prompt.begin(), prompt.end());
        for (std::uint32_t i = 0; i < prompt.size(); ++i) {
            if (std::find(cache.begin(), cache.end(), prompt[i]) == cache.end()) break;
            ++hit_blocks;
            hit_tokens += trace.block_weight(request, i);
        }
        for (auto block = prompt.rbegin(); block != prompt.rend(); ++block) {
            cache.remove(*block);
            cache.push_front(*block);
        }
        while (cache.size() > capacity) cache.pop_back();
    }
    return {hit_blocks, hit_tokens};
}

}  // namespace

TEST_CASE("the hit curve follows a hand-worked trace", "[trace][curve]") {
    // Blocks of 4 tokens. A: ids 1 2 3 (10 tokens, the last block holds 2); B: ids 1 4 (8); A again.
    // Stack before B, most recent first: 1 2 3. B hits 1 at depth 1; 4 is new. Stack after B: 1 4 2 3.
    // A again: 1 at depth 1, 2 at 3, 3 at 4. Capacity 1: 2 hits of 4 tokens; 3: 3 hits; 4: 4 hits, the last of 2 tokens.
    ReadOptions options;
    options.block_tokens = 4;
    const Trace trace = trace_of(line(0, 10, 1, {1, 2, 3}) + line(1, 8, 1, {1, 4}) + line(2, 10, 1, {1, 2, 3}), options);
    REQUIRE(trace.forest.size() == 4);
    const HitCurve curve = hit_curve(trace);
    REQUIRE(curve.blocks == 8);
    REQUIRE(curve.input_tokens == 28);
    REQUIRE(curve.last_useful() == 4);
    REQUIRE(curve.at(0).blocks == 0);
    REQUIRE(curve.at(1).blocks == 2);
    REQUIRE(curve.at(2).blocks == 2);
    REQUIRE(curve.at(3).blocks == 3);
    REQUIRE(curve.at(4).blocks == 4);
    REQUIRE(curve.at(4).tokens == 4 + 4 + 4 + 2);
    REQUIRE(curve.at({}).tokens == 14);
    // Mean over requests of hit/blocks: (0 + 1/2 + 3/3) / 3.
    REQUIRE(curve.at({}).request_rate == Approx(0.5));
    REQUIRE(curve.at(-3).blocks == 0);
}

TEST_CASE("requests of the warm-up fill the cache and are not counted", "[trace][curve]") {
    ReadOptions options;
    options.block_tokens = 4;
    const Trace trace = trace_of(line(0, 8, 1, {1, 2}) + line(1, 8, 1, {1, 2}) + line(2, 8, 1, {1, 2}), options);
    const HitCurve curve = hit_curve(trace, 0.5);  // floor(1.5) = 1
    REQUIRE(curve.warmup_requests == 1);
    REQUIRE(curve.input_tokens == 16);
    REQUIRE(curve.at(1).blocks == 2);
    REQUIRE(curve.at(2).blocks == 4);
}

TEST_CASE("round robin over conversations is a step at the sum of all contexts", "[trace][curve]") {
    // 7 conversations of 5 blocks, five rounds: a block comes back after the 34 others, so nothing hits below 35 blocks
    // and everything but the first round at 35.
    std::string text;
    for (int round = 0; round < 5; ++round)
        for (int chat = 0; chat < 7; ++chat) {
            std::vector<std::int64_t> ids;
            for (int i = 0; i < 5; ++i) ids.push_back(chat * 100 + i);
            text += line(round * 7 + chat, 5 * 512, 1, ids);
        }
    const HitCurve curve = hit_curve(trace_of(text));
    // A prompt's first block lies 30 blocks down (six prompts) plus 1, its last one 35.
    REQUIRE(curve.at(30).blocks == 0);
    REQUIRE(curve.at(34).blocks == 4 * 7 * 4);
    REQUIRE(curve.at(35).blocks == 4 * 7 * 5);
    REQUIRE(curve.last_useful() == 35);
    REQUIRE(curve.at(35).token_rate == Approx(0.8));
}

TEST_CASE("questions of one shared prefix asked together reuse it at once", "[trace][curve]") {
    // 4 documents of 10 blocks, 6 questions of one block each, all questions of a document in a row: the document hits
    // with a cache of just its own size, and nothing more is gained beyond it.
    std::string text;
    for (int document = 0; document < 4; ++document)
        for (int question = 0; question < 6; ++question) {
            std::vector<std::int64_t> ids;
            for (int i = 0; i < 10; ++i) ids.push_back(document * 1000 + i);
            ids.push_back(document * 1000 + 100 + question);
            text += line(document * 6 + question, 11 * 512, 1, ids);
        }
    const HitCurve curve = hit_curve(trace_of(text));
    REQUIRE(curve.last_useful() == 10);
    REQUIRE(curve.at(10).blocks == 4 * 5 * 10);
    REQUIRE(curve.at(9).blocks == 4 * 5 * 9);
}

TEST_CASE("an id behind another parent is another block", "[trace][curve]") {
    ReadOptions options;
    options.block_tokens = 4;
    const Trace trace = trace_of(line(0, 8, 1, {1, 2}) + line(1, 8, 1, {3, 2}) + line(2, 12, 1, {2, 2, 2}), options);
    REQUIRE(trace.forest.size() == 7);
    REQUIRE(hit_curve(trace).at({}).blocks == 0);
}

TEST_CASE("the one-pass curve equals the definition at every capacity on random prefix trees", "[trace][curve]") {
    std::minstd_rand random(7);
    for (int round = 0; round < 30; ++round) {
        const int fan = 1 + round % 4;
        std::string text;
        for (int i = 0; i < 60; ++i) {
            std::vector<std::int64_t> ids;
            std::int64_t id = 0;
            const auto depth = static_cast<std::uint32_t>(1 + random() % 9);
            for (std::uint32_t j = 0; j < depth; ++j) {
                id = id * 5 + 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(fan));
                ids.push_back(id);
            }
            text += line(i, static_cast<std::int64_t>(depth) * 512 - static_cast<std::int64_t>(random() % 512), 1, ids);
        }
        const Trace trace = trace_of(text);
        const HitCurve curve = hit_curve(trace);
        std::int64_t before = 0;
        for (std::size_t capacity = 0; capacity <= std::size_t{trace.forest.size()} + 1; ++capacity) {
            const auto [blocks, tokens] = hits_by_definition(trace, capacity);
            const HitPoint point = curve.at(static_cast<std::int64_t>(capacity));
            REQUIRE(point.blocks == blocks);
            REQUIRE(point.tokens == tokens);
            REQUIRE(point.blocks >= before);
            before = point.blocks;
        }
        REQUIRE(curve.at({}).blocks == before);
    }
}

TEST_CASE("a sample of prefix trees estimates the curve within its error", "[trace][curve][sample]") {
    // 600 conversations behind one common block, turns at random; three blocks more a turn.
    std::minstd_rand random(11);
    std::string text;
    std::vector<int> turns(600, 0);
    for (int i = 0; i < 6'000; ++i) {
        const auto chat = static_cast<std::int64_t>((random() % 100 + static_cast<unsigned>(i) / 12) % 600);
        std::vector<std::int64_t> ids{0};
        const int blocks = 3 * ++turns[static_cast<std::size_t>(chat)];
        for (int j = 0; j < blocks; ++j) ids.push_back(1 + chat * 1000 + j);
        text += line(i, static_cast<std::int64_t>(ids.size()) * 512, 1, ids);
    }
    const HitCurve exact = hit_curve(trace_of(text));
    ReadOptions options;
    options.sample_share = 0.4;
    const Trace sample = trace_of(text, options);
    REQUIRE(sample.sample->common_blocks == 1);
    REQUIRE(sample.sample->requests == 6'000);
    REQUIRE(sample.requests.size() > 1'800);
    REQUIRE(sample.requests.size() < 3'000);
    const std::vector<Capacity> capacities{100, 500, 1'000, 2'000, 4'000, std::nullopt};
    const std::vector<SampledRate> rates = sampled_rates(sample, capacities);
    int inside = 0;
    for (std::size_t i = 0; i < capacities.size(); ++i) {
        REQUIRE(rates[i].error < 0.2);
        REQUIRE(rates[i].error > 0.0);
        inside += std::abs(rates[i].token_rate - exact.at(capacities[i]).token_rate) <= rates[i].error ? 1 : 0;
    }
    REQUIRE(inside >= 5);
    // All of it: the exact curve.
    const std::vector<SampledRate> whole = sampled_rates(trace_of(text), capacities);
    for (std::size_t i = 0; i < capacities.size(); ++i) REQUIRE(whole[i].token_rate == Approx(exact.at(capacities[i]).token_rate));
}

TEST_CASE("reference integers of the Mooncake conversation trace come out to the token", "[trace][curve][real]") {
    const auto path = real_trace("mooncake_conversation_trace.jsonl.gz");
    if (!path) return;
    const Trace trace = read_real(*path);
    REQUIRE(trace.requests.size() == 12031);
    REQUIRE(trace.block_tokens == 512);
    const HitCurve curve = hit_curve(trace);
    REQUIRE(curve.blocks == 288500);
    REQUIRE(curve.input_tokens == 144793823);
    // Capacity in blocks, hit blocks and hit tokens as three independent implementations give them.
    const std::vector<std::vector<std::int64_t>> cold = {{226, 12084, 6186568},    {976, 12830, 6566755},
                                                         {1953, 15370, 7865590},   {5859, 39258, 20087299},
                                                         {19531, 82273, 42103262}, {1 << 30, 105710, 54098411}};
    for (const auto& row : cold) {
        REQUIRE(curve.at(row[0]).blocks == row[1]);
        REQUIRE(curve.at(row[0]).tokens == row[2]);
    }
    REQUIRE(curve.at({}).request_rate == Approx(0.384).margin(0.0005));
    const HitCurve warm = hit_curve(trace, 0.5);
    REQUIRE(warm.input_tokens == 67915607);
    const std::vector<std::vector<std::int64_t>> half = {
        {226, 3082824}, {976, 3172798}, {1953, 3760881}, {5859, 9286131}, {19531, 20351052}};
    for (const auto& row : half) REQUIRE(warm.at(row[0]).tokens == row[1]);
}

TEST_CASE("rates of the Mooncake synthetic trace at infinite capacity", "[trace][curve][real]") {
    const auto path = real_trace("mooncake_synthetic_trace.jsonl.gz");
    if (!path) return;
    const HitPoint all = hit_curve(read_real(*path)).at({});
    REQUIRE(all.block_rate == Approx(0.640).margin(0.0005));
    REQUIRE(all.token_rate == Approx(0.651).margin(0.0005));
    REQUIRE(all.request_rate == Approx(0.423).margin(0.0005));
}

TEST_CASE("rates of the agentic trace", "[trace][curve][real]") {
    const auto path = real_trace("weka_agentic_merged_512.jsonl.xz");
    if (!path) return;
    const HitCurve curve = hit_curve(read_real(*path));
    // G = 1 M tokens .2491, then 2, 3, 5, 10, 30 M.
    const std::vector<std::pair<std::int64_t, double>> points = {{1'000'000, 0.2491}, {2'000'000, 0.5511},
                                                                 {3'000'000, 0.7403}, {5'000'000, 0.8864},
                                                                 {10'000'000, 0.9447}, {30'000'000, 0.9609}};
    for (const auto& [tokens, rate] : points)
        REQUIRE(curve.at(tokens / 512).token_rate == Approx(rate).margin(0.00006));
}
