#include "planner/simulate/prefix_cache.hpp"

#include "tests/planner/trace/support.hpp"

using namespace kvplan;
using namespace kvplan::simulate;

namespace {

/// Prompts 1 2 3 4 and 1 2 5 of blocks of 10 tokens, entered one after the other.
struct Tree {
    trace::PrefixForest forest;
    trace::Block long_prompt = trace::kNoBlock, branch = trace::kNoBlock;
    Tree() {
        const std::vector<std::uint64_t> first{1, 2, 3, 4}, second{1, 2, 5};
        long_prompt = forest.add(first);
        branch = forest.add(second);
    }
    PrefixCache cache(Eviction eviction, std::int64_t host_tokens = 0) const {
        PrefixCache cache(forest, 10, 1, host_tokens, trace::WritePolicy::write_through, eviction);
        cache.insert(long_prompt, 40, 0, 4);
        cache.unpin(long_prompt, 4);
        const PrefixCache::Match match = cache.match(branch, 30, 30);
        REQUIRE(match.device_blocks == 2);
        cache.pin(branch, 2);
        cache.insert(branch, 30, 2, 3);
        cache.unpin(branch, 3);
        REQUIRE(cache.device_tokens() == 50);
        REQUIRE(cache.consistent());
        return cache;
    }
};

}  // namespace

TEST_CASE("Block by block only what is lacking goes, the deepest block first", "[simulate]") {
    const Tree tree;
    PrefixCache cache = tree.cache(Eviction::blocks);
    CHECK(cache.evict(1) == 10);   // 4
    CHECK(cache.evict(11) == 20);  // 3, then 5: both lie before 1 2, which the second prompt used again
    CHECK(cache.match(tree.branch, 30, 30).device_blocks == 2);
    CHECK(cache.consistent());
}

TEST_CASE("Whole nodes go, cut where a later prompt left them", "[simulate]") {
    const Tree tree;
    PrefixCache cache = tree.cache(Eviction::nodes);
    // 1 2 3 4 was one node until 1 2 5 left it after 2.
    CHECK(cache.evict(1) == 20);   // 3 4 together
    CHECK(cache.match(tree.long_prompt, 40, 40).device_blocks == 2);
    CHECK(cache.evict(1) == 10);   // 5
    CHECK(cache.evict(1) == 20);   // 1 2
    CHECK(cache.device_tokens() == 0);
    CHECK(cache.consistent());
}

TEST_CASE("A chunk of a prompt is a node of its own, and a node that left comes back whole", "[simulate]") {
    const Tree tree;
    PrefixCache cache(tree.forest, 10, 1, 0, trace::WritePolicy::write_through, Eviction::nodes);
    cache.end_node(tree.long_prompt, 3);
    cache.insert(tree.long_prompt, 40, 0, 4);
    cache.unpin(tree.long_prompt, 4);
    CHECK(cache.evict(1) == 10);   // 4, a chunk by itself
    CHECK(cache.evict(1) == 30);
    cache.insert(tree.long_prompt, 40, 0, 4);
    cache.unpin(tree.long_prompt, 4);
    CHECK(cache.evict(1) == 40);   // the cut is forgotten
}

TEST_CASE("The host drops whole nodes too", "[simulate]") {
    Tree tree;
    const std::vector<std::uint64_t> other{9};
    const trace::Block third = tree.forest.add(other);
    PrefixCache cache = tree.cache(Eviction::nodes, 50);
    CHECK(cache.host_tokens() == 50);
    CHECK(cache.evict(50) == 50);  // all on the host alone now, in the order 4 3, 5, 2 1
    cache.insert(third, 10, 0, 1); // needs room for 10: 3 4 go together
    CHECK(cache.host_tokens() == 40);
    const PrefixCache::Match match = cache.match(tree.long_prompt, 40, 40);
    CHECK(match.host_blocks == 2);
    CHECK(cache.consistent());
}
