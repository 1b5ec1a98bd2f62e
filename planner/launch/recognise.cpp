#include "planner/launch/recognise.hpp"

#include <algorithm>

#include "planner/launch/shell.hpp"
#include "units/ascii.hpp"

namespace kvplan::launch {
namespace {

constexpr int kMostShells = 4;

std::string_view base_name(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_python(std::string_view word) { return base_name(word).substr(0, 6) == "python" || base_name(word).substr(0, 4) == "pypy"; }

bool is_shell(std::string_view word) {
    const std::string_view name = base_name(word);
    return name == "bash" || name == "sh" || name == "zsh" || name == "dash";
}

struct Entry {
    EngineKind engine;
    std::size_t arguments;  // index of the first word after the entry
};

/// The engine's entry that ends at or begins with word `i`.
std::optional<Entry> entry_at(const std::vector<std::string>& words, std::size_t i) {
    const std::string_view word = words[i];
    const std::string_view next = i + 1 < words.size() ? std::string_view(words[i + 1]) : std::string_view{};
    const std::string_view name = base_name(word);
    if (word == "-m") {
        if (next == "sglang.launch_server" || next == "sglang_router.launch_server") return Entry{EngineKind::sglang, i + 2};
        if (next == "vllm.entrypoints.openai.api_server" || next == "vllm.entrypoints.api_server") return Entry{EngineKind::vllm, i + 2};
        const std::string_view third = i + 2 < words.size() ? std::string_view(words[i + 2]) : std::string_view{};
        if (third != "serve") return std::nullopt;
        if (next == "vllm" || next == "vllm.entrypoints.cli.main") return Entry{EngineKind::vllm, i + 3};
        if (next == "sglang" || next == "sglang.cli.main") return Entry{EngineKind::sglang, i + 3};
        return std::nullopt;
    }
    if (name == "sglang" && next == "serve") return Entry{EngineKind::sglang, i + 2};
    if (name == "vllm" && next == "serve") return Entry{EngineKind::vllm, i + 2};
    if (word == "sglang.launch_server" || (name == "launch_server.py" && word.find("sglang") != std::string_view::npos)) return Entry{EngineKind::sglang, i + 1};
    if (name == "api_server.py" && word.find("vllm") != std::string_view::npos) return Entry{EngineKind::vllm, i + 1};
    return std::nullopt;
}

bool is_assignment(std::string_view word) {
    const std::size_t equals = word.find('=');
    if (equals == 0 || equals == std::string_view::npos) return false;
    const auto name = word.substr(0, equals);
    return std::all_of(name.begin(), name.end(), [](char c) { return is_alnum(c) || c == '_'; });
}

ParsedLaunch started(const Words& outer, EngineKind engine, std::size_t first_argument) {
    ParsedLaunch launch;
    launch.engine = engine;
    launch.source = outer.source;
    launch.environment = outer.environment;
    launch.limits = outer.limits;
    const auto split = outer.words.begin() + static_cast<std::ptrdiff_t>(std::min(first_argument, outer.words.size()));
    launch.prefix.assign(outer.words.begin(), split);
    launch.arguments.assign(split, outer.words.end());
    // A literal `env A=b` or leading A=b among the wrappers.
    for (const std::string& word : launch.prefix) {
        const std::size_t equals = word.find('=');
        if (is_assignment(word)) launch.environment[word.substr(0, equals)] = word.substr(equals + 1);
    }
    const auto visible = launch.environment.find("CUDA_VISIBLE_DEVICES");
    if (visible != launch.environment.end() && !visible->second.empty() && visible->second.find_first_of("$`") == std::string::npos) {
        const std::int64_t devices = 1 + std::count(visible->second.begin(), visible->second.end(), ',');
        launch.limits.gpus = std::min(launch.limits.gpus.value_or(devices), devices);
    }
    if (const auto image = engine_of_image(outer.image); image && image->engine == engine) launch.engine_version = image->version;
    return launch;
}

/// The script of `bash -c SCRIPT` or `sh -lc SCRIPT`: the index of SCRIPT, or nothing.
std::optional<std::size_t> script_word(const std::vector<std::string>& words, std::size_t i) {
    if (!is_shell(words[i])) return std::nullopt;
    for (std::size_t j = i + 1; j + 1 < words.size() && !words[j].empty() && words[j][0] == '-'; ++j) {
        const std::string& option = words[j];
        if (option.size() > 1 && option[1] != '-' && option.find('c') != std::string::npos) return j + 1;
        if (option == "-o" || option == "-O") ++j;
    }
    return std::nullopt;
}

std::vector<ParsedLaunch> in_script(const Words& outer, std::size_t script, Diagnostics& diagnostics, int depth) {
    std::vector<ParsedLaunch> all;
    for (ShellCommand& command : read_shell(outer.words[script], outer.source, outer.environment, diagnostics)) {
        Words inner{std::move(command.words), std::move(command.environment), outer.image, outer.limits, outer.source};
        for (ParsedLaunch& launch : find_launches(inner, diagnostics, depth + 1)) {
            launch.unresolved.insert(launch.unresolved.end(), command.unresolved.begin(), command.unresolved.end());
            all.push_back(std::move(launch));
        }
    }
    return all;
}

/// The index after `run` of a container command, or nothing.
std::optional<std::size_t> container_run(const std::vector<std::string>& words, std::size_t i) {
    const std::string_view name = base_name(words[i]);
    if (name != "docker" && name != "podman" && name != "nerdctl") return std::nullopt;
    for (std::size_t j = i + 1; j < words.size() && j < i + 6; ++j) {
        if (words[j] == "run") return j + 1;
        if (words[j] == "compose" || words[j] == "exec") return std::nullopt;
    }
    return std::nullopt;
}

std::vector<ParsedLaunch> in_container(const Words& outer, std::size_t at, Diagnostics& diagnostics, int depth) {
    Words inner = read_docker_run(outer, at);
    const std::size_t own = outer.words.size() - std::min(outer.words.size(), inner.words.size());
    std::vector<ParsedLaunch> found = find_launches(inner, diagnostics, depth + 1);
    // The command is told as it was given, container options included.
    for (ParsedLaunch& launch : found) {
        const std::size_t kept = launch.prefix.size() + launch.arguments.size();
        if (kept != inner.words.size()) continue;  // inside a quoted script
        launch.prefix.insert(launch.prefix.begin(), outer.words.begin(), outer.words.begin() + static_cast<std::ptrdiff_t>(own));
    }
    return found;
}

}  // namespace

std::vector<ParsedLaunch> find_launches(const Words& words, Diagnostics& diagnostics, int depth) {
    if (depth > kMostShells) return {};
    for (std::size_t i = 0; i < words.words.size(); ++i) {
        if (const auto run = container_run(words.words, i)) return in_container(words, *run, diagnostics, depth);
        if (const auto script = script_word(words.words, i)) return in_script(words, *script, diagnostics, depth);
        if (const auto entry = entry_at(words.words, i)) {
            ParsedLaunch launch = started(words, entry->engine, entry->arguments);
            read_flags(launch);
            return {std::move(launch)};
        }
    }
    // An image whose entry point is the server takes the engine's arguments directly.
    const auto image = engine_of_image(words.image);
    const bool flags = !words.words.empty() && words.words.front().substr(0, 1) == "-";
    if (!image || words.words.empty() || (!flags && !image->serves)) return {};
    if (!flags && (is_python(words.words.front()) || is_shell(words.words.front()))) return {};
    ParsedLaunch launch = started(words, image->engine, 0);
    read_flags(launch);
    return {std::move(launch)};
}

}  // namespace kvplan::launch
