#pragma once

#include <compare>
#include <cstdint>
#include <stdexcept>

namespace kvplan {

/// Thrown when an exact integer count leaves the range of std::int64_t.
class OverflowError : public std::overflow_error {
public:
    using std::overflow_error::overflow_error;
};

namespace detail {
[[noreturn]] void throw_overflow(const char* operation);
}

[[nodiscard]] constexpr std::int64_t checked_add(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_add_overflow(a, b, &result)) detail::throw_overflow("addition");
    return result;
}

[[nodiscard]] constexpr std::int64_t checked_sub(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_sub_overflow(a, b, &result)) detail::throw_overflow("subtraction");
    return result;
}

[[nodiscard]] constexpr std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(a, b, &result)) detail::throw_overflow("multiplication");
    return result;
}

/// floor(a / b) for b > 0, also for negative a.
[[nodiscard]] constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
    const std::int64_t quotient = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

/// ceil(a / b) for b > 0, also for negative a.
[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    const std::int64_t quotient = a / b;
    return (a % b != 0 && (a < 0) == (b < 0)) ? quotient + 1 : quotient;
}

/// The smallest multiple of `step` that is not below `a`; step > 0.
[[nodiscard]] constexpr std::int64_t round_up(std::int64_t a, std::int64_t step) {
    return checked_mul(ceil_div(a, step), step);
}

/// The largest multiple of `step` that is not above `a`; step > 0.
[[nodiscard]] constexpr std::int64_t round_down(std::int64_t a, std::int64_t step) {
    return checked_mul(floor_div(a, step), step);
}

/// An exact number of things of one kind. Counts of different kinds do not mix, and arithmetic that
/// would leave the range throws OverflowError. There is no multiplication by a floating-point number:
/// a rounding must be named where it happens.
template <class Kind>
class Count {
public:
    constexpr Count() = default;
    constexpr explicit Count(std::int64_t count) : count_(count) {}

    [[nodiscard]] constexpr std::int64_t count() const { return count_; }

    constexpr Count& operator+=(Count other) { return *this = *this + other; }
    constexpr Count& operator-=(Count other) { return *this = *this - other; }

    friend constexpr Count operator+(Count a, Count b) { return Count{checked_add(a.count_, b.count_)}; }
    friend constexpr Count operator-(Count a, Count b) { return Count{checked_sub(a.count_, b.count_)}; }
    friend constexpr Count operator*(Count a, std::int64_t n) { return Count{checked_mul(a.count_, n)}; }
    friend constexpr Count operator*(std::int64_t n, Count a) { return a * n; }
    friend constexpr auto operator<=>(Count, Count) = default;
    friend constexpr bool operator==(Count, Count) = default;

private:
    std::int64_t count_ = 0;
};

}  // namespace kvplan
