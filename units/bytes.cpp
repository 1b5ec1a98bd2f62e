#include "units/bytes.hpp"

#include <cmath>

namespace kvplan {

namespace {
Bytes whole(double bytes) {
    // 2^63 is exact as a double; everything below it in magnitude converts without loss of range.
    constexpr double kLimit = 9223372036854775808.0;
    if (!(bytes >= -kLimit && bytes < kLimit)) detail::throw_overflow("conversion from a real number");
    return Bytes{static_cast<std::int64_t>(bytes)};
}
}  // namespace

Bytes floor_bytes(double bytes) { return whole(std::floor(bytes)); }
Bytes ceil_bytes(double bytes) { return whole(std::ceil(bytes)); }
Bytes nearest_bytes(double bytes) { return whole(std::round(bytes)); }

}  // namespace kvplan
