#include "planner/simulate/prefix_cache.hpp"

#include <algorithm>

#include "units/quantity.hpp"

namespace kvplan::simulate {

using trace::Block;
using trace::kNoBlock;

PrefixCache::PrefixCache(const trace::PrefixForest& forest, std::int64_t block_tokens, std::int64_t page, std::int64_t host_tokens, trace::WritePolicy policy, Eviction eviction)
    : forest_(forest), block_tokens_(block_tokens), page_(page), host_capacity_(host_tokens), policy_(policy), eviction_(eviction), nodes_(forest.size()) {}

std::span<const Block> PrefixCache::prompt(Block leaf) {
    if (leaf == prompt_leaf_ && leaf != kNoBlock) return prompt_;
    prompt_.clear();
    for (const auto [first, last] : forest_.path(leaf, path_))
        for (Block block = first; block <= last; ++block) prompt_.push_back(block);
    prompt_leaf_ = leaf;
    return prompt_;
}

std::int64_t PrefixCache::tokens_of(std::int64_t identified, std::uint32_t blocks) const {
    return round_down(std::min(identified, std::int64_t{blocks} * block_tokens_), page_);
}

PrefixCache::Match PrefixCache::match(Block leaf, std::int64_t identified, std::int64_t most_tokens) {
    Match found;
    const auto blocks = prompt(leaf);
    std::int64_t tokens = 0;
    for (std::uint32_t i = 0; i < blocks.size(); ++i) {
        const Node& node = nodes_[blocks[i]];
        // A block of less than a page is no node, and nothing follows it.
        const std::int64_t own = tokens_of(identified, i + 1) - tokens;
        if ((!node.device && !node.host) || node.tokens != own || tokens + own > most_tokens) break;
        if (!node.device || found.host_blocks > 0) {
            if (!node.host || host_capacity_ == 0) break;
            ++found.host_blocks;
            found.host_tokens += own;
        } else {
            ++found.device_blocks;
            found.device_tokens += own;
        }
        tokens += own;
    }
    if (const std::uint32_t matched = found.device_blocks + found.host_blocks; matched > 0) nodes_[blocks[matched - 1]].ends_node = true;
    return found;
}

void PrefixCache::end_node(Block leaf, std::uint32_t blocks) {
    const auto all = prompt(leaf);
    if (blocks > 0 && blocks <= all.size()) nodes_[all[blocks - 1]].ends_node = true;
}

/// `next` is dropped along with `victim`, the one before it in the prompt being of the same node.
bool PrefixCache::goes_with(Block next, Block victim) const {
    return eviction_ == Eviction::nodes && next != kNoBlock && victim != kNoBlock && forest_.parent(victim) == next && !nodes_[next].ends_node;
}

void PrefixCache::push(List& list, Block block) {
    Node& node = nodes_[block];
    node.newer = kNoBlock;
    node.older = list.newest;
    if (list.newest != kNoBlock) nodes_[list.newest].newer = block;
    list.newest = block;
    if (list.oldest == kNoBlock) list.oldest = block;
}

void PrefixCache::remove(List& list, Block block) {
    Node& node = nodes_[block];
    (node.newer != kNoBlock ? nodes_[node.newer].older : list.newest) = node.older;
    (node.older != kNoBlock ? nodes_[node.older].newer : list.oldest) = node.newer;
}

void PrefixCache::pin(Block leaf, std::uint32_t blocks) {
    const auto all = prompt(leaf);
    for (std::uint32_t i = 0; i < blocks; ++i) {
        Node& node = nodes_[all[i]];
        if (node.users++ > 0) continue;
        remove(evictable_, all[i]);
        evictable_tokens_ -= node.tokens;
    }
}

void PrefixCache::unpin(Block leaf, std::uint32_t blocks) {
    const auto all = prompt(leaf);
    for (std::uint32_t i = blocks; i-- > 0;) {
        Node& node = nodes_[all[i]];
        if (--node.users > 0) continue;
        push(evictable_, all[i]);
        evictable_tokens_ += node.tokens;
    }
}

void PrefixCache::load(Block leaf, std::uint32_t from, std::uint32_t to) {
    const auto all = prompt(leaf);
    for (std::uint32_t i = from; i < to; ++i) {
        Node& node = nodes_[all[i]];
        remove(host_only_, all[i]);
        node.device = true;
        node.users = 1;
        device_tokens_ += node.tokens;
    }
}

std::int64_t PrefixCache::insert(Block leaf, std::int64_t identified, std::uint32_t from, std::uint32_t to) {
    const auto all = prompt(leaf);
    std::int64_t added = 0;
    bool follows_resident = from > 0;
    for (std::uint32_t i = from; i < to; ++i) {
        Node& node = nodes_[all[i]];
        const bool resident = node.device || node.host;
        if (node.device) {
            if (node.users++ == 0) {
                remove(evictable_, all[i]);
                evictable_tokens_ -= node.tokens;
            }
        } else {
            // Recomputed although the host had it: the copy stays.
            if (node.host) remove(host_only_, all[i]);
            else node.tokens = static_cast<std::uint32_t>(tokens_of(identified, i + 1) - tokens_of(identified, i));
            node.device = true;
            node.users = 1;
            device_tokens_ += node.tokens;
            added += node.tokens;
            if (policy_ != trace::WritePolicy::write_back) copy_to_host(all[i]);
        }
        if (!resident && follows_resident) nodes_[all[i - 1]].ends_node = true;
        follows_resident = resident;
    }
    if (to > from) nodes_[all[to - 1]].ends_node = true;
    return added;
}

void PrefixCache::forget(Block block) {
    nodes_[block].tokens = 0;
    nodes_[block].ends_node = false;
}

bool PrefixCache::make_host_room(std::int64_t tokens) {
    Block last = kNoBlock;
    while (host_used_ + tokens > host_capacity_ || goes_with(host_only_.oldest, last)) {
        const Block victim = host_only_.oldest;
        if (victim == kNoBlock) return false;
        Node& node = nodes_[victim];
        remove(host_only_, victim);
        node.host = false;
        host_used_ -= node.tokens;
        forget(victim);
        last = victim;
    }
    return true;
}

void PrefixCache::copy_to_host(Block block) {
    Node& node = nodes_[block];
    if (host_capacity_ == 0 || node.host || !make_host_room(node.tokens)) return;
    node.host = true;
    host_used_ += node.tokens;
    written_ += node.tokens;
}

std::int64_t PrefixCache::evict(std::int64_t tokens) {
    std::int64_t freed = 0;
    Block last = kNoBlock;
    while (evictable_.oldest != kNoBlock && (freed < tokens || goes_with(evictable_.oldest, last))) {
        const Block victim = evictable_.oldest;
        Node& node = nodes_[victim];
        if (policy_ == trace::WritePolicy::write_back) copy_to_host(victim);
        remove(evictable_, victim);
        node.device = false;
        freed += node.tokens;
        if (node.host) push(host_only_, victim);
        else forget(victim);
        last = victim;
    }
    evictable_tokens_ -= freed;
    device_tokens_ -= freed;
    return freed;
}

bool PrefixCache::consistent() const {
    std::int64_t device = 0, evictable = 0, host = 0;
    for (Block block = 0; block < forest_.size(); ++block) {
        const Node& node = nodes_[block];
        if (node.device) device += node.tokens;
        if (node.device && node.users == 0) evictable += node.tokens;
        if (node.host) host += node.tokens;
        const Block parent = forest_.parent(block);
        if (parent != kNoBlock && node.device && !nodes_[parent].device) return false;
        if (parent != kNoBlock && node.users > nodes_[parent].users) return false;
    }
    return device == device_tokens_ && evictable == evictable_tokens_ && host == host_used_ && host <= host_capacity_;
}

}  // namespace kvplan::simulate
