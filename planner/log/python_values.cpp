#include "planner/log/python_values.hpp"

#include "planner/log/text.hpp"

namespace kvplan::logs {

namespace {

constexpr std::size_t kMostMembers = 4096;

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

// Position after the string literal that begins at `at`, or npos when it is cut.
std::size_t after_string(std::string_view text, std::size_t at) {
    const char quote = text[at];
    for (std::size_t i = at + 1; i < text.size(); ++i) {
        if (text[i] == '\\') ++i;
        else if (text[i] == quote) return i + 1;
    }
    return std::string_view::npos;
}

struct Scanned {
    std::size_t end = 0;      // of the value
    char stop = '\0';         // ',' or the closing bracket; 0: cut
};

// The end of a value: a comma or a closing bracket outside of quotes and inner brackets.
Scanned scan_value(std::string_view text, std::size_t at) {
    int depth = 0;
    for (std::size_t i = at; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\'' || c == '"') {
            const std::size_t after = after_string(text, i);
            if (after == std::string_view::npos) return {text.size(), '\0'};
            i = after - 1;
        } else if (c == '(' || c == '[' || c == '{' || c == '<') {
            ++depth;
        } else if (c == ')' || c == ']' || c == '}' || c == '>') {
            if (depth == 0) return {i, c};
            --depth;
        } else if (c == ',' && depth == 0) {
            return {i, c};
        }
    }
    return {text.size(), '\0'};
}

std::string unescaped(std::string_view literal) {
    std::string text;
    for (std::size_t i = 0; i < literal.size(); ++i) {
        if (literal[i] != '\\' || i + 1 >= literal.size()) {
            text += literal[i];
            continue;
        }
        const char c = literal[++i];
        text += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
    return text;
}

PythonValue value_of(std::string_view text) {
    using Kind = PythonValue::Kind;
    text = trimmed(text);
    if (text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front())
        return {Kind::text, unescaped(text.substr(1, text.size() - 2))};
    if (text == "None" || text == "null") return {Kind::none, std::string(text)};
    if (text == "True" || text == "False" || text == "true" || text == "false") return {Kind::boolean, text == "True" || text == "true" ? "true" : "false"};
    if (const auto number = number_at_start(text); number && number->length == text.size()) return {Kind::number, std::string(text)};
    return {Kind::other, std::string(text)};
}

}  // namespace

PythonMembers read_python_members(std::string_view text) {
    PythonMembers result;
    std::size_t at = 0;
    while (at < text.size() && result.members.size() < kMostMembers) {
        while (at < text.size() && (text[at] == ' ' || text[at] == ',')) ++at;
        if (at >= text.size()) return result;
        if (text[at] == ')' || text[at] == '}') {
            result.complete = true;
            return result;
        }
        std::string key;
        if (text[at] == '\'' || text[at] == '"') {
            const std::size_t after = after_string(text, at);
            if (after == std::string_view::npos) return result;
            key = unescaped(text.substr(at + 1, after - at - 2));
            at = after;
        } else {
            const std::size_t begin = at;
            while (at < text.size() && is_word(text[at])) ++at;
            key = std::string(text.substr(begin, at - begin));
        }
        while (at < text.size() && text[at] == ' ') ++at;
        if (key.empty() || at >= text.size() || (text[at] != '=' && text[at] != ':')) return result;
        const Scanned scanned = scan_value(text, at + 1);
        // vLLM's config line ends with the line; SGLang's and a dict with a bracket. A value at a cut may be half a value.
        if (scanned.stop == '\0') return result;
        result.members.push_back({std::move(key), value_of(text.substr(at + 1, scanned.end - at - 1))});
        at = scanned.end;
    }
    return result;
}

}  // namespace kvplan::logs
