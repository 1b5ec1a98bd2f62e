// The tree behind Document and Value. Internal to models/json.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kvplan::json::detail {

enum class Type : std::uint8_t { null, boolean, integer, real, string, array, object };

/// A run of a text (position and length) or of Tree::children (first and count).
struct Run {
    std::uint32_t first;
    std::uint32_t count;
};

/// 32 bytes. Nodes stand in the order of the text; a parent comes before its children.
struct Node {
    std::uint32_t offset;     ///< of the value's first byte in Tree::text
    std::uint32_t parent;     ///< index of the node; the root is its own
    Run name;                 ///< of a member; an element has its index in `first`
    std::uint32_t name_hash;  ///< of a member
    Type type;
    bool is_member : 1;
    bool name_decoded : 1;    ///< `name` lies in Tree::decoded (it had escapes) rather than in Tree::text
    bool string_decoded : 1;  ///< the same for a string's `run`
    bool inexact : 1;         ///< an integer beyond int64, kept as the nearest double
    union {
        std::int64_t integer;
        double real;
        bool boolean;
        Run run;
    };
};
static_assert(sizeof(Node) == 32);

/// Objects with more members than this carry an index behind their children.
inline constexpr std::uint32_t kMostUnindexed = 8;

struct Tree {
    std::string source_name;
    std::string text;
    std::string decoded;
    std::vector<Node> nodes;
    /// Of each container its children in the order of the text; of a large object then the same once more, sorted by
    /// (hash of the name, name, order).
    std::vector<std::uint32_t> children;

    std::string_view name(const Node& node) const {
        return std::string_view(node.name_decoded ? decoded : text).substr(node.name.first, node.name.count);
    }
    std::string_view string(const Node& node) const {
        return std::string_view(node.string_decoded ? decoded : text).substr(node.run.first, node.run.count);
    }
    /// Where the name of a member begins, quote included; where the value begins when the name had escapes.
    std::uint32_t name_offset(const Node& node) const {
        return node.is_member && !node.name_decoded ? node.name.first - 1 : node.offset;
    }
    bool is_indexed(const Node& object) const { return object.run.count > kMostUnindexed; }
};

std::uint32_t hash_name(std::string_view name);

/// Order of the index of large objects.
bool index_less(const Tree& tree, std::uint32_t a, std::uint32_t b);

/// The last member of that name, or nothing (0, which is the root and never a member).
std::uint32_t find_member(const Tree& tree, const Node& object, std::string_view name);

}  // namespace kvplan::json::detail
