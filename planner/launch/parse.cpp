#include <algorithm>

#include "planner/launch/launch.hpp"
#include "planner/launch/recognise.hpp"
#include "planner/launch/shell.hpp"

namespace kvplan::launch {
namespace {

void report_none(const std::string& name, Diagnostics& diagnostics) {
    if (diagnostics.has_errors()) return;
    Diagnostic d;
    d.code = "launch.none";
    d.file = name;
    d.message = "no launch of SGLang or vLLM was found";
    d.expected = "python3 -m sglang.launch_server …, sglang serve …, vllm serve …, or a container of one of them";
    diagnostics.add(std::move(d));
}

bool too_large(std::string_view text, const std::string& name, Diagnostics& diagnostics) {
    if (text.size() <= kMostTextBytes) return false;
    Diagnostic d;
    d.code = "launch.too-large";
    d.file = name;
    d.message = "the text is too large for a launch command";
    d.expected = "at most 4 MiB";
    diagnostics.add(std::move(d));
    return true;
}

/// `pip install "sglang[all]==0.5.6"` names the version that the launches after it run.
void note_install(const std::vector<std::string>& words, std::map<EngineKind, std::string>& versions) {
    const bool install = std::find(words.begin(), words.end(), "install") != words.end();
    if (!install) return;
    for (const std::string& word : words) {
        const std::size_t equals = word.find("==");
        if (equals == std::string::npos) continue;
        const std::string package = word.substr(0, std::min(word.find('['), equals));
        if (package == "sglang") versions[EngineKind::sglang] = word.substr(equals + 2);
        if (package == "vllm") versions[EngineKind::vllm] = word.substr(equals + 2);
    }
}

std::vector<ParsedLaunch> launches_in(std::string_view text, const std::string& name, Diagnostics& diagnostics) {
    std::vector<ParsedLaunch> all;
    std::map<EngineKind, std::string> versions;
    for (ShellCommand& command : read_shell(text, name, {}, diagnostics)) {
        note_install(command.words, versions);
        Words words;
        words.source = name + ":" + std::to_string(command.line);
        words.words = std::move(command.assigned);
        const std::size_t command_at = words.words.size();
        words.words.insert(words.words.end(), command.words.begin(), command.words.end());
        words.environment = std::move(command.environment);
        const std::string command_word = words.words.size() > command_at ? words.words[command_at] : std::string();
        for (ParsedLaunch& launch : find_launches(words, diagnostics)) {
            launch.unresolved.insert(launch.unresolved.end(), command.unresolved.begin(), command.unresolved.end());
            if (launch.engine_version.empty()) launch.engine_version = versions[launch.engine];
            if (command_word != "ssh" && command_word != "srun") launch.repeats = command.repeats;
            all.push_back(std::move(launch));
        }
    }
    return all;
}

/// Whether a text without a telling name is YAML rather than a script: by its first line that says anything.
bool looks_like_yaml(std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.substr(0, 2) == "#!") return false;
        while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
        if (line.empty() || line[0] == '#') continue;
        if (line.substr(0, 3) == "---" || line.substr(0, 2) == "- " || line[0] == '{' || line[0] == '[') return true;
        const std::size_t colon = line.find(':');
        const bool key = colon != std::string_view::npos && line.substr(0, colon).find_first_of(" \t=$\"'/") == std::string_view::npos;
        return key && (colon + 1 == line.size() || line[colon + 1] == ' ');
    }
    return false;
}

bool ends_with(std::string_view text, std::string_view end) { return text.size() >= end.size() && text.substr(text.size() - end.size()) == end; }

}  // namespace

std::vector<ParsedLaunch> parse_words(std::span<const std::string> words, Diagnostics& diagnostics) {
    std::size_t bytes = 0;
    for (const std::string& word : words) bytes += word.size();
    if (bytes > kMostTextBytes) {
        (void)too_large(std::string(kMostTextBytes + 1, ' '), "", diagnostics);
        return {};
    }
    Words outer;
    outer.source = "command line";
    outer.words.assign(words.begin(), words.end());
    std::vector<ParsedLaunch> found = find_launches(outer, diagnostics);
    if (found.empty() && words.size() == 1) found = launches_in(words[0], "command line", diagnostics);
    if (found.empty()) report_none("", diagnostics);
    return found;
}

std::vector<ParsedLaunch> parse_script(std::string_view text, const std::string& name, Diagnostics& diagnostics) {
    if (too_large(text, name, diagnostics)) return {};
    std::vector<ParsedLaunch> all = launches_in(text, name, diagnostics);
    if (all.empty()) report_none(name, diagnostics);
    return all;
}

std::vector<ParsedLaunch> parse_file(std::string_view text, const std::string& name, Diagnostics& diagnostics) {
    if (ends_with(name, ".yaml") || ends_with(name, ".yml") || ends_with(name, ".json")) return parse_manifest(text, name, diagnostics);
    if (!ends_with(name, ".sh") && looks_like_yaml(text)) return parse_manifest(text, name, diagnostics);
    return parse_script(text, name, diagnostics);
}

}  // namespace kvplan::launch
