#include "models/hardware/random_effects.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <stdexcept>

namespace kvplan::hardware {
namespace {

struct Group {
    int count = 0;
    double mean = 0.0;
    double squares = 0.0;  ///< sum of squared deviations from the mean

    void add(double value) {  // Welford
        ++count;
        const double before = value - mean;
        mean += before / count;
        squares += before * (value - mean);
    }
};

using Groups = std::map<std::string, Group, std::less<>>;

double variance_of_means(const Groups& groups) {
    Group means;
    for (const auto& [name, group] : groups) means.add(group.mean);
    return means.count > 1 ? means.squares / (means.count - 1) : 0.0;
}

double within_variance(const Groups& groups, int readings, double floor) {
    const int degrees = readings - static_cast<int>(groups.size());
    double squares = 0.0;
    for (const auto& [name, group] : groups) squares += group.squares;
    const double estimate = degrees > 0 ? squares / degrees : variance_of_means(groups) / 2.0;
    return std::max(estimate, floor * floor);
}

double between_variance(const Groups& groups, double within) {
    double inverse_counts = 0.0;
    for (const auto& [name, group] : groups) inverse_counts += 1.0 / group.count;
    const double noise = within * inverse_counts / static_cast<double>(groups.size());
    return std::max(0.0, variance_of_means(groups) - noise);
}

}  // namespace

double student_t95(int degrees) {
    static constexpr std::array<double, 30> kQuantiles{
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120,  2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
    const int index = std::max(degrees, 1) - 1;
    return index < static_cast<int>(kQuantiles.size()) ? kQuantiles[static_cast<std::size_t>(index)] : 2.042;
}

Prediction predict(std::span<const Reading> readings, std::string_view group, double within_floor,
                   double extra_variance) {
    if (readings.empty()) throw std::invalid_argument("predict: no readings");
    Groups groups;
    for (const Reading& reading : readings) groups[reading.group].add(reading.value);
    const int count = static_cast<int>(readings.size());
    const double within = within_variance(groups, count, within_floor);
    const double between = between_variance(groups, within);

    double weights = 0.0;
    double weighted = 0.0;
    for (const auto& [name, each] : groups) {
        const double weight = 1.0 / (between + within / each.count);
        weights += weight;
        weighted += weight * each.mean;
    }
    const double mean = weighted / weights;

    Prediction result{mean, 0.0, count, 0};
    double trust = 0.0;
    if (const auto own = groups.find(group); own != groups.end()) {
        result.of_group = own->second.count;
        trust = between / (between + within / result.of_group);
        result.expected = mean + trust * (own->second.mean - mean);
    }
    const double rest = 1.0 - trust;
    const double variance = within + between * rest + rest * rest / weights + extra_variance;
    const bool rests_on_groups = result.of_group == 0 && between > 0.0;
    const int degrees = (rests_on_groups ? static_cast<int>(groups.size()) : count) - 1;
    result.half_width = student_t95(degrees) * std::sqrt(variance);
    return result;
}

}  // namespace kvplan::hardware
