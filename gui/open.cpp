#include <filesystem>
#include <nlohmann/json.hpp>

#include "gui/document.hpp"
#include "models/json/document.hpp"

namespace kvplan::gui {

namespace {

namespace fs = std::filesystem;

bool is_checkpoint(const fs::path& path) {
    std::error_code error;
    return fs::is_directory(path, error) || path.filename() == "config.json";
}

bool looks_like_json(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    return first != std::string_view::npos && text[first] == '{';
}

// The deployment's place is not in a command: GPU, host and workload stay as they were.
Opened with_launch(const launch::ParsedLaunch& parsed, const Values& present, Diagnostics& diagnostics) {
    Scenario scenario;
    launch::apply(parsed, scenario, diagnostics);
    Opened opened;
    for (const auto& [name, text] : present) {
        const FieldSpec* field = find_field(name);
        if (field != nullptr && field->group != FieldGroup::engine && field->group != FieldGroup::model) opened.values[name] = text;
    }
    for (auto& [name, text] : values_of(scenario)) opened.values[name] = text;
    opened.launch = parsed;
    return opened;
}

// As typed in the file: "3500:8000" is one text here, where a scenario holds its parts.
Values texts_of(std::string document_text, const std::string& name, Diagnostics& diagnostics) {
    Values values;
    const auto document = json::parse(std::move(document_text), name, diagnostics);
    if (!document) return values;
    for (const auto& [key, value] : document->root().members()) {
        const FieldSpec* field = find_field(key);
        if (field == nullptr) continue;
        const json::Value plain = value.is_object() ? value["value"] : value;
        if (const auto string = plain.string()) values[std::string(field->name)] = std::string(*string);
        else if (const auto boolean = plain.boolean()) values[std::string(field->name)] = *boolean ? "true" : "false";
        else if (plain.is_number()) values[std::string(field->name)] = plain.describe();
    }
    return values;
}

std::optional<Opened> first_launch(const std::vector<launch::ParsedLaunch>& launches, const Values& present, Diagnostics& diagnostics) {
    if (launches.empty()) return std::nullopt;
    return with_launch(launches.front(), present, diagnostics);
}

}  // namespace

Values values_of(const Scenario& scenario) {
    Values values;
    for (const FieldSpec& field : scenario_fields()) {
        if (scenario.origin.find(std::string(field.name)) == scenario.origin.end()) continue;
        std::string text = text_of(field.get(scenario));
        if (!text.empty()) values[std::string(field.name)] = std::move(text);
    }
    return values;
}

std::string scenario_file_of(const Values& values) {
    nlohmann::ordered_json document = nlohmann::ordered_json::object();
    for (const FieldSpec& field : scenario_fields())
        if (const auto found = values.find(field.name); found != values.end()) document[found->first] = found->second;
    return document.dump(2) + "\n";
}

std::optional<Opened> open_path(const std::string& path, const Values& present, Diagnostics& diagnostics) {
    if (is_checkpoint(path)) {
        Opened opened{present, std::nullopt};
        for (const char* other : {"quantization", "draft_model", "weights_per_gpu"}) opened.values.erase(other);
        opened.values["model"] = path;
        return opened;
    }
    auto text = json::read_file(path, diagnostics);
    if (!text) return std::nullopt;
    if (!looks_like_json(*text)) return first_launch(launch::parse_file(*text, path, diagnostics), present, diagnostics);
    Scenario scenario;
    if (!read_scenario(*text, path, scenario, diagnostics)) return std::nullopt;
    return Opened{texts_of(std::move(*text), path, diagnostics), std::nullopt};
}

std::optional<Opened> open_command(const std::string& text, const Values& present, Diagnostics& diagnostics) {
    return first_launch(launch::parse_file(text, "pasted text", diagnostics), present, diagnostics);
}

}  // namespace kvplan::gui
