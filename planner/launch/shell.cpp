#include "planner/launch/shell.hpp"

#include <algorithm>
#include <optional>

namespace kvplan::launch {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name(char c) { return is_name_start(c) || (c >= '0' && c <= '9'); }

/// Length of the name at the start of `text`.
std::size_t name_length(std::string_view text) {
    if (text.empty() || !is_name_start(text[0])) return 0;
    return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_name) - text.begin());
}

constexpr std::string_view kKeywords[] = {"if", "then", "else", "elif", "fi", "do", "done", "while", "until", "{", "}", "!", "exec", "nohup", "time", "command", "builtin"};
constexpr int kMostNesting = 32;
constexpr std::size_t kMostWords = 100'000;

class ShellReader {
public:
    ShellReader(std::string_view text, const std::string& name, std::map<std::string, std::string> variables, Diagnostics& diagnostics)
        : text_(text), name_(name), variables_(std::move(variables)), exported_(variables_), diagnostics_(&diagnostics) {}

    std::vector<ShellCommand> read() {
        while (at_ < text_.size() && total_words_ < kMostWords) step();
        end_word();
        end_command();
        return std::move(commands_);
    }

private:
    // --- characters

    void step() {
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

    void put(char c) {
        if (!in_word_ && current_.words.empty() && word_.empty()) current_.line = line_;
        in_word_ = true;
        word_ += c;
    }

    void end_line() {
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

    /// Whether the next line that holds anything begins with a flag.
    bool at_next_line_with_dash() {
        std::size_t next = at_;
        while (next < text_.size()) {
            while (next < text_.size() && is_blank(text_[next])) ++next;
            if (next >= text_.size() || text_[next] != '#') break;
            next = std::min(text_.find('\n', next), text_.size());
            if (next < text_.size()) ++next;
        }
        return next + 1 < text_.size() && text_[next] == '-' && text_[next + 1] != ' ';
    }

    void warn_continuation() {
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

    void backslash() {
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

    void skip_comment() { at_ = std::min(text_.find('\n', at_), text_.size()); }

    void quoted(char quote) {
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

    // --- expansion

    void add_text(std::string_view value, bool in_quotes) {
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

    void unresolved(std::string_view text, bool in_quotes) {
        current_.unresolved.emplace_back(text);
        if (in_quotes) word_ += text;
        else for (const char c : text) put(c);
        in_word_ = true;
    }

    /// At `$` or a backquote: what it stands for is appended to the word.
    void dollar(bool in_quotes, int depth) {
        if (text_[at_] == '`') return keep_to(text_.find('`', at_ + 1), in_quotes);
        const std::string_view rest = text_.substr(at_ + 1);
        if (rest.substr(0, 1) == "(") return keep_to(closing(at_ + 1, '(', ')'), in_quotes);
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

    /// `${NAME}`, `${NAME:-default}`, `${NAME[@]}`.
    void braces(bool in_quotes, int depth) {
        const std::size_t end = closing(at_ + 1, '{', '}');
        if (end == std::string_view::npos) return keep_to(end, in_quotes);
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

    void defaulted(const std::string& name, std::string_view rest, std::string_view whole, bool in_quotes, int depth) {
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

    /// The text of a default, with its own variables and quotes.
    std::string expanded(std::string_view text, int depth) {
        if (depth > kMostNesting) return std::string(text);
        ShellReader inner(text, name_, variables_, *diagnostics_);
        inner.depth_ = depth + 1;
        while (inner.at_ < text.size()) {
            const char c = text[inner.at_];
            if (c == '\'' || c == '"') inner.quoted(c);
            else if (c == '$' || c == '`') inner.dollar(true, depth + 1);
            else inner.word_ += text[inner.at_++];
        }
        for (std::string& name : inner.current_.unresolved) current_.unresolved.push_back(std::move(name));
        return std::move(inner.word_);
    }

    void add_array(const std::string& name, std::string_view whole, bool in_quotes) {
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

    /// Keeps what is not run, up to and including `end`.
    void keep_to(std::size_t end, bool in_quotes) {
        const std::size_t stop = end == std::string_view::npos ? text_.size() : end + 1;
        line_ += static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_), text_.begin() + static_cast<std::ptrdiff_t>(stop), '\n'));
        unresolved(text_.substr(at_, stop - at_), true);
        (void)in_quotes;
        at_ = stop;
    }

    /// The bracket that closes the one at `open`, or npos.
    [[nodiscard]] std::size_t closing(std::size_t open, char left, char right) const {
        int depth = 0;
        for (std::size_t i = open; i < text_.size(); ++i) {
            if (text_[i] == '\\') ++i;
            else if (text_[i] == left) ++depth;
            else if (text_[i] == right && --depth == 0) return i;
        }
        return std::string_view::npos;
    }

    // --- arrays: NAME=( … ) and NAME+=( … )

    [[nodiscard]] bool opens_array() const {
        return in_word_ && current_.words.empty() && word_.size() > 1 && word_.back() == '=' && name_length(word_) > 0;
    }

    void read_array() {
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

    // --- operators

    void separator() {
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
        end_command();
        ++at_;
    }

    void redirection() {
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

    void skip_here_document(const std::string& delimiter) {
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

    // --- words and commands

    void end_word() {
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
            if (std::find(std::begin(kKeywords), std::end(kKeywords), word) != std::end(kKeywords)) return;
            if (assign(word, current_.environment)) return;
        }
        current_.words.push_back(std::move(word));
        ++total_words_;
    }

    /// NAME=value or NAME+=value.
    bool assign(const std::string& word, std::map<std::string, std::string>& target) {
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

    void end_command() {
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

    std::string_view text_;
    std::string name_;
    std::map<std::string, std::string> variables_, exported_;
    std::map<std::string, std::vector<std::string>> arrays_;
    Diagnostics* diagnostics_;
    std::vector<ShellCommand> commands_;
    ShellCommand current_;
    std::string word_;
    std::vector<std::string> here_documents_;
    std::size_t at_ = 0, line_ = 1, total_words_ = 0;
    int depth_ = 0;
    bool in_word_ = false, in_array_ = false, skip_next_ = false, is_here_ = false, warned_ = false, drop_empty_ = false;
};

}  // namespace

std::vector<ShellCommand> read_shell(std::string_view text, const std::string& name, std::map<std::string, std::string> variables,
                                     Diagnostics& diagnostics) {
    return ShellReader(text, name, std::move(variables), diagnostics).read();
}

std::string shell_quoted(std::string_view word) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || std::string_view("-_./:@,=+%").find(c) != std::string_view::npos;
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
