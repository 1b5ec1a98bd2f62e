#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace kvplan::exporting {

/// A JSON object as named cells: nested keys joined by dots, an estimate as `x` (expected), `x.low`, `x.high`, `x.basis`,
/// arrays of objects by index. Null is an empty cell.
struct CsvCell {
    std::string name;
    std::string value;
};
[[nodiscard]] std::vector<CsvCell> flatten(const nlohmann::ordered_json& document);

/// A document as lines of values under one header, RFC 4180 quoting. A document that is a list (one array of objects, and
/// beside it single values only), or whose member `rows` is one, gives a line an entry: the document's single values first,
/// then the entry's; a column stands where any entry has it, lists of values in one cell with ";". Any other gives one line.
[[nodiscard]] std::string csv_of(const nlohmann::ordered_json& document, std::string_view rows = {});
[[nodiscard]] std::string csv_quoted(const std::string& value);

}  // namespace kvplan::exporting
