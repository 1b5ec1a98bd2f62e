#include "tests/support/json_schema.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>

#include "planner/fields/fields.hpp"

namespace kvplan::test {

using Json = nlohmann::ordered_json;

namespace {

class Validator {
public:
    explicit Validator(const std::string& file) : directory_(file.substr(0, file.rfind('/') + 1)) { home_ = file.substr(directory_.size()); }

    std::vector<std::string> run(const Json& document) {
        check(document, load(home_), home_, "");
        return std::move(errors_);
    }

private:
    const Json& load(const std::string& name) {
        const auto found = files_.find(name);
        if (found != files_.end()) return found->second;
        std::ifstream in(directory_ + name);
        Json schema = Json::parse(in, nullptr, false);
        if (schema.is_discarded()) fault("", "the schema " + name + " cannot be read");
        return files_.emplace(name, std::move(schema)).first->second;
    }

    void fault(const std::string& path, const std::string& what) { errors_.push_back((path.empty() ? "(top)" : path) + ": " + what); }

    static bool is_type(const Json& value, const std::string& type) {
        if (type == "null") return value.is_null();
        if (type == "boolean") return value.is_boolean();
        if (type == "string") return value.is_string();
        if (type == "array") return value.is_array();
        if (type == "object") return value.is_object();
        if (type == "integer") return value.is_number_integer();
        return type == "number" && value.is_number();
    }

    void check(const Json& value, const Json& schema, const std::string& file, const std::string& path) {
        for (const auto& [keyword, rule] : schema.items()) {
            if (keyword == "$schema" || keyword == "title" || keyword == "description" || keyword == "$defs") continue;
            if (keyword == "$ref") follow(value, rule.get<std::string>(), file, path);
            else if (keyword == "properties" || keyword == "additionalProperties" || keyword == "required") members(value, schema, keyword, file, path);
            else if (keyword == "items") elements(value, rule, file, path);
            else if (keyword == "anyOf") any_of(value, rule, file, path);
            else if (keyword == "type") type(value, rule, path);
            else if (keyword == "const") expect(value == rule, path, "is not " + rule.dump());
            else if (keyword == "enum") expect(std::find(rule.begin(), rule.end(), value) != rule.end(), path, value.dump() + " is none of " + rule.dump());
            else if (keyword == "minimum") expect(!value.is_number() || value.get<double>() >= rule.get<double>(), path, "is less than " + rule.dump());
            else if (keyword == "pattern") expect(!value.is_string() || std::regex_search(value.get<std::string>(), std::regex(rule.get<std::string>())), path, value.dump() + " does not match " + rule.dump());
            else fault(path, "the schema uses \"" + keyword + "\", which is not checked");
        }
    }

    void expect(bool holds, const std::string& path, const std::string& otherwise) {
        if (!holds) fault(path, otherwise);
    }

    void type(const Json& value, const Json& rule, const std::string& path) {
        const bool fits = rule.is_array() ? std::any_of(rule.begin(), rule.end(), [&](const Json& one) { return is_type(value, one.get<std::string>()); }) : is_type(value, rule.get<std::string>());
        expect(fits, path, std::string(value.type_name()) + " instead of " + rule.dump());
    }

    void follow(const Json& value, const std::string& reference, const std::string& file, const std::string& path) {
        const std::size_t hash = reference.find('#');
        const std::string name = hash == 0 ? file : reference.substr(0, hash);
        const Json::json_pointer pointer(hash == std::string::npos ? "" : reference.substr(hash + 1));
        const Json& schema = load(name);
        if (!schema.contains(pointer)) return fault(path, "there is no " + reference);
        check(value, schema[pointer], name, path);
    }

    void members(const Json& value, const Json& schema, const std::string& keyword, const std::string& file, const std::string& path) {
        if (!value.is_object()) return;
        const auto below = [&](const std::string& key) { return path.empty() ? key : path + "/" + key; };
        if (keyword == "required") {
            for (const Json& key : schema["required"]) expect(value.contains(key.get<std::string>()), path, "has no " + key.get<std::string>());
            return;
        }
        const Json properties = schema.value("properties", Json::object());
        for (const auto& [key, member] : value.items()) {
            const bool known = properties.contains(key);
            if (keyword == "properties" && known) check(member, properties[key], file, below(key));
            if (keyword != "additionalProperties" || known) continue;
            if (schema[keyword].is_boolean()) expect(schema[keyword].get<bool>(), below(key), "is not in the schema");
            else check(member, schema[keyword], file, below(key));
        }
    }

    void elements(const Json& value, const Json& rule, const std::string& file, const std::string& path) {
        if (!value.is_array()) return;
        for (std::size_t i = 0; i < value.size(); ++i) check(value[i], rule, file, path + "/" + std::to_string(i));
    }

    void any_of(const Json& value, const Json& rules, const std::string& file, const std::string& path) {
        std::vector<std::string> before = std::move(errors_), first;
        for (const Json& rule : rules) {
            errors_.clear();
            check(value, rule, file, path);
            if (errors_.empty()) {
                errors_ = std::move(before);
                return;
            }
            if (first.empty()) first = errors_;
        }
        errors_ = std::move(before);
        errors_.insert(errors_.end(), first.begin(), first.end());
    }

    std::string directory_, home_;
    std::map<std::string, Json> files_;
    std::vector<std::string> errors_;
};

// What a scenario file may hold for a field; the reader takes a number or a truth value also as text.
Json value_schema(const FieldSpec& field) {
    constexpr const char* kSize = "^[0-9][0-9,_.eE+]* ?([kKMGTP]i?)?B$";
    switch (field.kind) {
        case FieldKind::text: return {{"type", "string"}};
        case FieldKind::integer: return {{"type", {"integer", "string"}}};
        case FieldKind::real: return {{"type", {"number", "string"}}};
        case FieldKind::boolean: return {{"type", "boolean"}};
        case FieldKind::size: return {{"type", "string"}, {"pattern", kSize}};
        case FieldKind::engine_size: return {{"type", {"integer", "string"}}};
    }
    return {};
}

}  // namespace

std::vector<std::string> schema_errors(const Json& document, const std::string& schema_file) { return Validator(schema_file).run(document); }

std::string scenario_schema() {
    Json plain = Json::object(), resolved = Json::object(), names = Json::array();
    for (const FieldSpec& field : scenario_fields()) {
        const std::string name(field.name);
        std::string help(field.help);
        if (field.engines != FieldEngines::any) help += field.engines == FieldEngines::sglang ? " (SGLang)" : " (vLLM)";
        const Json value = value_schema(field);
        Json either = {{"description", help}};
        either["anyOf"] = {value, {{"type", "null"}}, {{"$ref", "#/$defs/with_origin"}}};
        plain[name] = either;
        Json known = value;
        known["type"] = value["type"].is_array() ? value["type"] : Json::array({value["type"]});
        known["type"].push_back("null");
        resolved[name] = {{"type", "object"}, {"properties", {{"value", known}, {"from", {{"type", "string"}}}}}, {"required", {"value", "from"}}, {"additionalProperties", false}};
        names.push_back(name);
    }
    // One field a line, for people to read.
    const auto lines = [](const Json& members, const std::string& indent) {
        std::string text;
        for (const auto& [key, member] : members.items()) text += (text.empty() ? "" : ",\n") + indent + "\"" + key + "\": " + member.dump();
        return text;
    };
    Json properties = {{"$schema", {{"type", "string"}}}, {"schema_version", {{"const", 1}}}};
    properties.update(plain);
    const Json origin = {{"description", "A value as a plan writes it."},
                         {"type", "object"},
                         {"properties", {{"value", {{"type", {"string", "number", "boolean", "null"}}}}, {"from", {{"type", "string"}}}}},
                         {"required", {"value"}},
                         {"additionalProperties", false}};
    const Json head = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                       {"title", "kvplan scenario"},
                       {"description", "A file for --scenario: one deployment to plan. Members that are missing have their defaults; flags of the command line stand over the file. The `scenario` of a plan can be read back as it is."},
                       {"type", "object"}};
    return "{\n" + lines(head, "  ") + ",\n  \"properties\": {\n" + lines(properties, "    ") + "\n  },\n  \"additionalProperties\": false,\n  \"$defs\": {\n    \"with_origin\": " + origin.dump() +
           ",\n    \"resolved\": {\n      \"description\": \"Every field, with where its value came from: flag, scenario file, launch command, default, …\",\n      \"type\": \"object\",\n      \"properties\": {\n" +
           lines(resolved, "        ") + "\n      },\n      \"required\": " + names.dump() + ",\n      \"additionalProperties\": false\n    }\n  }\n}\n";
}

}  // namespace kvplan::test
