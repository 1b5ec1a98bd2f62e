// Makes a Tree out of the events of RapidJSON's reader. Internal to models/json.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/json/document.hpp"
#include "models/json/tree.hpp"

namespace kvplan::json::detail {

/// Why the builder stopped the reader.
enum class Stop { none, too_deep, too_many_values, bad_literal, bad_escape };

/// An event handler in RapidJSON's sense. The events tell no positions, so the builder walks the text alongside:
/// between the end of one token and the start of the next stand only white space, commas and colons.
class Builder {
public:
    using Ch = char;
    using Size = unsigned;

    /// `begin`: where the JSON starts in tree.text.
    Builder(Tree& tree, const Limits& limits, std::uint32_t begin) : tree_(&tree), limits_(limits), cursor_(begin) {}

    bool Null();
    bool Bool(bool value);
    bool RawNumber(const char* text, Size length, bool copy);
    bool String(const char* text, Size length, bool copy);
    bool StartObject();
    bool Key(const char* text, Size length, bool copy);
    bool EndObject(Size members);
    bool StartArray();
    bool EndArray(Size elements);
    // RapidJSON is asked for raw numbers, yet its templates name these.
    bool Int(int) { return false; }
    bool Uint(unsigned) { return false; }
    bool Int64(std::int64_t) { return false; }
    bool Uint64(std::uint64_t) { return false; }
    bool Double(double) { return false; }

    Stop stop() const { return stop_; }
    /// Where the token begins that comes after the last one understood.
    std::uint32_t next_token() const;
    /// Where the innermost open container begins.
    std::optional<std::uint32_t> innermost_open() const;

    struct Duplicate {
        std::uint32_t first;  ///< nodes
        std::uint32_t second;
    };
    const std::vector<Duplicate>& duplicates() const { return duplicates_; }
    std::size_t duplicate_count() const { return duplicate_count_; }
    /// Nodes of numbers beyond the range of double.
    const std::vector<std::uint32_t>& too_large() const { return too_large_; }

private:
    struct Open {
        std::uint32_t node;
        std::size_t first_child;  ///< in pending_
    };
    struct Text {
        Run run;
        bool decoded;
    };

    Node* add(Type type, std::uint32_t offset);
    bool open(Type type);
    bool close();
    void append_index(const Node& object);
    void check_duplicates(const Node& object);
    void note_duplicate(std::uint32_t first, std::uint32_t second);
    std::optional<Text> take_string(const char* text, Size length);
    bool halt(Stop why);

    Tree* tree_;
    Limits limits_;
    std::uint32_t cursor_;
    Stop stop_ = Stop::none;
    std::vector<Open> open_;
    std::vector<std::uint32_t> pending_;  ///< finished children of the containers still open
    std::vector<std::uint64_t> order_;    ///< scratch of append_index
    Text name_{};
    std::uint32_t name_hash_ = 0;
    std::vector<Duplicate> duplicates_;
    std::size_t duplicate_count_ = 0;
    std::vector<std::uint32_t> too_large_;
};

}  // namespace kvplan::json::detail
