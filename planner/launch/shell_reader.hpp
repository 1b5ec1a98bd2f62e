// How shell.cpp reads. Internal to planner/launch.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "planner/launch/shell.hpp"

namespace kvplan::launch {

[[nodiscard]] inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
/// Length of the variable name at the start of `text`, 0 when none is there.
[[nodiscard]] std::size_t name_length(std::string_view text);

class ShellReader {
public:
    ShellReader(std::string_view text, const std::string& name, std::map<std::string, std::string> variables, Diagnostics& diagnostics)
        : text_(text), name_(name), variables_(std::move(variables)), exported_(variables_), diagnostics_(&diagnostics) {}

    std::vector<ShellCommand> read();

private:
    // --- characters
    void step();
    void put(char c);
    void end_line();
    /// Whether the next line that holds anything begins with a flag.
    bool at_next_line_with_dash();
    void warn_continuation();
    void backslash();
    void skip_comment();
    void quoted(char quote);

    // --- expansion
    void add_text(std::string_view value, bool in_quotes);
    void unresolved(std::string_view text, bool in_quotes);
    /// At `$` or a backquote: what it stands for is appended to the word.
    void dollar(bool in_quotes, int depth);
    /// `${NAME}`, `${NAME:-default}`, `${NAME[@]}`.
    void braces(bool in_quotes, int depth);
    void defaulted(const std::string& name, std::string_view rest, std::string_view whole, bool in_quotes, int depth);
    /// The text of a default, with its own variables and quotes.
    std::string expanded(std::string_view text, int depth);
    void add_array(const std::string& name, std::string_view whole, bool in_quotes);
    /// Keeps what is not run, up to and including `end`.
    void keep_to(std::size_t end);
    /// The bracket that closes the one at `open`, or npos.
    [[nodiscard]] std::size_t closing(std::size_t open, char left, char right) const;

    // --- arrays: NAME=( … ) and NAME+=( … )
    [[nodiscard]] bool opens_array() const;
    void read_array();

    // --- operators
    void separator();
    void redirection();
    void skip_here_document(const std::string& delimiter);

    // --- words and commands
    void end_word();
    /// NAME=value or NAME+=value.
    bool assign(const std::string& word, std::map<std::string, std::string>& target);
    void end_command();
    /// Opens a loop at `for NAME in WORDS`.
    void open_loop(const std::vector<std::string>& words);

    std::string_view text_;
    std::string name_;
    std::map<std::string, std::string> variables_, exported_;
    std::map<std::string, std::vector<std::string>> arrays_;
    Diagnostics* diagnostics_;
    std::vector<ShellCommand> commands_;
    ShellCommand current_;
    std::string word_;
    std::vector<std::string> here_documents_;
    std::vector<std::int64_t> loops_;  // turns of the loops that are open; 0: cannot be told
    std::size_t at_ = 0, line_ = 1, total_words_ = 0;
    bool in_word_ = false, in_array_ = false, skip_next_ = false, is_here_ = false, warned_ = false, drop_empty_ = false;
};

}  // namespace kvplan::launch
