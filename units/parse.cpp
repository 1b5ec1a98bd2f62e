#include "units/parse.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "units/ascii.hpp"

namespace kvplan {

namespace {

struct Unit {
    std::string_view name;
    std::int64_t bytes;
};

constexpr std::array<Unit, 12> kUnits{{{"B", 1},
                                       {"kB", kKB},
                                       {"KB", kKB},
                                       {"MB", kMB},
                                       {"GB", kGB},
                                       {"TB", kTB},
                                       {"PB", 1000 * kTB},
                                       {"KiB", kKiB},
                                       {"MiB", kMiB},
                                       {"GiB", kGiB},
                                       {"TiB", kTiB},
                                       {"PiB", 1024 * kTiB}}};

constexpr std::string_view kSizeExpected = "a size with its unit, such as 449GiB (2^30) or 408GB (10^9)";

std::string_view trim(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

bool same_letters(std::string_view a, std::string_view b) { return lower(a) == lower(b); }

struct NumberAndUnit {
    std::string_view number;
    std::string_view unit;
};

NumberAndUnit split(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size() && ((text[end] >= '0' && text[end] <= '9') || text[end] == '.' || text[end] == ',' ||
                                 text[end] == '_' || text[end] == '-' || text[end] == '+'))
        ++end;
    // "1e3GB": an exponent only when digits follow it.
    if (end + 1 < text.size() && (text[end] == 'e' || text[end] == 'E') && text[end + 1] >= '0' && text[end + 1] <= '9') {
        ++end;
        while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    }
    return {text.substr(0, end), trim(text.substr(end))};
}

std::optional<std::int64_t> unit_bytes(std::string_view unit) {
    for (const Unit& known : kUnits)
        if (known.name == unit) return known.bytes;
    // Lower-case spellings are unambiguous as long as the whole unit is there ("gib", "gb").
    for (const Unit& known : kUnits)
        if (unit.size() > 1 && same_letters(known.name, unit)) return known.bytes;
    return std::nullopt;
}

std::string both_readings(std::string_view number, std::string_view unit) {
    const char letter = unit.empty() ? 'G' : static_cast<char>(lower(unit.front()) - 'a' + 'A');
    const std::string n(number);
    return "write " + n + letter + "iB (power of 2) or " + n + letter + "B (power of 10)";
}

// Exact for whole numbers; a fraction goes through a long double and is rounded to the nearest byte.
Parsed<Bytes> scaled(std::string_view number, std::int64_t unit) {
    const Parsed<std::int64_t> whole = parse_integer(number);
    if (const auto* n = std::get_if<std::int64_t>(&whole)) {
        std::int64_t bytes = 0;
        if (*n < 0) return ParseFailure{"a size that is not negative", "remove the minus sign"};
        if (__builtin_mul_overflow(*n, unit, &bytes)) return ParseFailure{"a size below 2^63 bytes", "check the unit"};
        return Bytes{bytes};
    }
    const Parsed<double> real = parse_real(number);
    const auto* x = std::get_if<double>(&real);
    if (x == nullptr) return ParseFailure{std::string(kSizeExpected), ""};
    if (*x < 0) return ParseFailure{"a size that is not negative", "remove the minus sign"};
    const long double bytes = std::round(static_cast<long double>(*x) * static_cast<long double>(unit));
    if (bytes >= 9.0e18L) return ParseFailure{"a size below 2^63 bytes", "check the unit"};
    return Bytes{static_cast<std::int64_t>(bytes)};
}

}  // namespace

Parsed<Bytes> parse_size(std::string_view raw) {
    const NumberAndUnit parts = split(trim(raw));
    if (parts.number.empty()) return ParseFailure{std::string(kSizeExpected), ""};
    const auto unit = unit_bytes(parts.unit);
    if (unit) return scaled(parts.number, *unit);
    const bool is_prefix = parts.unit.empty() ||
                           (parts.unit.size() <= 2 && std::string_view("kmgtp").find(lower(parts.unit.front())) != std::string_view::npos);
    return ParseFailure{std::string(kSizeExpected), is_prefix ? both_readings(parts.number, parts.unit) : "units are B, KB, MB, GB, TB, KiB, MiB, GiB, TiB"};
}

Parsed<EngineSize> parse_engine_size(std::string_view raw, std::int64_t unit_bytes_value) {
    const NumberAndUnit parts = split(trim(raw));
    if (!parts.number.empty() && parts.unit.empty()) {
        const Parsed<Bytes> bytes = scaled(parts.number, unit_bytes_value);
        if (const auto* failure = std::get_if<ParseFailure>(&bytes)) return *failure;
        return EngineSize{std::get<Bytes>(bytes), false};
    }
    const Parsed<Bytes> bytes = parse_size(raw);
    if (const auto* failure = std::get_if<ParseFailure>(&bytes)) return *failure;
    return EngineSize{std::get<Bytes>(bytes), true};
}

Parsed<std::int64_t> parse_integer(std::string_view raw) {
    const std::string_view text = trim(raw);
    std::string digits;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool separator = text[i] == '_' || text[i] == ',';
        if (separator && i > 0 && i + 1 < text.size() && text[i - 1] >= '0' && text[i - 1] <= '9') continue;
        if (i == 0 && text[i] == '+') continue;
        digits += text[i];
    }
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range) return ParseFailure{"a whole number below 2^63", ""};
    if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty()) return ParseFailure{"a whole number", ""};
    return value;
}

Parsed<double> parse_real(std::string_view raw) {
    const std::string_view text = trim(raw);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty() || !std::isfinite(value))
        return ParseFailure{"a finite number", ""};
    return value;
}

Parsed<double> parse_duration_seconds(std::string_view raw) {
    constexpr std::array<std::pair<std::string_view, double>, 6> kDurations{
        {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}, {"m", 60.0}, {"min", 60.0}, {"h", 3600.0}}};
    const NumberAndUnit parts = split(trim(raw));
    for (const auto& [name, seconds] : kDurations) {
        if (parts.unit != name) continue;
        const Parsed<double> number = parse_real(parts.number);
        if (const auto* x = std::get_if<double>(&number); x != nullptr && *x >= 0) return *x * seconds;
    }
    return ParseFailure{"a duration with its unit, such as 2s or 50ms", "units are us, ms, s, m, h"};
}

}  // namespace kvplan
