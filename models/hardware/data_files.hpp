// The hardware data files: those built into the program, then those of a directory of the user's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/json/document.hpp"
#include "models/json/reader.hpp"
#include "units/diagnostic.hpp"

namespace kvplan::hardware {

/// Documents whose "schema" member is `schema`: `embedded_path` first, then each matching *.json of `directory`, by
/// name. Faults of the directory and of files that are no JSON are added to `diagnostics` (hardware.directory, json.*).
[[nodiscard]] std::vector<json::Document> data_files(std::string_view schema, std::string_view embedded_path,
                                                     const std::optional<std::string>& directory,
                                                     Diagnostics& diagnostics);

/// The "sources" of a fact or record: at least one key, each in the document's own table of sources.
[[nodiscard]] std::vector<std::string> read_sources(json::Reader& reader, const json::Value& record,
                                                    const json::Value& root);

}  // namespace kvplan::hardware
