// The distinct prefix blocks of a trace, numbered, as a forest: a block's parent is the block before it in the prompt.
//
// A block is its whole prefix: the same id behind another parent is another block, as its keys and values are. Blocks
// that one request brought in for the first time are a run of consecutive numbers, so a prompt is a few stretches of
// numbers, and the blocks of a stretch are handled together. 12 bytes a block and 20 a run.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace kvplan::trace {

using Block = std::uint32_t;
inline constexpr Block kNoBlock = std::numeric_limits<Block>::max();

class PrefixForest {
public:
    /// The number of the last block of the prompt with these ids (kNoBlock for none), new blocks being added. Throws
    /// OverflowError beyond 2^32 - 2 blocks.
    Block add(std::span<const std::uint64_t> ids);

    Block size() const { return static_cast<Block>(ids_.size()); }
    std::uint64_t id(Block block) const { return ids_[block]; }
    Block parent(Block block) const;
    /// Blocks before this one in its prompt.
    std::uint32_t depth(Block block) const;

    /// Blocks `first` to `last`, both included, one after the other in a prompt.
    struct Stretch {
        Block first = 0, last = 0;
    };
    /// The prompt that ends with `leaf`, from its first block on, in `path`, whose memory is reused.
    std::span<const Stretch> path(Block leaf, std::vector<Stretch>& memory) const;

    std::size_t bytes() const;

private:
    struct Run {
        Block first = 0;
        Block parent = kNoBlock;   // of the first block
        std::uint32_t depth = 0;   // of the first block
    };

    Block find_head(Block parent, std::uint64_t id) const;
    void insert_head(Block head);
    void append(Block parent, std::span<const std::uint64_t> ids);
    Block run_end(std::uint32_t run) const;  // one past its last block
    static std::uint64_t mix(Block parent, std::uint64_t id);

    std::vector<std::uint64_t> ids_;         // by block
    std::vector<std::uint32_t> run_of_;      // by block
    std::vector<Run> runs_;
    std::vector<Block> heads_;               // open addressing on (parent, id); only the first blocks of runs
};

}  // namespace kvplan::trace
