#pragma once

#include <functional>
#include <vector>

#include "tests/accuracy/throughput_cases.hpp"

namespace kvplan::accuracy {

/// The parameters of expected_costs() that are fitted, as logarithms.
[[nodiscard]] std::vector<double> parameters_of(const Costs& costs);
[[nodiscard]] Costs with_parameters(const Costs& costs, const std::vector<double>& logarithms);

/// ln(expected / measured), the expectation never above the ceiling.
[[nodiscard]] double log_error(const PreparedCase& c, const Costs& costs);

/// The least value of `f` that a Nelder-Mead walk of so many evaluations finds from `start`.
[[nodiscard]] std::vector<double> minimise(const std::function<double(const std::vector<double>&)>& f, std::vector<double> start, int evaluations);

/// Costs with the least mean |log_error| over the cases.
[[nodiscard]] Costs fit(const std::vector<const PreparedCase*>& cases, const Costs& start, int evaluations);

/// Cases with published lengths.
[[nodiscard]] std::vector<const PreparedCase*> fitted_cases(const std::vector<PreparedCase>& cases);

/// Errors of all cases, each with costs that were fitted to the cases of other groups only.
[[nodiscard]] std::vector<double> cross_validate(const std::vector<const PreparedCase*>& cases, const std::function<std::string(const PreparedCase&)>& group);

/// Median of |expected/measured - 1| from its logarithms.
[[nodiscard]] double median_error(const std::vector<double>& log_errors);

}  // namespace kvplan::accuracy
