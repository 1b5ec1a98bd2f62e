#include "models/hardware/data_files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "models/embedded.hpp"

namespace kvplan::hardware {
namespace {

namespace fs = std::filesystem;

Diagnostic directory_error(const std::string& directory, std::string found) {
    Diagnostic diagnostic;
    diagnostic.code = "hardware.directory";
    diagnostic.file = directory;
    diagnostic.found = std::move(found);
    diagnostic.expected = "a readable directory with *.json files";
    diagnostic.message = "the hardware directory cannot be read";
    return diagnostic;
}

std::vector<std::string> json_files(const std::string& directory, Diagnostics& diagnostics) {
    std::vector<std::string> files;
    std::error_code error;
    fs::directory_iterator entry(directory, error);
    if (error) {
        diagnostics.add(directory_error(directory, error.message()));
        return files;
    }
    for (; entry != fs::directory_iterator(); entry.increment(error)) {
        if (entry->path().extension() == ".json") files.push_back(entry->path().string());
        if (error) break;
    }
    if (error) diagnostics.add(directory_error(directory, error.message()));
    std::sort(files.begin(), files.end());
    return files;
}

bool has_schema(const json::Document& document, std::string_view schema) {
    return document.root()["schema"].string() == schema;
}

}  // namespace

std::vector<json::Document> data_files(std::string_view schema, std::string_view embedded_path,
                                       const std::optional<std::string>& directory, Diagnostics& diagnostics) {
    std::vector<json::Document> documents;
    if (const auto text = embedded_file(embedded_path)) {
        auto document = json::parse(std::string(*text), std::string(embedded_path), diagnostics);
        if (document && has_schema(*document, schema)) documents.push_back(*std::move(document));
    }
    if (!directory) return documents;
    for (const auto& path : json_files(*directory, diagnostics)) {
        auto document = json::parse_file(path, diagnostics);
        if (document && has_schema(*document, schema)) documents.push_back(*std::move(document));
    }
    return documents;
}

std::vector<std::string> read_sources(json::Reader& reader, const json::Value& record, const json::Value& root) {
    if (!record["sources"].has_value()) {
        reader.error(record, "hardware.no-source", "a fact without a source", "a list \"sources\" of keys",
                     "name each key in the document's own table \"sources\"");
        return {};
    }
    auto keys = reader.string_list(record, {"sources"}).value_or(std::vector<std::string>{});
    if (record["sources"].is_array() && record["sources"].size() == 0) {
        reader.error(record["sources"], "hardware.no-source", "a fact without a source", "at least one key");
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (root["sources"][keys[i]].is_string()) continue;
        reader.error(record["sources"].at(i), "hardware.unknown-source", "a source that the file does not explain",
                     "a key of the table \"sources\" at the top of the file");
    }
    return keys;
}

}  // namespace kvplan::hardware
