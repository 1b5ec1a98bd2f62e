#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "units/bytes.hpp"

namespace kvplan {

/// Why a text is not the number or size that was asked for; a sentence for a Diagnostic's `expected` and `hint`.
struct ParseFailure {
    std::string expected;
    std::string hint;
};

template <class T>
using Parsed = std::variant<T, ParseFailure>;

/// A size with its unit: `449GiB`, `408GB`, `97887MiB`, `1.5TB`, `512 KiB`, `70272B`. B, kB/KB, MB, GB, TB, PB are
/// powers of 10; KiB, MiB, GiB, TiB, PiB powers of 2. A bare number or `80G` fails with both readings in the hint.
/// Fractions are allowed when the result is a whole number of bytes after rounding to the nearest one. Never negative.
[[nodiscard]] Parsed<Bytes> parse_size(std::string_view text);

/// As parse_size, but a bare number counts in `unit_bytes` (an engine's own flag takes the engine's unit).
struct EngineSize {
    Bytes bytes;
    bool had_unit = false;
};
[[nodiscard]] Parsed<EngineSize> parse_engine_size(std::string_view text, std::int64_t unit_bytes);

/// A whole number in decimal, with optional sign and `_` or `,` between groups of digits; range-checked against 64 bits.
[[nodiscard]] Parsed<std::int64_t> parse_integer(std::string_view text);

/// A finite real number, locale-independent.
[[nodiscard]] Parsed<double> parse_real(std::string_view text);

/// Seconds: `2s`, `50ms`, `1.5m`, `1h`, `200us`; a bare number fails.
[[nodiscard]] Parsed<double> parse_duration_seconds(std::string_view text);

[[nodiscard]] bool parse_ok(const auto& parsed) { return parsed.index() == 0; }

}  // namespace kvplan
