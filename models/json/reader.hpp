// Checked access to JSON values: every fault becomes a Diagnostic, and reading goes on, so that all faults of a file
// are reported at once. Nothing converts silently: 80.7 is no integer, true is no 1, "8" is no 8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "models/json/document.hpp"
#include "units/diagnostic.hpp"

namespace kvplan::json {

/// Inclusive bounds of a whole number.
struct IntegerRange {
    std::int64_t min = std::numeric_limits<std::int64_t>::min();
    std::int64_t max = std::numeric_limits<std::int64_t>::max();

    bool contains(std::int64_t value) const { return min <= value && value <= max; }
    /// "a whole number from 1 to 128", "a whole number of at least 0", ...
    std::string text() const;
};

inline constexpr IntegerRange kAnyInteger{};
/// Counts and dimensions: far above any real one, and far below where products of a few of them leave int64.
inline constexpr std::int64_t kMaxCount = 1'000'000'000;
inline constexpr IntegerRange kCount{1, kMaxCount};
inline constexpr IntegerRange kCountOrZero{0, kMaxCount};
/// Sizes in bytes or tokens, which may be large.
inline constexpr IntegerRange kPositive{1, std::numeric_limits<std::int64_t>::max()};
inline constexpr IntegerRange kNonNegative{0, std::numeric_limits<std::int64_t>::max()};

/// Inclusive bounds of a finite number, the lower one exclusive when `above_min`.
struct NumberRange {
    double min = std::numeric_limits<double>::lowest();
    double max = std::numeric_limits<double>::max();
    bool above_min = false;

    bool contains(double value) const { return (above_min ? min < value : min <= value) && value <= max; }
    /// "a number above 0", "a number from 0 to 1", ...
    std::string text() const;
};

inline constexpr NumberRange kAnyNumber{};
inline constexpr NumberRange kPositiveNumber{0.0, std::numeric_limits<double>::max(), true};
inline constexpr NumberRange kNonNegativeNumber{0.0, std::numeric_limits<double>::max(), false};
inline constexpr NumberRange kFraction{0.0, 1.0, false};

/// The spellings of one key, preferred first: `{"num_hidden_layers", "n_layer"}`, or a table's span. Does not own them.
class Names {
public:
    Names(std::initializer_list<std::string_view> names) : names_(view(names)) {}
    Names(std::span<const std::string_view> names) : names_(names) {}
    template <std::size_t N>
    Names(const std::string_view (&names)[N]) : names_(names) {}

    const std::string_view* begin() const { return names_.data(); }
    const std::string_view* end() const { return names_.data() + names_.size(); }
    std::string_view first() const { return names_.empty() ? std::string_view{} : names_.front(); }

private:
    static std::span<const std::string_view> view(std::initializer_list<std::string_view> names) {
        return {names.begin(), names.size()};
    }

    std::span<const std::string_view> names_;
};

/// Reads members of objects by name. For every `names`, the first that is there and not null wins.
///
/// The plain readers give nothing, silently, when no name is there (or all are null); the `required_` ones then add an
/// error "value.missing". Both give nothing and add an error for a value of another type ("value.type") or out of range
/// ("value.range"). A parent that is missing counts as an object without members.
class Reader {
public:
    explicit Reader(Diagnostics& diagnostics) : diagnostics_(&diagnostics) {}

    /// The first of `names` in `object` that is there and not null, of any type; else the first that is null; else
    /// missing under the first name. Counts all of `names` as used.
    Value find(const Value& object, Names names);

    std::optional<std::int64_t> integer(const Value& object, Names names, IntegerRange range);
    std::optional<double> number(const Value& object, Names names, NumberRange range);
    std::optional<bool> boolean(const Value& object, Names names);
    std::optional<std::string> string(const Value& object, Names names);

    std::optional<std::int64_t> required_integer(const Value& object, Names names, IntegerRange range);
    std::optional<double> required_number(const Value& object, Names names, NumberRange range);
    std::optional<bool> required_boolean(const Value& object, Names names);
    std::optional<std::string> required_string(const Value& object, Names names);

    /// Arrays. Nothing when any element is at fault, null included (the first 20 are reported).
    std::optional<std::vector<std::int64_t>> integer_list(const Value& object, Names names, IntegerRange range);
    std::optional<std::vector<double>> number_list(const Value& object, Names names, NumberRange range);
    std::optional<std::vector<std::string>> string_list(const Value& object, Names names);
    /// As integer_list, and one integer counts as a list of one: `eos_token_id` is either in real configs.
    std::optional<std::vector<std::int64_t>> integer_or_list(const Value& object, Names names, IntegerRange range);

    /// A member that is an object (an array); missing when there is none or it is of another type.
    Value object(const Value& parent, Names names);
    Value array(const Value& parent, Names names);
    Value required_object(const Value& parent, Names names);
    Value required_array(const Value& parent, Names names);

    /// The same checks for a value already at hand, such as an element. Nothing, silently, when missing or null.
    std::optional<std::int64_t> as_integer(const Value& value, IntegerRange range);
    std::optional<double> as_number(const Value& value, NumberRange range);
    std::optional<bool> as_boolean(const Value& value);
    std::optional<std::string> as_string(const Value& value);

    /// Adds a fault of the caller's own at `value`.
    void error(const Value& value, std::string code, std::string message, std::string expected, std::string hint = {});
    void warning(const Value& value, std::string code, std::string message, std::string hint = {});

    /// Counts `value` as read, for members that are looked at without this class.
    void mark_used(const Value& value);
    /// The members of `object` that nobody asked for, in the order of the text. Not recursive.
    std::vector<std::string> unused_keys(const Value& object) const;
    /// Warns of each unused key of `object` ("value.unknown-key"), with the nearest of `known` as hint.
    void warn_unused(const Value& object, std::span<const std::string_view> known);

    Diagnostics& diagnostics() { return *diagnostics_; }

private:
    Value require(const Value& object, Names names, const std::string& expected);
    Value as_container(const Value& value, Kind kind);
    bool refuse_null(const Value& element, const std::string& expected);
    void type_error(const Value& value, const std::string& expected);
    void range_error(const Value& value, const std::string& expected);

    Diagnostics* diagnostics_;
    std::unordered_set<const void*> used_;
};

}  // namespace kvplan::json
