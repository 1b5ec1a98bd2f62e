#include "models/json/tree.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace kvplan::json::detail {

// Eight bytes at a step, multiplied and folded; spread matters only for speed, since equal hashes are told apart by
// name.
std::uint32_t hash_name(std::string_view name) {
    constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15ULL;
    std::uint64_t hash = name.size() * kFactor;
    const auto mix = [&](std::uint64_t word) {
        hash = (hash ^ word) * kFactor;
        hash ^= hash >> 29;
    };
    std::size_t i = 0;
    for (; name.size() - i >= sizeof(std::uint64_t); i += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, name.data() + i, sizeof word);
        mix(word);
    }
    std::uint64_t rest = 0;
    std::memcpy(&rest, name.data() + i, name.size() - i);
    mix(rest);
    return static_cast<std::uint32_t>(hash >> 32);
}

bool index_less(const Tree& tree, std::uint32_t a, std::uint32_t b) {
    const Node& left = tree.nodes[a];
    const Node& right = tree.nodes[b];
    if (left.name_hash != right.name_hash) return left.name_hash < right.name_hash;
    const int order = tree.name(left).compare(tree.name(right));
    return order != 0 ? order < 0 : a < b;
}

std::uint32_t find_member(const Tree& tree, const Node& object, std::string_view name) {
    const std::uint32_t* first = tree.children.data() + object.run.first;
    const std::uint32_t count = object.run.count;
    if (!tree.is_indexed(object)) {
        for (std::uint32_t i = count; i > 0; --i) {
            if (tree.name(tree.nodes[first[i - 1]]) == name) return first[i - 1];
        }
        return 0;
    }
    const std::uint32_t hash = hash_name(name);
    const auto comes_after = [&](std::string_view, std::uint32_t id) {
        const Node& node = tree.nodes[id];
        return hash != node.name_hash ? hash < node.name_hash : name < tree.name(node);
    };
    const std::uint32_t* index = first + count;
    const std::uint32_t* beyond = std::upper_bound(index, index + count, name, comes_after);
    if (beyond == index || tree.name(tree.nodes[beyond[-1]]) != name) return 0;
    return beyond[-1];
}

}  // namespace kvplan::json::detail
