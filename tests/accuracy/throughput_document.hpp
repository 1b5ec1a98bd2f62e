#pragma once

#include <vector>

#include "tests/accuracy/throughput_cases.hpp"

namespace kvplan::accuracy {

/// Writes docs/accuracy-throughput.md when KVPLAN_WRITE_DOCS is set. `by_model`, `by_gpu`: logarithms of expected/measured of
/// cross-validated fits.
void write_document_if_asked(const std::vector<PreparedCase>& cases, const std::vector<double>& by_model, const std::vector<double>& by_gpu);

}  // namespace kvplan::accuracy
