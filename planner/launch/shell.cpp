#include "planner/launch/shell.hpp"

#include <algorithm>

#include "planner/launch/shell_reader.hpp"
#include "units/ascii.hpp"

namespace kvplan::launch {
namespace {

constexpr std::string_view kKeywords[] = {"if", "then", "else", "elif", "fi", "do", "done", "while", "until", "{", "}", "!", "exec", "nohup", "time", "command", "builtin"};
constexpr std::size_t kMostWords = 100'000;

}  // namespace

std::vector<ShellCommand> ShellReader::read() {
    while (at_ < text_.size() && total_words_ < kMostWords) step();
    end_word();
    end_command();
    return std::move(commands_);
}

void ShellReader::step() {
    const char c = text_[at_];
    if (c == '\n') {
        end_line();
    } else if (is_blank(c)) {
        end_word();
        ++at_;
    } else if (c == '\\') {
        backslash();
    } else if (c == '#' && !in_word_) {
        skip_comment();
    } else if (c == '\'' || c == '"') {
        quoted(c);
    } else if (c == '$' || c == '`') {
        dollar(false, 0);
    } else if (c == '(' && opens_array()) {
        read_array();
    } else if (c == ';' || c == '|' || c == '&' || c == '(' || c == ')') {
        separator();
    } else if (c == '<' || c == '>') {
        redirection();
    } else {
        put(c);
        ++at_;
    }
}

void ShellReader::put(char c) {
    if (!in_word_ && current_.words.empty() && word_.empty()) current_.line = line_;
    in_word_ = true;
    word_ += c;
}

void ShellReader::end_line() {
    end_word();
    ++at_;
    ++line_;
    for (const std::string& delimiter : here_documents_) skip_here_document(delimiter);
    here_documents_.clear();
    if (at_next_line_with_dash() && !current_.words.empty()) {
        warn_continuation();
        return;
    }
    end_command();
}

bool ShellReader::at_next_line_with_dash() {
    std::size_t next = at_;
    while (next < text_.size()) {
        while (next < text_.size() && is_blank(text_[next])) ++next;
        if (next >= text_.size() || text_[next] != '#') break;
        next = std::min(text_.find('\n', next), text_.size());
        if (next < text_.size()) ++next;
    }
    return next + 1 < text_.size() && text_[next] == '-' && text_[next + 1] != ' ';
}

void ShellReader::warn_continuation() {
    if (warned_) return;
    warned_ = true;
    Diagnostic d;
    d.severity = Severity::warning;
    d.code = "launch.broken-continuation";
    d.file = name_;
    d.message = "a flag begins a line that the line before does not continue; it is read as part of the command";
    d.hint = "a shell ends the command here: end each line but the last with a backslash, with nothing after it, and no comments between";
    diagnostics_->add(with_place(std::move(d), text_, at_));
}

void ShellReader::backslash() {
    std::size_t next = at_ + 1;
    while (next < text_.size() && is_blank(text_[next])) ++next;
    const bool comment = next < text_.size() && text_[next] == '#' && next > at_ + 1;
    if (next >= text_.size() || text_[next] == '\n' || comment) {
        const bool clean = next == at_ + 1 || (next == at_ + 2 && text_[at_ + 1] == '\r');
        if (!clean && next < text_.size()) {
            at_ = next;
            warn_continuation();
        }
        if (comment) next = std::min(text_.find('\n', next), text_.size());
        if (!clean) end_word();
        at_ = std::min(next + 1, text_.size());
        ++line_;
        return;
    }
    put(text_[at_ + 1]);
    at_ += 2;
}

void ShellReader::skip_comment() { at_ = std::min(text_.find('\n', at_), text_.size()); }

void ShellReader::quoted(char quote) {
    const std::size_t start = at_++;
    if (!in_word_ && current_.words.empty()) current_.line = line_;
    in_word_ = true;
    while (at_ < text_.size() && text_[at_] != quote) {
        const char c = text_[at_];
        if (c == '\n') ++line_;
        if (quote == '"' && c == '\\' && at_ + 1 < text_.size()) {
            const char next = text_[at_ + 1];
            if (next == '\n') ++line_;
            else if (next == '"' || next == '\\' || next == '$' || next == '`') word_ += next;
            else word_ += {c, next};
            at_ += 2;
        } else if (quote == '"' && (c == '$' || c == '`')) {
            dollar(true, 0);
        } else {
            word_ += c;
            ++at_;
        }
    }
    if (at_ < text_.size()) {
        ++at_;
        return;
    }
    Diagnostic d;
    d.code = "launch.quote";
    d.file = name_;
    d.message = "a quote is not closed";
    d.expected = std::string("a closing ") + quote;
    diagnostics_->add(with_place(std::move(d), text_, start));
}

void ShellReader::separator() {
    const char c = text_[at_];
    if (in_array_) {
        put(c);
        ++at_;
        return;
    }
    end_word();
    if (c == '&' && at_ + 1 < text_.size() && text_[at_ + 1] == '>') {
        ++at_;
        return redirection();
    }
    const bool twice = at_ + 1 < text_.size() && text_[at_ + 1] == '&';
    const bool second = at_ > 0 && text_[at_ - 1] == '&';
    current_.background = c == '&' && !twice && !second;
    end_command();
    ++at_;
}

void ShellReader::redirection() {
    // "2>&1": the number belongs to the redirection
    if (in_word_ && std::all_of(word_.begin(), word_.end(), [](char c) { return c >= '0' && c <= '9'; })) {
        word_.clear();
        in_word_ = false;
    }
    end_word();
    const bool here = text_.substr(at_, 2) == "<<" && text_.substr(at_, 3) != "<<<";
    while (at_ < text_.size() && (text_[at_] == '<' || text_[at_] == '>' || text_[at_] == '&' || text_[at_] == '-')) ++at_;
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    skip_next_ = true;
    is_here_ = here;
}

void ShellReader::skip_here_document(const std::string& delimiter) {
    while (at_ < text_.size()) {
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        std::string_view line = text_.substr(at_, end - at_);
        while (!line.empty() && (is_blank(line.front()))) line.remove_prefix(1);
        while (!line.empty() && (is_blank(line.back()))) line.remove_suffix(1);
        at_ = std::min(end + 1, text_.size());
        ++line_;
        if (line == delimiter) return;
    }
}

void ShellReader::end_word() {
    if (!in_word_) return;
    std::string word = std::move(word_);
    word_.clear();
    in_word_ = false;
    const bool drop = drop_empty_ && word.empty();
    drop_empty_ = false;
    if (drop) return;
    if (skip_next_) {
        skip_next_ = false;
        if (is_here_) here_documents_.push_back(std::move(word));
        is_here_ = false;
        return;
    }
    if (!in_array_ && current_.words.empty()) {
        if (std::find(std::begin(kKeywords), std::end(kKeywords), word) != std::end(kKeywords)) {
            if (word == "while" || word == "until") loops_.push_back(1);  // one turn after the other ends
            if (word == "done" && !loops_.empty()) loops_.pop_back();
            return;
        }
        if (assign(word, current_.environment)) return;
    }
    current_.words.push_back(std::move(word));
    ++total_words_;
}

bool ShellReader::assign(const std::string& word, std::map<std::string, std::string>& target) {
    const std::size_t length = name_length(word);
    if (length == 0 || length >= word.size()) return false;
    const bool append = word.compare(length, 2, "+=") == 0;
    if (!append && word[length] != '=') return false;
    const std::string name = word.substr(0, length);
    const std::string value = word.substr(length + (append ? 2 : 1));
    if (!append) {
        target[name] = value;
        return true;
    }
    const auto before = variables_.find(name);
    target[name] = (before == variables_.end() ? std::string() : before->second) + value;
    return true;
}

void ShellReader::end_command() {
    skip_next_ = false;
    ShellCommand command = std::move(current_);
    current_ = {};
    if (command.words.empty()) {
        for (const auto& [name, value] : command.environment) {
            variables_[name] = value;
            if (exported_.count(name) > 0) exported_[name] = value;
        }
        return;
    }
    const std::string& first = command.words.front();
    if (first == "for") open_loop(command.words);
    for (const std::int64_t turns : loops_) command.repeats *= std::min<std::int64_t>(turns, 1000);
    if (!command.background) command.repeats = 1;
    if (first == "export" || first == "local" || first == "declare" || first == "readonly") {
        std::map<std::string, std::string> assigned;
        for (std::size_t i = 1; i < command.words.size(); ++i) {
            const auto known = variables_.find(command.words[i]);
            if (!assign(command.words[i], assigned) && known != variables_.end()) assigned[known->first] = known->second;
        }
        for (const auto& [name, value] : assigned) {
            variables_[name] = value;
            if (first == "export") exported_[name] = value;
        }
        return;
    }
    for (const auto& [name, value] : command.environment) command.assigned.push_back(name + "=" + value);
    std::map<std::string, std::string> environment = exported_;
    for (auto& [name, value] : command.environment) environment[name] = std::move(value);
    command.environment = std::move(environment);
    commands_.push_back(std::move(command));
}

void ShellReader::open_loop(const std::vector<std::string>& words) {
    const bool listed = words.size() > 3 && words[2] == "in" &&
                        std::all_of(words.begin() + 3, words.end(), [](const std::string& word) { return word.find_first_of("$`{*?") == std::string::npos; });
    loops_.push_back(listed ? static_cast<std::int64_t>(words.size()) - 3 : 0);
}

std::vector<ShellCommand> read_shell(std::string_view text, const std::string& name, std::map<std::string, std::string> variables,
                                     Diagnostics& diagnostics) {
    return ShellReader(text, name, std::move(variables), diagnostics).read();
}

std::string shell_quoted(std::string_view word) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
        return is_alnum(c) || std::string_view("-_./:@,=+%").find(c) != std::string_view::npos;
    });
    if (plain) return std::string(word);
    std::string quoted = "'";
    for (const char c : word) {
        if (c == '\'') quoted += "'\\''";
        else quoted += c;
    }
    return quoted + "'";
}

}  // namespace kvplan::launch
