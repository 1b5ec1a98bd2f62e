#include "models/json/reader.hpp"

#include <charconv>
#include <cmath>
#include <utility>

namespace kvplan::json {
namespace {

// Per list: more would only repeat what the first ones say.
constexpr std::size_t kMostFaultyElements = 20;
constexpr std::size_t kMostUnusedWarned = 50;

std::string number_text(double value) {
    if (value == std::trunc(value) && std::abs(value) < 1e15) return std::to_string(static_cast<std::int64_t>(value));
    std::string text = std::to_string(value);  // six decimals
    while (text.back() == '0') text.pop_back();
    return text;
}

std::string quoted(std::string_view name) { return std::string("\"").append(name).append("\""); }

/// "a", "a or b", "a, b or c", each in quotes.
std::string any_of(Names names) {
    std::string out;
    for (const std::string_view& name : names) {
        if (!out.empty()) out += &name + 1 == names.end() ? " or " : ", ";
        out += quoted(name);
    }
    return out;
}

std::string label(const Value& value) {
    if (!value.key().empty()) return std::string(value.key());
    const std::string pointer = value.pointer();
    return pointer.empty() ? "the document" : pointer;
}

/// What helps when the text of a string is the number that was meant.
std::string unquote_hint(const Value& value) {
    const std::optional<std::string_view> text = value.string();
    if (!text || text->empty()) return {};
    std::int64_t number = 0;
    const std::from_chars_result result = std::from_chars(text->data(), text->data() + text->size(), number);
    if (result.ec != std::errc{} || result.ptr != text->data() + text->size()) return {};
    return "write it without quotes: " + std::string(*text);
}

template <class T, class Read>
std::optional<std::vector<T>> read_elements(const Value& array, const Read& read) {
    std::vector<T> out;
    out.reserve(array.size());
    std::size_t faulty = 0;
    for (const Value& element : array.elements()) {
        std::optional<T> item = read(element);
        if (item) {
            out.push_back(std::move(*item));
        } else if (++faulty == kMostFaultyElements) {
            break;
        }
    }
    if (faulty > 0) return std::nullopt;
    return out;
}

}  // namespace

std::string IntegerRange::text() const {
    const bool bounded = max != std::numeric_limits<std::int64_t>::max();
    if (min == std::numeric_limits<std::int64_t>::min()) {
        return bounded ? "a whole number of at most " + std::to_string(max) : "a whole number";
    }
    if (bounded) return "a whole number from " + std::to_string(min) + " to " + std::to_string(max);
    return min == 1 ? "a positive whole number" : "a whole number of at least " + std::to_string(min);
}

std::string NumberRange::text() const {
    const bool bounded = max != std::numeric_limits<double>::max();
    std::string out = "a number";
    if (min != std::numeric_limits<double>::lowest()) {
        out += (above_min ? " above " : bounded ? " from " : " of at least ") + number_text(min);
        if (bounded) out += (above_min ? " and at most " : " to ") + number_text(max);
    } else if (bounded) {
        out += " of at most " + number_text(max);
    }
    return out;
}

Value Reader::find(const Value& object, Names names) {
    Value null;
    Value chosen;
    for (const std::string_view name : names) {
        const Value value = object[name];
        mark_used(value);
        if (value.has_value() && !chosen.has_value()) chosen = value;
        if (value.is_null() && !null.exists()) null = value;
    }
    if (chosen.has_value()) return chosen;
    return null.exists() ? null : object[names.first()];
}

void Reader::mark_used(const Value& value) {
    if (value.exists()) used_.insert(value.identity());
}

void Reader::type_error(const Value& value, const std::string& expected) {
    Diagnostic fault = value.diagnostic(Severity::error, "value.type", label(value) + " has the wrong type");
    fault.expected = expected;
    fault.hint = expected.find("number") != std::string::npos ? unquote_hint(value) : std::string{};
    diagnostics_->add(std::move(fault));
}

void Reader::range_error(const Value& value, const std::string& expected) {
    Diagnostic fault = value.diagnostic(Severity::error, "value.range", label(value) + " is out of range");
    fault.expected = expected;
    diagnostics_->add(std::move(fault));
}

Value Reader::require(const Value& object, Names names, const std::string& expected) {
    const Value value = find(object, names);
    if (value.has_value()) return value;
    if (object.exists() && !object.is_object()) {
        type_error(object, "an object");
        return value;
    }
    const std::string name(names.first());
    Diagnostic fault =
        value.diagnostic(Severity::error, "value.missing", name + (value.is_null() ? " is null" : " is missing"));
    fault.expected = expected + " under " + any_of(names);
    // A key that something else has asked for already is no misspelling of this one.
    const std::vector<std::string> candidates = unused_keys(object);
    fault.hint = did_you_mean(nearest_names(name, std::span<const std::string>(candidates)));
    diagnostics_->add(std::move(fault));
    return value;
}

std::optional<std::int64_t> Reader::as_integer(const Value& value, IntegerRange range) {
    if (!value.has_value()) return std::nullopt;
    const std::optional<std::int64_t> integer = value.integer();
    if (integer && range.contains(*integer)) return integer;
    const std::optional<double> number = value.number_or_infinity();
    // A fraction is of the wrong type; what is too large for int64 is out of range.
    const bool fraction = number && std::isfinite(*number) && std::trunc(*number) != *number;
    if (!value.is_number() || fraction) {
        type_error(value, range.text());
    } else {
        range_error(value, range.text());
    }
    return std::nullopt;
}

std::optional<double> Reader::as_number(const Value& value, NumberRange range) {
    if (!value.has_value()) return std::nullopt;
    const std::optional<double> number = value.number();
    if (number && range.contains(*number)) return number;
    if (value.is_number()) {
        range_error(value, range.text());
    } else {
        type_error(value, range.text());
    }
    return std::nullopt;
}

std::optional<bool> Reader::as_boolean(const Value& value) {
    if (!value.has_value()) return std::nullopt;
    if (!value.is_bool()) type_error(value, "true or false");
    return value.boolean();
}

std::optional<std::string> Reader::as_string(const Value& value) {
    if (!value.has_value()) return std::nullopt;
    if (!value.is_string()) {
        type_error(value, "a string");
        return std::nullopt;
    }
    return std::string(*value.string());
}

std::optional<std::int64_t> Reader::integer(const Value& object, Names names, IntegerRange range) {
    return as_integer(find(object, names), range);
}

std::optional<double> Reader::number(const Value& object, Names names, NumberRange range) {
    return as_number(find(object, names), range);
}

std::optional<bool> Reader::boolean(const Value& object, Names names) { return as_boolean(find(object, names)); }

std::optional<std::string> Reader::string(const Value& object, Names names) { return as_string(find(object, names)); }

std::optional<std::int64_t> Reader::required_integer(const Value& object, Names names, IntegerRange range) {
    return as_integer(require(object, names, range.text()), range);
}

std::optional<double> Reader::required_number(const Value& object, Names names, NumberRange range) {
    return as_number(require(object, names, range.text()), range);
}

std::optional<bool> Reader::required_boolean(const Value& object, Names names) {
    return as_boolean(require(object, names, "true or false"));
}

std::optional<std::string> Reader::required_string(const Value& object, Names names) {
    return as_string(require(object, names, "a string"));
}

Value Reader::as_container(const Value& value, Kind kind) {
    if (value.kind() == kind) return value;
    if (value.has_value()) type_error(value, std::string(kind_name(kind)));
    return {};
}

Value Reader::object(const Value& parent, Names names) { return as_container(find(parent, names), Kind::object); }

Value Reader::array(const Value& parent, Names names) { return as_container(find(parent, names), Kind::array); }

Value Reader::required_object(const Value& parent, Names names) {
    return as_container(require(parent, names, "an object"), Kind::object);
}

Value Reader::required_array(const Value& parent, Names names) {
    return as_container(require(parent, names, "an array"), Kind::array);
}

bool Reader::refuse_null(const Value& element, const std::string& expected) {
    if (element.is_null()) type_error(element, expected);
    return element.is_null();
}

std::optional<std::vector<std::int64_t>> Reader::integer_list(const Value& object, Names names, IntegerRange range) {
    const Value list = array(object, names);
    if (!list.exists()) return std::nullopt;
    return read_elements<std::int64_t>(list, [&](const Value& element) -> std::optional<std::int64_t> {
        if (refuse_null(element, range.text())) return std::nullopt;
        return as_integer(element, range);
    });
}

std::optional<std::vector<std::int64_t>> Reader::integer_or_list(const Value& object, Names names, IntegerRange range) {
    const Value value = find(object, names);
    if (value.is_array()) return integer_list(object, names, range);
    const std::optional<std::int64_t> single = as_integer(value, range);
    if (!single) return std::nullopt;
    return std::vector<std::int64_t>{*single};
}

std::optional<std::vector<double>> Reader::number_list(const Value& object, Names names, NumberRange range) {
    const Value list = array(object, names);
    if (!list.exists()) return std::nullopt;
    return read_elements<double>(list, [&](const Value& element) -> std::optional<double> {
        if (refuse_null(element, range.text())) return std::nullopt;
        return as_number(element, range);
    });
}

std::optional<std::vector<std::string>> Reader::string_list(const Value& object, Names names) {
    const Value list = array(object, names);
    if (!list.exists()) return std::nullopt;
    return read_elements<std::string>(list, [&](const Value& element) -> std::optional<std::string> {
        if (refuse_null(element, "a string")) return std::nullopt;
        return as_string(element);
    });
}

void Reader::error(const Value& value, std::string code, std::string message, std::string expected, std::string hint) {
    Diagnostic fault = value.diagnostic(Severity::error, std::move(code), std::move(message));
    fault.expected = std::move(expected);
    fault.hint = std::move(hint);
    diagnostics_->add(std::move(fault));
}

void Reader::warning(const Value& value, std::string code, std::string message, std::string hint) {
    Diagnostic fault = value.diagnostic(Severity::warning, std::move(code), std::move(message));
    fault.hint = std::move(hint);
    diagnostics_->add(std::move(fault));
}

std::vector<std::string> Reader::unused_keys(const Value& object) const {
    std::vector<std::string> out;
    std::unordered_set<std::string_view> told;
    for (const auto& [key, value] : object.members()) {
        // Of a key given twice only the last is ever read.
        const bool read = used_.count(value.identity()) > 0 || used_.count(object[key].identity()) > 0;
        if (!read && told.insert(key).second) out.emplace_back(key);
    }
    return out;
}

void Reader::warn_unused(const Value& object, std::span<const std::string_view> known) {
    const std::vector<std::string> unused = unused_keys(object);
    for (std::size_t i = 0; i < unused.size() && i < kMostUnusedWarned; ++i) {
        warning(object[unused[i]], "value.unknown-key", quoted(unused[i]) + " is not a known key and was ignored",
                did_you_mean(nearest_names(unused[i], known)));
    }
}

}  // namespace kvplan::json
