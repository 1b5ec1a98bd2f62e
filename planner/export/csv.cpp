#include "planner/export/csv.hpp"

#include <nlohmann/json.hpp>

namespace kvplan::exporting {

using Json = nlohmann::ordered_json;

namespace {

std::string scalar(const Json& value) {
    if (value.is_null()) return {};
    if (value.is_string()) return value.get<std::string>();
    return value.dump();
}

bool is_estimate(const Json& value) { return value.is_object() && value.contains("low") && value.contains("expected") && value.contains("high"); }

void add(const Json& value, const std::string& name, std::vector<CsvCell>& cells) {
    const auto below = [&](const std::string& key) { return name.empty() ? key : name + "." + key; };
    if (is_estimate(value)) {
        cells.push_back({name, scalar(value["expected"])});
        for (const char* part : {"low", "high", "basis"})
            if (value.contains(part)) cells.push_back({below(part), scalar(value[part])});
    } else if (value.is_object()) {
        for (const auto& [key, member] : value.items()) add(member, below(key), cells);
    } else if (value.is_array()) {
        for (std::size_t i = 0; i < value.size(); ++i) add(value[i], below(std::to_string(i)), cells);
    } else {
        cells.push_back({name, scalar(value)});
    }
}

}  // namespace

std::vector<CsvCell> flatten(const Json& document) {
    std::vector<CsvCell> cells;
    add(document, "", cells);
    return cells;
}

std::string csv_quoted(const std::string& value) {
    if (value.find_first_of(",\"\r\n") == std::string::npos) return value;
    std::string quoted = "\"";
    for (const char c : value) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

std::string csv_of(const std::vector<CsvCell>& cells) {
    std::string header, values;
    for (const CsvCell& cell : cells) {
        header += (header.empty() ? "" : ",") + csv_quoted(cell.name);
        values += (&cell == cells.data() ? "" : ",") + csv_quoted(cell.value);
    }
    return header + "\n" + values + "\n";
}

}  // namespace kvplan::exporting
