#include <algorithm>

#include "planner/launch/shell_reader.hpp"
#include "units/ascii.hpp"

namespace kvplan::launch {
namespace {

constexpr int kMostNesting = 32;

bool is_name_start(char c) { return is_letter(c) || c == '_'; }
bool is_name(char c) { return is_name_start(c) || (c >= '0' && c <= '9'); }

}  // namespace

std::size_t name_length(std::string_view text) {
    if (text.empty() || !is_name_start(text[0])) return 0;
    return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_name) - text.begin());
}

void ShellReader::add_text(std::string_view value, bool in_quotes) {
    if (in_quotes) {
        word_ += value;
        in_word_ = true;
        return;
    }
    for (const char c : value) {
        if (is_blank(c) || c == '\n') end_word();
        else put(c);
    }
}

void ShellReader::unresolved(std::string_view text, bool in_quotes) {
    current_.unresolved.emplace_back(text);
    if (in_quotes) word_ += text;
    else for (const char c : text) put(c);
    in_word_ = true;
}

void ShellReader::dollar(bool in_quotes, int depth) {
    if (text_[at_] == '`') return keep_to(text_.find('`', at_ + 1));
    const std::string_view rest = text_.substr(at_ + 1);
    if (rest.substr(0, 1) == "(") return keep_to(closing(at_ + 1, '(', ')'));
    if (rest.substr(0, 1) == "{") return braces(in_quotes, depth);
    const std::size_t length = name_length(rest);
    if (length == 0) {
        const bool special = !rest.empty() && (rest[0] == '@' || rest[0] == '*');
        if (special) {  // the script's own arguments: none are known
            drop_empty_ = word_.empty();
            at_ += 2;
        } else if (rest.empty() || is_blank(rest[0]) || rest[0] == '\n') {
            // "$ command": a prompt that was pasted along
            if (in_word_ || !current_.words.empty()) put('$');
            ++at_;
        } else {
            unresolved(text_.substr(at_, 2), in_quotes);
            at_ += 2;
        }
        return;
    }
    const std::string name(rest.substr(0, length));
    const auto value = variables_.find(name);
    if (value != variables_.end()) add_text(value->second, in_quotes);
    else unresolved(text_.substr(at_, length + 1), in_quotes);
    at_ += length + 1;
}

void ShellReader::braces(bool in_quotes, int depth) {
    const std::size_t end = closing(at_ + 1, '{', '}');
    if (end == std::string_view::npos) return keep_to(end);
    const std::string_view inner = text_.substr(at_ + 2, end - at_ - 2);
    const std::size_t length = name_length(inner);
    const std::string name(inner.substr(0, length));
    const std::string_view rest = inner.substr(length);
    const auto value = variables_.find(name);
    if (rest == "[@]" || rest == "[*]") {
        add_array(name, text_.substr(at_, end + 1 - at_), in_quotes);
    } else if (length > 0 && rest.empty()) {
        if (value != variables_.end()) add_text(value->second, in_quotes);
        else unresolved(text_.substr(at_, end + 1 - at_), in_quotes);
    } else if (length > 0 && (rest[0] == ':' || rest[0] == '-' || rest[0] == '=')) {
        defaulted(name, rest, text_.substr(at_, end + 1 - at_), in_quotes, depth);
    } else {
        unresolved(text_.substr(at_, end + 1 - at_), in_quotes);
    }
    at_ = end + 1;
}

void ShellReader::defaulted(const std::string& name, std::string_view rest, std::string_view whole, bool in_quotes, int depth) {
    const bool empty_counts = rest[0] == ':';
    if (empty_counts) rest.remove_prefix(1);
    const char operation = rest.empty() ? '?' : rest[0];
    const auto value = variables_.find(name);
    const bool given = value != variables_.end() && !(empty_counts && value->second.empty());
    if (operation == '+') {
        if (given) add_text(expanded(rest.substr(1), depth), in_quotes);
    } else if (given) {
        add_text(value->second, in_quotes);
    } else if (operation == '-' || operation == '=') {
        const std::string text = expanded(rest.substr(1), depth);
        if (operation == '=') variables_[name] = text;
        add_text(text, in_quotes);
    } else {
        unresolved(whole, in_quotes);
    }
}

std::string ShellReader::expanded(std::string_view text, int depth) {
    if (depth > kMostNesting) return std::string(text);
    ShellReader inner(text, name_, variables_, *diagnostics_);
    while (inner.at_ < text.size()) {
        const char c = text[inner.at_];
        if (c == '\'' || c == '"') inner.quoted(c);
        else if (c == '$' || c == '`') inner.dollar(true, depth + 1);
        else inner.word_ += text[inner.at_++];
    }
    for (std::string& name : inner.current_.unresolved) current_.unresolved.push_back(std::move(name));
    return std::move(inner.word_);
}

void ShellReader::add_array(const std::string& name, std::string_view whole, bool in_quotes) {
    const auto found = arrays_.find(name);
    if (found == arrays_.end()) return unresolved(whole, in_quotes);
    // An empty array leaves no word behind.
    if (found->second.empty() && in_quotes && word_.empty()) drop_empty_ = true;
    bool first = true;
    for (const std::string& element : found->second) {
        if (!first) end_word();
        first = false;
        in_word_ = true;
        word_ += element;
    }
}

void ShellReader::keep_to(std::size_t end) {
    const std::size_t stop = end == std::string_view::npos ? text_.size() : end + 1;
    line_ += static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_), text_.begin() + static_cast<std::ptrdiff_t>(stop), '\n'));
    unresolved(text_.substr(at_, stop - at_), true);
    at_ = stop;
}

std::size_t ShellReader::closing(std::size_t open, char left, char right) const {
    int depth = 0;
    for (std::size_t i = open; i < text_.size(); ++i) {
        if (text_[i] == '\\') ++i;
        else if (text_[i] == left) ++depth;
        else if (text_[i] == right && --depth == 0) return i;
    }
    return std::string_view::npos;
}

bool ShellReader::opens_array() const {
    return in_word_ && current_.words.empty() && word_.size() > 1 && word_.back() == '=' && name_length(word_) > 0;
}

void ShellReader::read_array() {
    const bool append = word_[word_.size() - 2] == '+';
    const std::string name = word_.substr(0, name_length(word_));
    word_.clear();
    in_word_ = false;
    ++at_;
    ShellCommand outer = std::move(current_);
    current_ = {};
    in_array_ = true;
    while (at_ < text_.size() && text_[at_] != ')') {
        if (text_[at_] == '\n') {
            end_word();
            ++at_;
            ++line_;
        } else {
            step();
        }
    }
    end_word();
    in_array_ = false;
    if (at_ < text_.size()) ++at_;
    std::vector<std::string>& array = arrays_[name];
    if (!append) array.clear();
    for (std::string& word : current_.words) array.push_back(std::move(word));
    current_ = std::move(outer);
}

}  // namespace kvplan::launch
