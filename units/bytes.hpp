#pragma once

#include "units/quantity.hpp"

namespace kvplan {

using Bytes = Count<struct BytesKind>;

inline constexpr std::int64_t kKiB = std::int64_t{1} << 10;
inline constexpr std::int64_t kMiB = std::int64_t{1} << 20;
inline constexpr std::int64_t kGiB = std::int64_t{1} << 30;
inline constexpr std::int64_t kTiB = std::int64_t{1} << 40;
inline constexpr std::int64_t kKB = 1'000;
inline constexpr std::int64_t kMB = 1'000'000;
inline constexpr std::int64_t kGB = 1'000'000'000;
inline constexpr std::int64_t kTB = 1'000'000'000'000;

[[nodiscard]] constexpr Bytes mebibytes(std::int64_t n) { return Bytes{checked_mul(n, kMiB)}; }
[[nodiscard]] constexpr Bytes gibibytes(std::int64_t n) { return Bytes{checked_mul(n, kGiB)}; }
[[nodiscard]] constexpr Bytes gigabytes(std::int64_t n) { return Bytes{checked_mul(n, kGB)}; }

[[nodiscard]] constexpr double in_mib(Bytes b) { return static_cast<double>(b.count()) / static_cast<double>(kMiB); }
[[nodiscard]] constexpr double in_gib(Bytes b) { return static_cast<double>(b.count()) / static_cast<double>(kGiB); }
[[nodiscard]] constexpr double in_gb(Bytes b) { return static_cast<double>(b.count()) / static_cast<double>(kGB); }

/// Rounds a real number of bytes down; throws OverflowError outside 64 bits or for NaN.
[[nodiscard]] Bytes floor_bytes(double bytes);
/// Rounds a real number of bytes up; throws OverflowError outside 64 bits or for NaN.
[[nodiscard]] Bytes ceil_bytes(double bytes);
/// Rounds to the nearest byte; throws OverflowError outside 64 bits or for NaN.
[[nodiscard]] Bytes nearest_bytes(double bytes);

namespace literals {
constexpr Bytes operator""_B(unsigned long long n) { return Bytes{static_cast<std::int64_t>(n)}; }
constexpr Bytes operator""_MiB(unsigned long long n) { return mebibytes(static_cast<std::int64_t>(n)); }
constexpr Bytes operator""_GiB(unsigned long long n) { return gibibytes(static_cast<std::int64_t>(n)); }
constexpr Bytes operator""_GB(unsigned long long n) { return gigabytes(static_cast<std::int64_t>(n)); }
}  // namespace literals

}  // namespace kvplan
