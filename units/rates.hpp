#pragma once

#include <compare>

#include "units/tokens.hpp"

namespace kvplan {

/// A real number per something. Bytes per token are exact in a double as long as every element size is a
/// dyadic fraction of a byte (fp4 with one scale byte per 16 elements is 0.5 + 1/16), which all formats are.
template <class Kind>
struct Rate {
    double value = 0.0;

    friend constexpr Rate operator+(Rate a, Rate b) { return Rate{a.value + b.value}; }
    friend constexpr Rate operator-(Rate a, Rate b) { return Rate{a.value - b.value}; }
    friend constexpr Rate operator*(Rate a, double n) { return Rate{a.value * n}; }
    friend constexpr Rate operator*(double n, Rate a) { return Rate{a.value * n}; }
    friend constexpr Rate operator/(Rate a, double n) { return Rate{a.value / n}; }
    friend constexpr double operator/(Rate a, Rate b) { return a.value / b.value; }
    friend constexpr auto operator<=>(Rate, Rate) = default;
    friend constexpr bool operator==(Rate, Rate) = default;
};

using BytesPerToken = Rate<struct BytesPerTokenKind>;
using BytesPerSecond = Rate<struct BytesPerSecondKind>;
using TokensPerSecond = Rate<struct TokensPerSecondKind>;
using Flops = Rate<struct FlopsKind>;

/// The bytes that `tokens` take, rounded up to a whole byte.
[[nodiscard]] inline Bytes bytes_for(Tokens tokens, BytesPerToken rate) {
    return ceil_bytes(static_cast<double>(tokens.count()) * rate.value);
}

/// floor(bytes / rate); 0 when bytes is negative. `rate.value` must be positive.
[[nodiscard]] inline Tokens tokens_in(Bytes bytes, BytesPerToken rate) {
    if (bytes.count() <= 0) return Tokens{0};
    return Tokens{floor_bytes(static_cast<double>(bytes.count()) / rate.value).count()};
}

}  // namespace kvplan
