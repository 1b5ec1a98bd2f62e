#include "charts/ticks.hpp"

#include <algorithm>
#include <cmath>

#include "units/bytes.hpp"
#include "units/format.hpp"

namespace kvplan::charts {
namespace {

/// The size of the unit that numbers of this magnitude are written in.
double unit_size(Unit unit, double magnitude) {
    if (unit == Unit::binary_bytes) {
        double size = 1.0;
        while (magnitude >= size * 1024.0 && size < 1e15) size *= 1024.0;
        return size;
    }
    if (unit == Unit::share) return 0.01;
    return 1.0;
}

double nice_step(double span, int most_ticks) {
    const double rough = span / std::max(1, most_ticks - 1);
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0, 10.0})
        if (factor * power >= rough * (1.0 - 1e-9)) return factor * power;
    return 10.0 * power;
}

Scale linear(const Axis& axis, double least, double most, int most_ticks) {
    Scale scale;
    if (!axis.least && least >= 0.0) least = 0.0;
    if (!(most > least)) most = least + (least == 0.0 ? 1.0 : std::abs(least));
    const double unit = unit_size(axis.unit, std::max(std::abs(least), std::abs(most)));
    const double step = nice_step((most - least) / unit, most_ticks) * unit;
    // An end that was asked for stays; others move out to the next tick.
    scale.least = axis.least ? least : std::floor(least / step + 1e-9) * step;
    scale.most = axis.most ? most : std::ceil(most / step - 1e-9) * step;
    for (double i = std::ceil(scale.least / step - 1e-9); i * step <= scale.most + step * 1e-9; ++i) scale.ticks.push_back(i == 0.0 ? 0.0 : i * step);
    return scale;
}

Scale logarithmic(double least, double most, int most_ticks) {
    Scale scale;
    scale.logarithmic = true;
    if (!(least > 0.0)) least = most > 0.0 ? most / 1000.0 : 0.1;
    if (!(most > least)) most = least * 10.0;
    scale.least = least;
    scale.most = most;
    const int first = static_cast<int>(std::floor(std::log10(least))), last = static_cast<int>(std::ceil(std::log10(most)));
    for (const std::vector<double>& factors : {std::vector<double>{1.0, 2.0, 5.0}, std::vector<double>{1.0}}) {
        scale.ticks.clear();
        for (int decade = first; decade <= last; ++decade)
            for (const double factor : factors)
                if (const double tick = factor * std::pow(10.0, decade); tick >= least * (1 - 1e-9) && tick <= most * (1 + 1e-9)) scale.ticks.push_back(tick);
        if (static_cast<int>(scale.ticks.size()) <= most_ticks) return scale;
    }
    const auto every = static_cast<std::size_t>(std::ceil(static_cast<double>(scale.ticks.size()) / std::max(1, most_ticks)));
    std::vector<double> fewer;
    for (std::size_t i = 0; i < scale.ticks.size(); i += every) fewer.push_back(scale.ticks[i]);
    scale.ticks = std::move(fewer);
    return scale;
}

std::string plain(double value) {
    const double size = std::abs(value);
    if (size >= 1e12) return shortest(value / 1e12, 2) + "T";
    if (size >= 1e9) return shortest(value / 1e9, 2) + "G";
    if (size >= 1e6) return shortest(value / 1e6, 2) + "M";
    if (size >= 100.0) return with_commas(std::llround(value));
    return shortest(value, size >= 1.0 || size == 0.0 ? 2 : 4);
}

std::string bytes(double value, double base, const char* const* names) {
    int power = 0;
    double size = 1.0;
    while (std::abs(value) >= size * base * (1 - 1e-9) && power < 5) size *= base, ++power;
    return shortest(value / size, 2) + " " + names[power];
}

std::string seconds(double value) {
    const double size = std::abs(value);
    if (size == 0.0) return "0 s";
    if (size < 1e-3) return shortest(value * 1e6, 1) + " us";
    if (size < 1.0) return shortest(value * 1e3, 1) + " ms";
    return shortest(value, 1) + " s";
}

}  // namespace

double Scale::share(double value) const {
    if (logarithmic) return std::log(std::max(value, 1e-300) / least) / std::log(most / least);
    return (value - least) / (most - least);
}

Scale scale_of(const Axis& axis, double least, double most, int most_ticks) {
    least = axis.least.value_or(least);
    most = axis.most.value_or(most);
    if (!std::isfinite(least) || !std::isfinite(most)) least = 0.0, most = 1.0;
    return axis.logarithmic ? logarithmic(least, most, most_ticks) : linear(axis, least, most, most_ticks);
}

std::string number_text(Unit unit, double value) {
    static constexpr const char* kBinary[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    static constexpr const char* kDecimal[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    switch (unit) {
        case Unit::plain: return plain(value);
        case Unit::binary_bytes: return value == 0.0 ? "0" : bytes(value, 1024.0, kBinary);
        case Unit::decimal_bytes: return value == 0.0 ? "0" : bytes(value, 1000.0, kDecimal);
        case Unit::share: return shortest(value * 100.0, 1) + " %";
        case Unit::seconds: return seconds(value);
    }
    return {};
}

}  // namespace kvplan::charts
