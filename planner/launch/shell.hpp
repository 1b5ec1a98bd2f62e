#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "units/diagnostic.hpp"

namespace kvplan::launch {

/// A simple command of a shell text after expansion: its words, and the variables in force.
struct ShellCommand {
    std::vector<std::string> words;
    std::map<std::string, std::string> environment;  // exported before, and assigned in front of the command
    std::vector<std::string> assigned;               // "NAME=value" in front of the command
    std::vector<std::string> unresolved;             // names of variables without a value, as written: "$MODEL"
    std::size_t line = 1;
    bool background = false;                         // ended by `&`
    std::int64_t repeats = 1;                        // times a `for` around it runs it; 0: cannot be told
};

/// Splits a text as a shell would: quotes, escapes, `\` at a line's end, comments, `;` `&&` `||` `|` `&`, redirections,
/// here-documents, variables, arrays. Substitutions of commands and arithmetic stay as written. Both branches of an `if`
/// are read in order. A line that begins with a dash belongs to the command before it, which a shell would not do:
/// "launch.broken-continuation" warns.
[[nodiscard]] std::vector<ShellCommand> read_shell(std::string_view text, const std::string& name,
                                                   std::map<std::string, std::string> variables, Diagnostics& diagnostics);

/// `word` in single quotes where a shell needs them.
[[nodiscard]] std::string shell_quoted(std::string_view word);

}  // namespace kvplan::launch
