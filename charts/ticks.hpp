#pragma once

#include <string>
#include <vector>

#include "charts/chart.hpp"

namespace kvplan::charts {

/// An axis with its ends and the places where numbers stand, all within [least, most].
struct Scale {
    double least = 0.0, most = 1.0;
    bool logarithmic = false;
    std::vector<double> ticks;

    /// 0 at `least`, 1 at `most`; not limited.
    [[nodiscard]] double share(double value) const;
};

/// The scale of an axis whose data lie in [least, most]. Steps are 1, 2 or 5 times a power of ten in the axis's unit (GiB, GB,
/// per cent), at most `most_ticks` of them; a linear axis of values that are not negative begins at 0. On a logarithmic one
/// ticks are powers of ten, with 2 and 5 times them where there is room. Equal or unusable ends are widened.
[[nodiscard]] Scale scale_of(const Axis& axis, double least, double most, int most_ticks);

/// A number as the axis writes it: "116,000", "1.5M", "12.5 GiB", "85 %", "250 ms".
[[nodiscard]] std::string number_text(Unit unit, double value);

}  // namespace kvplan::charts
