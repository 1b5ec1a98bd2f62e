#pragma once

#include <cstdint>
#include <string>

#include "units/bytes.hpp"
#include "units/tokens.hpp"

namespace kvplan {

/// One place for how a figure looks, so that it reads the same in text, Markdown and the window. All are
/// independent of the locale.

/// 116000 -> "116,000".
[[nodiscard]] std::string with_commas(std::int64_t n);
/// A real number with `decimals` digits, grouped: 15955.85 -> "15,955.85".
[[nodiscard]] std::string fixed(double x, int decimals);
/// Up to `decimals` digits with trailing zeros cut: 12288.0 -> "12,288", 66355.2 -> "66,355.2".
[[nodiscard]] std::string shortest(double x, int decimals = 3);
/// Binary units with two decimals: "71.07 GiB"; below 1 KiB "512 B".
[[nodiscard]] std::string binary_size(Bytes bytes);
/// Decimal units with two decimals: "317.26 GB".
[[nodiscard]] std::string decimal_size(Bytes bytes);
/// 0.853 -> "85.3 %".
[[nodiscard]] std::string percent(double fraction, int decimals = 1);
/// 0.0042 -> "4.2 ms", 75 -> "1 min 15 s".
[[nodiscard]] std::string duration(double seconds);

}  // namespace kvplan
