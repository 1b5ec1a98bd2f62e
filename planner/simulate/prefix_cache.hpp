// The engine's prefix cache inside the simulator: which blocks of a trace are on the GPU and on the host.
//
// Least recent first, leaves before parents. A block that a running request uses is pinned. Blocks are put in the list of
// what may go when their last user leaves, back to front, so that the end of the list is always a leaf. A block that
// leaves the GPU and has a copy on the host stays there alone.
//
// vLLM drops block by block. SGLang's tree drops whole nodes (radix_cache.py evict, hiradix_cache.py evict_host, read
// 2026-08): a node is what one insertion added, cut where a later prompt leaves it; what was cut is never joined again.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/trace/prefix_forest.hpp"
#include "planner/trace/tiers.hpp"

namespace kvplan::simulate {

enum class Eviction { blocks, nodes };

class PrefixCache {
public:
    /// `host_tokens` 0: no host tier. `page`: device slots come in pages of this many tokens.
    PrefixCache(const trace::PrefixForest& forest, std::int64_t block_tokens, std::int64_t page,
                std::int64_t host_tokens, trace::WritePolicy policy, Eviction eviction = Eviction::blocks);

    struct Match {
        std::uint32_t device_blocks = 0;
        std::uint32_t host_blocks = 0;    ///< that follow them
        std::int64_t device_tokens = 0, host_tokens = 0;
    };
    /// Leading blocks of the prompt that are resident, in at most `most_tokens` tokens. Cuts the node it ends in.
    [[nodiscard]] Match match(trace::Block leaf, std::int64_t identified, std::int64_t most_tokens);

    /// Pins the prompt's first `blocks` blocks, which are on the GPU.
    void pin(trace::Block leaf, std::uint32_t blocks);
    /// Gives back what `pin`, `load` and `insert` pinned, as most recent.
    void unpin(trace::Block leaf, std::uint32_t blocks);
    /// Brings blocks from..to of the prompt back from the host, pinned. The caller has made room for `tokens`.
    void load(trace::Block leaf, std::uint32_t from, std::uint32_t to);
    /// Enters blocks from..to of a prompt that was computed, pinned; returns the tokens that are new to the GPU (others
    /// were entered by another request meanwhile: the caller frees its own copies).
    std::int64_t insert(trace::Block leaf, std::int64_t identified, std::uint32_t from, std::uint32_t to);
    /// Ends a node after the prompt's first `blocks` blocks: a chunk of a prompt is an insertion of its own.
    void end_node(trace::Block leaf, std::uint32_t blocks);
    /// Drops least recent blocks, or nodes, from the GPU until `tokens` are freed or nothing is left to drop; returns what
    /// was freed (of nodes: possibly more).
    std::int64_t evict(std::int64_t tokens);

    /// Tokens that a prompt's first `blocks` blocks take; the last one in whole pages.
    [[nodiscard]] std::int64_t tokens_of(std::int64_t identified, std::uint32_t blocks) const;

    [[nodiscard]] std::int64_t device_tokens() const { return device_tokens_; }
    [[nodiscard]] std::int64_t evictable_tokens() const { return evictable_tokens_; }
    [[nodiscard]] std::int64_t host_tokens() const { return host_used_; }
    [[nodiscard]] std::int64_t written_tokens() const { return written_; }
    /// Counts everything anew and compares: for tests.
    [[nodiscard]] bool consistent() const;

private:
    struct Node {
        trace::Block newer = trace::kNoBlock, older = trace::kNoBlock;  // in the list it is in
        std::uint32_t users = 0;
        std::uint32_t tokens = 0;   // that it takes; 0: resident nowhere
        bool device = false, host = false;
        bool ends_node = false;     // what follows it is another node
    };
    struct List {
        trace::Block newest = trace::kNoBlock, oldest = trace::kNoBlock;
    };
    std::span<const trace::Block> prompt(trace::Block leaf);
    void push(List& list, trace::Block block);
    void remove(List& list, trace::Block block);
    void copy_to_host(trace::Block block);
    void forget(trace::Block block);      // resident nowhere now
    [[nodiscard]] bool goes_with(trace::Block next, trace::Block victim) const;
    bool make_host_room(std::int64_t tokens);

    const trace::PrefixForest& forest_;
    std::int64_t block_tokens_, page_, host_capacity_;
    trace::WritePolicy policy_;
    Eviction eviction_;
    std::vector<Node> nodes_;
    List evictable_, host_only_;
    std::int64_t device_tokens_ = 0, evictable_tokens_ = 0, host_used_ = 0, written_ = 0;
    std::vector<trace::PrefixForest::Stretch> path_;
    std::vector<trace::Block> prompt_;
    trace::Block prompt_leaf_ = trace::kNoBlock;
};

}  // namespace kvplan::simulate
