#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kvplan::test {

/// Validates against the part of JSON Schema that docs/*.schema.json use: $ref (into the same or a neighbouring file), type,
/// const, enum, properties, required, additionalProperties, items, anyOf, minimum, pattern. Any other keyword is an error, so
/// that a schema cannot say what nobody checks. Returns one line a fault: "gpu/total_bytes: …".
[[nodiscard]] std::vector<std::string> schema_errors(const nlohmann::ordered_json& document, const std::string& schema_file);

/// docs/scenario.schema.json as the table of fields gives it.
[[nodiscard]] std::string scenario_schema();

}  // namespace kvplan::test
