// Predicting one more reading of a group from few readings of several groups: one-way random effects.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kvplan::hardware {

struct Reading {
    std::string group;
    double value = 0.0;
};

struct Prediction {
    double expected = 0.0;
    double half_width = 0.0;  ///< of the 95 % interval of one more reading
    int readings = 0;
    int of_group = 0;  ///< readings of the group asked for
};

/// Two-sided 95 % quantile of Student's t with `degrees` >= 1 degrees of freedom.
[[nodiscard]] double student_t95(int degrees);

/// The next reading x of `group`, under x = m + u(group) + e with variances sb2 (between groups) and sw2 (within):
///
///     sw2 = pooled variance within groups, at least within_floor^2; half the variance of the group
///           means when no group has two readings
///     sb2 = variance of the group means - sw2 * mean(1 / n_g), at least 0
///     m   = mean of the group means, weighted by 1 / (sb2 + sw2 / n_g)
///     expected = m + w (mean of the group - m),  w = sb2 / (sb2 + sw2 / n_group), 0 for a group without readings
///     variance = sw2 + sb2 (1 - w) + (1 - w)^2 var(m) + extra_variance
///     half width = t95 * sqrt(variance), with n - 1 degrees of freedom; for a group without readings groups - 1,
///           unless the groups do not differ (sb2 = 0)
///
/// (Searle, Casella, McCulloch: Variance Components, ch. 3 and 7: ANOVA estimators and the best linear unbiased
/// predictor.) A group of many readings thus speaks for itself, a new one takes the spread between groups. `readings`
/// must not be empty.
[[nodiscard]] Prediction predict(std::span<const Reading> readings, std::string_view group, double within_floor,
                                 double extra_variance);

}  // namespace kvplan::hardware
