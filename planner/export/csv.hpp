#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kvplan::exporting {

/// A JSON object as named cells: nested keys joined by dots, an estimate as `x` (expected), `x.low`, `x.high`, `x.basis`,
/// arrays of objects by index. Null is an empty cell.
struct CsvCell {
    std::string name;
    std::string value;
};
[[nodiscard]] std::vector<CsvCell> flatten(const nlohmann::ordered_json& document);

/// One header line and one line of values, RFC 4180 quoting.
[[nodiscard]] std::string csv_of(const std::vector<CsvCell>& cells);
[[nodiscard]] std::string csv_quoted(const std::string& value);

}  // namespace kvplan::exporting
