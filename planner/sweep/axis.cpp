#include "planner/sweep/axis.hpp"

#include <algorithm>

#include "units/ascii.hpp"

namespace kvplan::sweep {

namespace {

struct Decimal {
    std::string digits;                       // with sign, without the point
    int decimals = 0;
    std::string unit;
};


// A plain decimal number and what follows it; nothing when the text does not begin with one.
std::optional<Decimal> decimal(std::string_view text) {
    Decimal number;
    std::size_t i = 0;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) {
        if (text[i] == '-') number.digits = "-";
        ++i;
    }
    const std::size_t first = i;
    while (i < text.size() && is_digit(text[i])) number.digits += text[i++];
    bool any = i > first;
    if (i < text.size() && text[i] == '.') {
        for (++i; i < text.size() && is_digit(text[i]); ++i, ++number.decimals, any = true) number.digits += text[i];
    }
    if (!any) return std::nullopt;
    number.unit = std::string(text.substr(i));
    // "7b" of a model's name is no number with a unit; units are letters only, and a second colon-part check follows.
    if (!std::all_of(number.unit.begin(), number.unit.end(), is_letter)) return std::nullopt;
    return number;
}

std::optional<std::int64_t> scaled(const Decimal& number, int decimals) {
    const std::string text = number.digits + std::string(static_cast<std::size_t>(decimals - number.decimals), '0');
    if (text.size() > 18) return std::nullopt;
    return std::stoll(text);
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == separator) parts.emplace_back();
        else parts.back() += c;
    }
    return parts;
}

Diagnostic fault(const std::string& text, std::string message, std::string found, std::string expected, std::string hint) {
    Diagnostic diagnostic;
    diagnostic.code = "sweep.set";
    diagnostic.pointer = "--set " + text;
    diagnostic.message = std::move(message);
    diagnostic.found = std::move(found);
    diagnostic.expected = std::move(expected);
    diagnostic.hint = std::move(hint);
    return diagnostic;
}

// Values between commas; one that begins with a quote goes to the next such quote, so it may hold commas (a quote
// given twice stands for itself).
std::optional<std::vector<std::string>> listed(std::string_view text) {
    std::vector<std::string> values;
    for (std::size_t i = 0;; ++i) {
        std::string value;
        const char quote = i < text.size() && (text[i] == '"' || text[i] == '\'') ? text[i] : '\0';
        if (quote == '\0') {
            while (i < text.size() && text[i] != ',') value += text[i++];
        } else {
            for (++i; i < text.size(); value += text[i++])
                if (text[i] == quote && text.substr(i, 2) == std::string(2, quote)) ++i;
                else if (text[i] == quote) break;
            if (i >= text.size() || (++i < text.size() && text[i] != ',')) return std::nullopt;
        }
        values.push_back(std::move(value));
        if (i >= text.size()) return values;
    }
}

// Three parts that all begin with a number are a range; "mean:p95" and "lognormal:3500:2" are values.
std::optional<std::vector<Decimal>> range_parts(const std::string& values) {
    const std::vector<std::string> parts = split(values, ':');
    if (parts.size() != 3) return std::nullopt;
    std::vector<Decimal> numbers;
    for (const std::string& part : parts) {
        auto number = decimal(part);
        if (!number) return std::nullopt;
        numbers.push_back(std::move(*number));
    }
    return numbers;
}

std::optional<Steps> steps_of(const std::string& text, const std::vector<Decimal>& parts, Diagnostics& diagnostics) {
    Steps steps;
    steps.unit = parts[0].unit;
    if (parts[1].unit != steps.unit || parts[2].unit != steps.unit) {
        diagnostics.add(fault(text, "the three numbers of a range have one unit", parts[0].unit + ", " + parts[1].unit + ", " + parts[2].unit, "the same unit behind start, stop and step", "400GB:800GB:50GB"));
        return std::nullopt;
    }
    for (const Decimal& part : parts) steps.decimals = std::max(steps.decimals, part.decimals);
    const auto start = scaled(parts[0], steps.decimals), stop = scaled(parts[1], steps.decimals), step = scaled(parts[2], steps.decimals);
    if (!start || !stop || !step) {
        diagnostics.add(fault(text, "a number of the range is too long", "", "at most 18 digits", ""));
        return std::nullopt;
    }
    if (*step == 0 || (*stop != *start && (*stop > *start) != (*step > 0))) {
        diagnostics.add(fault(text, "the range never reaches its stop", text, "a step that leads from start to stop", "start:stop:step, as in 0.80:0.95:0.01"));
        return std::nullopt;
    }
    steps.start = *start;
    steps.step = *step;
    steps.count = (*stop - *start) / *step + 1;
    return steps;
}

bool try_value(const std::string& text, const FieldSpec& field, const std::string& value, Diagnostics& diagnostics) {
    Scenario scratch;
    const auto failure = set_field(scratch, field, value, "sweep");
    if (!failure) return true;
    diagnostics.add(fault(text, std::string(field.name) + " cannot be used", value.empty() ? "nothing" : value, failure->expected, failure->hint));
    return false;
}

}  // namespace

std::int64_t Axis::size() const {
    if (const auto* steps = std::get_if<Steps>(&values)) return steps->count;
    return static_cast<std::int64_t>(std::get<std::vector<std::string>>(values).size());
}

std::string Axis::value(std::int64_t index) const {
    const auto* steps = std::get_if<Steps>(&values);
    if (steps == nullptr) return std::get<std::vector<std::string>>(values)[static_cast<std::size_t>(index)];
    const std::int64_t number = steps->start + index * steps->step;
    std::string digits = std::to_string(number < 0 ? -number : number);
    const auto decimals = static_cast<std::size_t>(steps->decimals);
    if (decimals > 0) {
        if (digits.size() <= decimals) digits.insert(0, decimals + 1 - digits.size(), '0');
        digits.insert(digits.size() - decimals, ".");
    }
    return (number < 0 ? "-" : "") + digits + steps->unit;
}

std::optional<Axis> parse_axis(const std::string& text, Diagnostics& diagnostics) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    Axis axis;
    axis.field = find_field(name);
    if (equals == std::string::npos || axis.field == nullptr) {
        const bool named = equals != std::string::npos;
        diagnostics.add(fault(text, named ? "there is no scenario field " + name : "no values are given", "", named ? "a scenario field" : "field=start:stop:step or field=a,b,c", named ? did_you_mean(nearest_names(name, field_names())) : ""));
        return std::nullopt;
    }
    const std::string values = text.substr(equals + 1);
    if (const auto parts = range_parts(values)) {
        const auto steps = steps_of(text, *parts, diagnostics);
        if (!steps) return std::nullopt;
        axis.values = *steps;
        if (!try_value(text, *axis.field, axis.value(0), diagnostics) || !try_value(text, *axis.field, axis.value(steps->count - 1), diagnostics)) return std::nullopt;
        return axis;
    }
    const auto list = listed(values);
    if (!list) {
        diagnostics.add(fault(text, "a quoted value has no end", values, "the closing quote, then a comma or the end", "'field=\"a,b\",c' are the values a,b and c"));
        return std::nullopt;
    }
    bool good = true;
    for (const std::string& value : *list) good = try_value(text, *axis.field, value, diagnostics) && good;
    if (!good) return std::nullopt;
    axis.values = *list;
    return axis;
}

}  // namespace kvplan::sweep
