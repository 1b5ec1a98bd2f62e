#include "planner/export/csv.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

namespace kvplan::exporting {

using Json = nlohmann::ordered_json;

namespace {

std::string scalar(const Json& value) {
    if (value.is_null()) return {};
    if (value.is_string()) return value.get<std::string>();
    // A bandwidth that is whole is 3350000000000, not 3350000000000.0 or 1.9789e+15.
    constexpr double kExact = 9007199254740992.0;
    if (value.is_number_float() && std::abs(value.get<double>()) < kExact && value.get<double>() == std::floor(value.get<double>())) return std::to_string(static_cast<long long>(value.get<double>()));
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

namespace {

bool is_list(const Json& value) {
    return value.is_array() && !value.empty() && std::all_of(value.begin(), value.end(), [](const Json& entry) { return entry.is_object(); });
}

/// The member whose entries are the lines; none: the document is one line.
std::string list_member(const Json& document, std::string_view rows) {
    if (!rows.empty()) return document.contains(rows) && is_list(document[std::string(rows)]) ? std::string(rows) : std::string{};
    std::string found;
    if (!document.is_object()) return found;
    for (const auto& [key, member] : document.items()) {
        if (!member.is_structured()) continue;
        if (!found.empty() || !is_list(member)) return {};
        found = key;
    }
    return found;
}

/// Lists of single values become one cell each, so that entries of other lengths share their columns.
Json joined(const Json& value) {
    if (value.is_object()) {
        Json result = Json::object();
        for (const auto& [key, member] : value.items()) result[key] = joined(member);
        return result;
    }
    if (!value.is_array()) return value;
    const bool single = std::none_of(value.begin(), value.end(), [](const Json& element) { return element.is_structured(); });
    if (!single) {
        Json result = Json::array();
        for (const Json& element : value) result.push_back(joined(element));
        return result;
    }
    std::string text;
    for (const Json& element : value) text += (text.empty() ? "" : ";") + scalar(element);
    return text;
}

std::string csv_line(const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : ",") + csv_quoted(cells[i]);
    return line + "\n";
}

/// In the order of their first lines. What is null in one entry and an object in another has the columns of the object only.
std::vector<std::string> column_names(const std::vector<std::vector<CsvCell>>& lines) {
    std::vector<std::string> names;
    std::map<std::string, bool> filled;
    for (const auto& line : lines)
        for (const CsvCell& cell : line) {
            const auto [known, is_new] = filled.emplace(cell.name, false);
            if (is_new) names.push_back(cell.name);
            known->second = known->second || !cell.value.empty();
        }
    const auto is_empty_parent = [&](const std::string& name) {
        const auto child = filled.upper_bound(name + ".");
        return !filled.at(name) && child != filled.end() && child->first.rfind(name + ".", 0) == 0;
    };
    names.erase(std::remove_if(names.begin(), names.end(), is_empty_parent), names.end());
    return names;
}

}  // namespace

std::string csv_of(const Json& document, std::string_view rows) {
    const std::string list = list_member(document, rows);
    std::vector<std::vector<CsvCell>> lines;
    if (list.empty()) {
        lines.push_back(flatten(document));
    } else {
        Json shared = Json::object();
        for (const auto& [key, member] : document.items())
            if (!member.is_structured()) shared[key] = member;
        for (const Json& entry : document[list]) {
            lines.push_back(flatten(shared));
            for (CsvCell& cell : flatten(joined(entry))) lines.back().push_back(std::move(cell));
        }
    }
    const std::vector<std::string> names = column_names(lines);
    std::map<std::string, std::size_t> columns;
    for (const std::string& name : names) columns.emplace(name, columns.size());
    std::string text = csv_line(names);
    for (const auto& line : lines) {
        std::vector<std::string> cells(names.size());
        for (const CsvCell& cell : line)
            if (const auto column = columns.find(cell.name); column != columns.end()) cells[column->second] = cell.value;
        text += csv_line(cells);
    }
    return text;
}

}  // namespace kvplan::exporting
