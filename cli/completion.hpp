#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/context.hpp"

namespace kvplan::cli {

/// Words that may stand where the last of `words` stands (it may be empty or half typed; the program's own name is left
/// out). `app` holds the options of the command that the words name. Values are known for models, GPUs, engines, formats
/// and field names; nothing is said where a file may stand.
[[nodiscard]] std::vector<std::string> completions(const CLI::App& app, const std::vector<std::string>& words);

/// The script for a shell ("bash", "zsh", "fish"), which asks `kvplan __complete -- WORDS`; empty for another shell.
[[nodiscard]] std::string completion_script(std::string_view shell);

/// The manual page (troff, man macros) from the options of all commands.
[[nodiscard]] std::string manual_page(const CLI::App& app, std::string_view version);

}  // namespace kvplan::cli
