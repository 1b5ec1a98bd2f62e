#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "planner/fields/fields.hpp"
#include "units/diagnostic.hpp"

namespace kvplan::sweep {

/// start:stop:step in decimal, exact: value i is (start + i * step) / 10^decimals with the unit behind it.
struct Steps {
    std::int64_t start = 0, step = 1, count = 0;
    int decimals = 0;
    std::string unit;                         // "", "GB", …
};

/// The values one scenario field takes. Steps are never listed, so an axis may be as long as it likes.
struct Axis {
    const FieldSpec* field = nullptr;
    std::variant<Steps, std::vector<std::string>> values;

    [[nodiscard]] std::int64_t size() const;
    [[nodiscard]] std::string value(std::int64_t index) const;  // as a person would type it
};

/// `field=start:stop:step` (the stop is included when it lies on the grid; the step may be negative) or `field=a,b,c`; a value
/// that holds commas stands in quotes (`parallel_layer_partition="30,31","31,30"`).
/// Every listed value, and the ends of a range, are tried on a scenario; faults go to `diagnostics`.
[[nodiscard]] std::optional<Axis> parse_axis(const std::string& text, Diagnostics& diagnostics);

}  // namespace kvplan::sweep
