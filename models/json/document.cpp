#include "models/json/document.hpp"

#include <cmath>
#include <limits>

#include "models/json/tree.hpp"
#include "units/utf8.hpp"

namespace kvplan::json {
namespace {

using detail::Node;
using detail::Tree;
using detail::Type;

constexpr std::size_t kLongestShown = 60;
// Doubles from here on stand for several integers, so which one was written is no longer known.
constexpr double kExactLimit = 9007199254740992.0;  // 2^53

std::string escaped_segment(std::string_view name) {
    std::string out = "/";
    for (char c : name) {
        if (c == '~') {
            out += "~0";
        } else if (c == '/') {
            out += "~1";
        } else {
            out += c;
        }
    }
    return out;
}

Kind kind_of(Type type) {
    switch (type) {
        case Type::null: return Kind::null;
        case Type::boolean: return Kind::boolean;
        case Type::integer: return Kind::number;
        case Type::real: return Kind::number;
        case Type::string: return Kind::string;
        case Type::array: return Kind::array;
        case Type::object: return Kind::object;
    }
    return Kind::missing;
}

std::string clipped(std::string_view text) {
    std::size_t end = 0;
    for (std::size_t shown = 0; end < text.size() && shown < kLongestShown; ++shown) {
        end += decode_utf8(text, end).length;
    }
    return std::string(text.substr(0, end)) + (end < text.size() ? "..." : "");
}

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
    return std::to_string(count).append(" ").append(count == 1 ? one : many);
}

}  // namespace

std::string_view kind_name(Kind kind) {
    switch (kind) {
        case Kind::missing: return "nothing";
        case Kind::null: return "null";
        case Kind::boolean: return "true or false";
        case Kind::number: return "a number";
        case Kind::string: return "a string";
        case Kind::array: return "an array";
        case Kind::object: return "an object";
    }
    return "nothing";
}

Kind Value::kind() const {
    if (tree_ == nullptr || !missing_.empty()) return Kind::missing;
    return kind_of(tree_->nodes[node_].type);
}

Value Value::missing_member(std::string_view name) const {
    Value value = *this;
    value.missing_ += escaped_segment(name);
    return value;
}

Value Value::operator[](std::string_view key) const {
    if (is_object()) {
        const std::uint32_t member = detail::find_member(*tree_, tree_->nodes[node_], key);
        if (member != 0) return {tree_, member};
    }
    return missing_member(key);
}

Value Value::at(std::size_t index) const {
    if (is_array() && index < tree_->nodes[node_].run.count) {
        return {tree_, tree_->children[tree_->nodes[node_].run.first + index]};
    }
    return missing_member(std::to_string(index));
}

std::size_t Value::size() const { return is_object() || is_array() ? tree_->nodes[node_].run.count : 0; }

Members Value::members() const {
    if (!is_object()) return {nullptr, 0, 0};
    return {tree_, tree_->nodes[node_].run.first, tree_->nodes[node_].run.count};
}

Elements Value::elements() const {
    if (!is_array()) return {nullptr, 0, 0};
    return {tree_, tree_->nodes[node_].run.first, tree_->nodes[node_].run.count};
}

Value Elements::get(std::size_t index) const { return {tree_, tree_->children[first_ + index]}; }

Member Members::get(std::size_t index) const {
    const std::uint32_t node = tree_->children[first_ + index];
    return {tree_->name(tree_->nodes[node]), Value(tree_, node)};
}

std::optional<std::int64_t> Value::integer() const {
    if (!is_number()) return std::nullopt;
    const Node& node = tree_->nodes[node_];
    if (node.type == Type::integer) return node.integer;
    if (node.inexact || !(std::abs(node.real) < kExactLimit) || std::trunc(node.real) != node.real) return std::nullopt;
    return static_cast<std::int64_t>(node.real);
}

std::optional<double> Value::number_or_infinity() const {
    if (!is_number()) return std::nullopt;
    const Node& node = tree_->nodes[node_];
    const double value = node.type == Type::integer ? static_cast<double>(node.integer) : node.real;
    if (std::isnan(value)) return std::nullopt;
    return value;
}

std::optional<double> Value::number() const {
    const std::optional<double> value = number_or_infinity();
    return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::string_view> Value::string() const {
    if (!is_string()) return std::nullopt;
    return tree_->string(tree_->nodes[node_]);
}

std::optional<bool> Value::boolean() const {
    if (!is_bool()) return std::nullopt;
    return tree_->nodes[node_].boolean;
}

std::string_view Value::key() const {
    if (!exists() || !tree_->nodes[node_].is_member) return {};
    return tree_->name(tree_->nodes[node_]);
}

std::string Value::pointer() const {
    if (tree_ == nullptr) return missing_;
    std::string out = missing_;
    for (std::uint32_t id = node_; id != 0; id = tree_->nodes[id].parent) {
        const Node& node = tree_->nodes[id];
        out.insert(0, escaped_segment(node.is_member ? tree_->name(node) : std::to_string(node.name.first)));
    }
    return out;
}

LineColumn Value::line_column() const {
    if (tree_ == nullptr) return {};
    const SourcePlace place = locate(tree_->text, tree_->nodes[node_].offset);
    return {place.line, place.column};
}

std::string Value::describe() const {
    switch (kind()) {
        case Kind::missing: return "nothing";
        case Kind::null: return "null";
        case Kind::boolean: return tree_->nodes[node_].boolean ? "true" : "false";
        case Kind::array:
            return size() == 0 ? "an empty array" : "an array of " + counted(size(), "element", "elements");
        case Kind::object:
            return size() == 0 ? "an empty object" : "an object of " + counted(size(), "member", "members");
        case Kind::string: return "\"" + clipped(*string()) + "\"";
        case Kind::number: break;
    }
    const std::string_view rest = std::string_view(tree_->text).substr(tree_->nodes[node_].offset);
    return clipped(rest.substr(0, rest.find_first_of(" \t\r\n,]}")));
}

Diagnostic Value::diagnostic(Severity severity, std::string code, std::string message) const {
    Diagnostic out;
    out.severity = severity;
    out.code = std::move(code);
    out.message = std::move(message);
    out.pointer = pointer();
    out.found = describe();
    if (tree_ == nullptr) return out;
    out.file = tree_->source_name;
    return with_place(std::move(out), tree_->text, tree_->nodes[node_].offset);
}

const void* Value::identity() const { return exists() ? &tree_->nodes[node_] : nullptr; }

Value Document::root() const { return {tree_.get(), 0}; }
std::string_view Document::source_name() const { return tree_->source_name; }
std::string_view Document::text() const { return tree_->text; }

}  // namespace kvplan::json
