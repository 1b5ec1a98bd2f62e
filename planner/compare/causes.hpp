#pragma once

#include <vector>

#include "planner/compare/compare.hpp"

namespace kvplan::compare {

/// Names of figures that differ between two plans, in the order of the stages.
[[nodiscard]] std::vector<std::string> moved(const std::vector<Figure>& a, const std::vector<Figure>& b);

/// What differs between `first` and `other` (sides[side]), each tried alone.
[[nodiscard]] std::vector<Cause> causes_between(const Side& first, const Side& other, std::size_t side, const CatalogueOptions& catalogues);

}  // namespace kvplan::compare
