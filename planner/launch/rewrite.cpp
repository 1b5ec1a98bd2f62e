#include <algorithm>

#include "planner/engine_flags.hpp"
#include "planner/launch/launch.hpp"
#include "planner/launch/shell.hpp"
#include "units/ascii.hpp"

namespace kvplan::launch {
namespace {

// LMCache is sized by a variable, not by a flag.
constexpr std::string_view kLmcacheVariable = "LMCACHE_MAX_LOCAL_CPU_SIZE=";

/// Sets the variable where the command names it, else in front of it.
void set_lmcache_size(const std::string& value, std::vector<std::string>& prefix) {
    for (std::string& word : prefix) {
        const std::size_t at = word.find(kLmcacheVariable);
        if (at == std::string::npos) continue;
        word = word.substr(0, at) + std::string(kLmcacheVariable) + value;
        return;
    }
    prefix.insert(prefix.begin(), std::string(kLmcacheVariable) + value);
}

bool is_variable_name(std::string_view text) {
    return !text.empty() && (text[0] < '0' || text[0] > '9') && std::all_of(text.begin(), text.end(), [](char c) {
        return is_alnum(c) || c == '_';
    });
}

/// A word for a shell to read again. What the text left to the shell (variables, `$(…)`, a home directory) stays live, and
/// the name of an assignment stays out of the quotes.
std::string shell_word(const std::string& word, const std::vector<std::string>& live) {
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos && is_variable_name(std::string_view(word).substr(0, equals)) && equals + 1 < word.size())
        return word.substr(0, equals + 1) + shell_word(word.substr(equals + 1), live);
    const bool has_live = std::any_of(live.begin(), live.end(), [&](const std::string& text) { return !text.empty() && word.find(text) != std::string::npos; });
    if (has_live) {
        const bool plain = word.find_first_of(" \t\n\"\\'();&|<>*?[]{}~#!") == std::string::npos;
        if (plain) return word;
        std::string quoted = "\"";
        for (const char c : word) {
            if (c == '"' || c == '\\') quoted += '\\';
            quoted += c;
        }
        return quoted + "\"";
    }
    if (word.substr(0, 2) == "~/" && shell_quoted(word.substr(2)) == word.substr(2)) return word;
    return shell_quoted(word);
}

/// The engine's words, each with what stands in its place.
using Pieces = std::vector<std::vector<std::string>>;

/// Puts `words` in the place of a flag's first occurrence and takes all others away; false when it does not occur.
bool replace(const ParsedLaunch& launch, const FieldSpec& field, std::string_view value, Pieces& pieces) {
    const bool is_switch = field.kind == FieldKind::boolean;
    bool placed = false;
    for (const LaunchFlag& flag : launch.flags) {
        if (flag.field != &field) continue;
        for (std::size_t i = flag.first; i < flag.first + flag.count; ++i) pieces[i].clear();
        if (!placed && is_switch && value != "false") pieces[flag.first] = {flag.name};
        if (!placed && !is_switch) pieces[flag.first] = {flag.name, std::string(value)};
        placed = true;
    }
    return placed;
}

}  // namespace

std::string rewritten(const ParsedLaunch& launch, std::span<const FlagChange> changes) {
    Pieces pieces;
    for (const std::string& word : launch.arguments) pieces.push_back({word});
    std::vector<std::string> prefix = launch.prefix;
    for (const FlagChange& change : changes) {
        const FieldSpec* field = find_field(change.field);
        if (change.field == "lmcache_max_local_cpu_size") {
            set_lmcache_size(change.value, prefix);
            continue;
        }
        if (field == nullptr || replace(launch, *field, change.value, pieces)) continue;
        const std::string_view name = engine_flag(*field, launch.engine);
        const bool is_switch = field->kind == FieldKind::boolean;
        if (name.empty() || (is_switch && change.value == "false")) continue;
        pieces.push_back(is_switch ? std::vector<std::string>{std::string(name)} : std::vector<std::string>{std::string(name), change.value});
    }
    pieces.insert(pieces.begin(), prefix);
    std::string text;
    for (const auto& piece : pieces)
        for (const std::string& word : piece) text += (text.empty() ? "" : " ") + shell_word(word, launch.unresolved);
    return text;
}

}  // namespace kvplan::launch
