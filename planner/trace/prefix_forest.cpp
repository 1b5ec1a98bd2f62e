#include "planner/trace/prefix_forest.hpp"

#include <algorithm>

#include "units/quantity.hpp"

namespace kvplan::trace {

std::uint64_t PrefixForest::mix(Block parent, std::uint64_t id) {
    // splitmix64's finalizer, over both parts of the key.
    std::uint64_t x = id + 0x9e3779b97f4a7c15U * (std::uint64_t{parent} + 1);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

Block PrefixForest::run_end(std::uint32_t run) const { return run + 1 < runs_.size() ? runs_[run + 1].first : size(); }

Block PrefixForest::parent(Block block) const {
    const Run& run = runs_[run_of_[block]];
    return block == run.first ? run.parent : block - 1;
}

std::uint32_t PrefixForest::depth(Block block) const {
    const Run& run = runs_[run_of_[block]];
    return run.depth + (block - run.first);
}

Block PrefixForest::find_head(Block parent, std::uint64_t id) const {
    if (heads_.empty()) return kNoBlock;
    const std::size_t mask = heads_.size() - 1;
    for (std::size_t slot = mix(parent, id) & mask; heads_[slot] != kNoBlock; slot = (slot + 1) & mask) {
        const Block head = heads_[slot];
        if (ids_[head] == id && runs_[run_of_[head]].parent == parent) return head;
    }
    return kNoBlock;
}

void PrefixForest::insert_head(Block head) {
    const auto place = [this](Block block) {
        const std::size_t mask = heads_.size() - 1;
        std::size_t slot = mix(runs_[run_of_[block]].parent, ids_[block]) & mask;
        while (heads_[slot] != kNoBlock) slot = (slot + 1) & mask;
        heads_[slot] = block;
    };
    if (heads_.size() < 2 * (runs_.size() + 1)) {
        heads_.assign(std::max<std::size_t>(64, heads_.size() * 2), kNoBlock);
        for (const Run& run : runs_)
            if (run.first != head) place(run.first);
    }
    place(head);
}

void PrefixForest::append(Block parent, std::span<const std::uint64_t> ids) {
    if (ids.size() >= kNoBlock - ids_.size()) detail::throw_overflow("numbering of prefix blocks");
    // What follows the newest block of all continues its run; everything else starts one.
    const bool continues = parent != kNoBlock && parent + 1 == size();
    const Block first = size();
    if (!continues) runs_.push_back({first, parent, parent == kNoBlock ? 0 : depth(parent) + 1});
    ids_.insert(ids_.end(), ids.begin(), ids.end());
    run_of_.resize(ids_.size(), static_cast<std::uint32_t>(runs_.size() - 1));
    if (!continues) insert_head(first);
}

Block PrefixForest::add(std::span<const std::uint64_t> ids) {
    Block at = kNoBlock;
    for (std::size_t i = 0; i < ids.size();) {
        if (at != kNoBlock) {
            const Block end = run_end(run_of_[at]);
            const std::size_t most = std::min<std::size_t>(ids.size() - i, end - at - 1);
            const std::uint64_t* known = ids_.data() + at + 1;
            std::size_t same = 0;
            while (same < most && known[same] == ids[i + same]) ++same;
            at += static_cast<Block>(same);
            i += same;
            if (i == ids.size()) break;
        }
        const Block head = find_head(at, ids[i]);
        if (head == kNoBlock) {
            append(at, ids.subspan(i));
            return size() - 1;
        }
        at = head;
        ++i;
    }
    return at;
}

std::span<const PrefixForest::Stretch> PrefixForest::path(Block leaf, std::vector<Stretch>& memory) const {
    memory.clear();
    while (leaf != kNoBlock) {
        const Run& run = runs_[run_of_[leaf]];
        memory.push_back({run.first, leaf});
        leaf = run.parent;
    }
    std::reverse(memory.begin(), memory.end());
    return memory;
}

std::size_t PrefixForest::bytes() const {
    return ids_.capacity() * sizeof(std::uint64_t) + run_of_.capacity() * sizeof(std::uint32_t) +
           runs_.capacity() * sizeof(Run) + heads_.capacity() * sizeof(Block);
}

}  // namespace kvplan::trace
