// A JSON text as a read-only tree that knows where in the text each value stands.
//
// Stricter than common readers where silence would hide a fault: integers never wrap or round, `true` is never 1, keys
// given twice are errors. More lenient in one point, because real configs need it: the tokens `Infinity`, `-Infinity`
// and `NaN` (which Python writes) are numbers; `Value::number` refuses them, `Value::number_or_infinity` takes the
// infinities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "units/diagnostic.hpp"

namespace kvplan::json {

struct Limits {
    std::size_t max_bytes = std::size_t{64} << 20;
    int max_depth = 64;                  ///< containers open at once
    std::size_t max_values = 4'000'000;  ///< bounds the tree at 36 bytes a value
};

enum class Kind : std::uint8_t { missing, null, boolean, number, string, array, object };

/// "a number", "an object", "nothing", ...
std::string_view kind_name(Kind kind);

struct LineColumn {
    std::size_t line = 0;    ///< 1-based
    std::size_t column = 0;  ///< 1-based, in code points
};

class Elements;
class Members;
namespace detail {
struct Tree;
}

/// A handle to a value of a Document, or to a place where there is none ("missing"), which still knows its pointer.
/// Cheap to copy. Valid as long as the Document it came from (or the one that was moved into) lives.
class Value {
public:
    Value() = default;

    Kind kind() const;
    bool exists() const { return kind() != Kind::missing; }
    bool is_null() const { return kind() == Kind::null; }
    bool is_object() const { return kind() == Kind::object; }
    bool is_array() const { return kind() == Kind::array; }
    bool is_string() const { return kind() == Kind::string; }
    bool is_number() const { return kind() == Kind::number; }
    bool is_bool() const { return kind() == Kind::boolean; }
    /// Neither missing nor null.
    bool has_value() const { return kind() > Kind::null; }

    /// The member of that name; of a key given twice the last, as Python has it. Missing when there is none, or when
    /// this is no object. About log2(n) steps.
    Value operator[](std::string_view key) const;
    bool has(std::string_view key) const { return (*this)[key].exists(); }
    /// The element at `index`; missing beyond the end or when this is no array.
    Value at(std::size_t index) const;
    /// Members of an object, elements of an array, else 0.
    std::size_t size() const;
    /// In the order of the text; empty when this is no object (no array).
    Members members() const;
    Elements elements() const;

    /// A whole number that int64 holds exactly, also when written as 8.0 or 1e6 (below 2^53).
    std::optional<std::int64_t> integer() const;
    /// A finite number. Integers beyond 2^53 are rounded to the nearest double.
    std::optional<double> number() const;
    /// As number(), and the two infinities; never NaN.
    std::optional<double> number_or_infinity() const;
    /// Decoded UTF-8. The view lives as long as the Document.
    std::optional<std::string_view> string() const;
    std::optional<bool> boolean() const;

    /// The name of this member in its object, or empty for elements, the root and missing values.
    std::string_view key() const;
    /// RFC 6901, "" for the root; also for a missing value.
    std::string pointer() const;
    /// Where the value begins; for a missing one, where its nearest existing ancestor begins. {0, 0} without a
    /// Document.
    LineColumn line_column() const;
    /// The value in a few words, for `Diagnostic::found`: numbers as written, strings in quotes and clipped,
    /// "an array of 3 elements", "null", "nothing".
    std::string describe() const;
    /// An error at this place (file, pointer, line, column, caret), `found` filled in from describe().
    Diagnostic diagnostic(Severity severity, std::string code, std::string message) const;
    /// Equal for two handles to the same existing value, distinct otherwise; null when missing.
    const void* identity() const;

private:
    friend class Document;
    friend class Members;
    friend class Elements;
    Value(const detail::Tree* tree, std::uint32_t node) : tree_(tree), node_(node) {}
    Value missing_member(std::string_view name) const;

    const detail::Tree* tree_ = nullptr;
    std::uint32_t node_ = 0;  ///< when missing: the nearest existing ancestor
    std::string missing_;     ///< when missing: the rest of the pointer, "/a/b"
};

struct Member {
    std::string_view key;
    Value value;
};

/// The elements of an array, for range-for.
class Elements {
public:
    class Iterator {
    public:
        Iterator(const Elements* range, std::size_t index) : range_(range), index_(index) {}
        Value operator*() const { return range_->get(index_); }
        Iterator& operator++() {
            ++index_;
            return *this;
        }
        bool operator==(const Iterator& other) const { return index_ == other.index_; }

    private:
        const Elements* range_;
        std::size_t index_;
    };

    Iterator begin() const { return {this, 0}; }
    Iterator end() const { return {this, size_}; }
    std::size_t size() const { return size_; }

private:
    friend class Value;
    Elements(const detail::Tree* tree, std::uint32_t first, std::size_t size)
        : tree_(tree), first_(first), size_(size) {}
    Value get(std::size_t index) const;

    const detail::Tree* tree_;
    std::uint32_t first_;
    std::size_t size_;
};

/// The members of an object, for range-for: `for (const auto& [key, value] : object.members())`.
class Members {
public:
    class Iterator {
    public:
        Iterator(const Members* range, std::size_t index) : range_(range), index_(index) {}
        Member operator*() const { return range_->get(index_); }
        Iterator& operator++() {
            ++index_;
            return *this;
        }
        bool operator==(const Iterator& other) const { return index_ == other.index_; }

    private:
        const Members* range_;
        std::size_t index_;
    };

    Iterator begin() const { return {this, 0}; }
    Iterator end() const { return {this, size_}; }
    std::size_t size() const { return size_; }

private:
    friend class Value;
    Members(const detail::Tree* tree, std::uint32_t first, std::size_t size)
        : tree_(tree), first_(first), size_(size) {}
    Member get(std::size_t index) const;

    const detail::Tree* tree_;
    std::uint32_t first_;
    std::size_t size_;
};

/// Owns the text and the tree. Copies share them; handles stay valid while any copy lives.
class Document {
public:
    explicit Document(std::shared_ptr<const detail::Tree> tree) : tree_(std::move(tree)) {}

    Value root() const;
    std::string_view source_name() const;
    std::string_view text() const;
    /// The value with that number in the order of the text, the root being 0; for the parser's own messages.
    Value node(std::uint32_t index) const { return {tree_.get(), index}; }

private:
    std::shared_ptr<const detail::Tree> tree_;
};

/// `text` as a tree. Nothing when the text is no JSON document within the limits: `diagnostics` then holds the error.
/// Keys given twice and numbers beyond a double are errors too, but the tree is still made, so that the caller can go
/// on and find the rest; check `diagnostics.has_errors()` before using the result for anything but further checks.
/// Codes: json.empty, json.encoding, json.bom (warning), json.syntax, json.truncated, json.too-deep, json.too-large,
/// json.number-too-large, json.duplicate-key.
std::optional<Document> parse(std::string text, std::string source_name, Diagnostics& diagnostics,
                              const Limits& limits = {});

/// The bytes of a regular file or FIFO, never more than `limits.max_bytes`.
/// Codes: file.missing, file.directory, file.kind, file.unreadable, json.too-large.
std::optional<std::string> read_file(const std::string& path, Diagnostics& diagnostics, const Limits& limits = {});

/// read_file, then parse.
std::optional<Document> parse_file(const std::string& path, Diagnostics& diagnostics, const Limits& limits = {});

}  // namespace kvplan::json
