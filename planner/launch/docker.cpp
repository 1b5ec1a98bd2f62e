#include <algorithm>
#include <string_view>

#include "planner/launch/quantities.hpp"
#include "planner/launch/recognise.hpp"
#include "planner/launch/shell.hpp"
#include "units/parse.hpp"

namespace kvplan::launch {
namespace {

// `docker run` has far more options with a value than switches; these are the switches.
constexpr std::string_view kSwitches[] = {"-d", "--detach", "-i", "--interactive", "-t", "--tty", "-P", "--publish-all", "-q", "--quiet", "--rm",
                                          "--privileged", "--init", "--read-only", "--no-healthcheck", "--oom-kill-disable", "--sig-proxy",
                                          "--disable-content-trust", "--help", "--use-api-socket", "--replace", "--rmi", "--tls-verify"};

bool is_switch(std::string_view option) {
    if (std::find(std::begin(kSwitches), std::end(kSwitches), option) != std::end(kSwitches)) return true;
    // "-it", "-dit": several short switches
    return option.size() > 2 && option[0] == '-' && option[1] != '-' && option.find_first_not_of("ditPq", 1) == std::string_view::npos;
}

void set_environment(std::string_view pair, Words& inner) {
    const std::size_t equals = pair.find('=');
    const std::string name(pair.substr(0, equals));
    if (equals != std::string_view::npos) inner.environment[name] = std::string(pair.substr(equals + 1));
}

/// "device=0,1", "\"device=0,1\"", "4", "all".
std::optional<std::int64_t> gpu_count(std::string_view text) {
    const std::size_t device = text.find("device=");
    if (device == std::string_view::npos) {
        const Parsed<std::int64_t> count = parse_integer(text);
        return parse_ok(count) ? std::optional<std::int64_t>(std::get<std::int64_t>(count)) : std::nullopt;
    }
    return 1 + std::count(text.begin() + static_cast<std::ptrdiff_t>(device), text.end(), ',');
}

void read_option(std::string_view option, std::string_view value, Words& inner, std::string& entrypoint) {
    LaunchLimits& limits = inner.limits;
    if (option == "-e" || option == "--env") set_environment(value, inner);
    if (option == "-m" || option == "--memory") limits.memory = docker_bytes(value);
    if (option == "--shm-size") limits.shm = docker_bytes(value);
    if (option == "--ipc" && value == "host") limits.shm.reset();
    if (option == "--gpus") limits.gpus = gpu_count(value);
    if (option == "--entrypoint") entrypoint = std::string(value);
    if (option == "--ulimit" && value.substr(0, 8) == "memlock=") {
        const std::string_view soft = value.substr(8, value.find(':') == std::string_view::npos ? std::string_view::npos : value.find(':') - 8);
        limits.memlock = soft == "-1" ? std::nullopt : docker_bytes(soft);
    }
}

}  // namespace

std::optional<ImageEngine> engine_of_image(std::string_view image) {
    const std::size_t slash = image.rfind('/');
    const std::size_t colon = image.find(':', slash == std::string_view::npos ? 0 : slash);
    const std::string_view name = image.substr(0, colon);
    ImageEngine result;
    if (name.find("sglang") != std::string_view::npos) result.engine = EngineKind::sglang;
    else if (name.find("vllm") != std::string_view::npos) result.engine = EngineKind::vllm;
    else return std::nullopt;
    result.serves = name.find("vllm-openai") != std::string_view::npos;
    if (colon == std::string_view::npos) return result;
    std::string_view tag = image.substr(colon + 1);
    if (!tag.empty() && tag[0] == 'v') tag.remove_prefix(1);
    std::size_t end = 0;
    int dots = 0;
    while (end < tag.size() && ((tag[end] >= '0' && tag[end] <= '9') || tag[end] == '.')) dots += tag[end++] == '.' ? 1 : 0;
    for (const std::string_view suffix : {".post", "post", "rc"}) {  // 0.5.6.post2, 0.5.6rc1
        const bool after_dot = end > 0 && tag[end - 1] == '.' && suffix == "post";
        if (tag.substr(end, suffix.size()) != suffix || (suffix == "post" && !after_dot)) continue;
        end += suffix.size();
        while (end < tag.size() && tag[end] >= '0' && tag[end] <= '9') ++end;
    }
    if (dots >= 2) result.version = std::string(tag.substr(0, end));
    return result;
}

Words read_docker_run(const Words& outer, std::size_t at) {
    Words inner;
    inner.source = outer.source;
    inner.limits.shm = mebibytes(64);  // Docker's default
    std::string entrypoint;
    const std::vector<std::string>& words = outer.words;
    for (; at < words.size(); ++at) {
        const std::string_view word = words[at];
        if (word.empty() || word[0] != '-') break;
        const std::size_t equals = word.find('=');
        const std::string_view option = word.substr(0, equals);
        if (equals != std::string_view::npos && word.substr(0, 2) == "--") {
            read_option(option, word.substr(equals + 1), inner, entrypoint);
        } else if (!is_switch(word) && at + 1 < words.size()) {
            read_option(word, words[++at], inner, entrypoint);
        }
    }
    if (at < words.size()) inner.image = words[at++];
    if (!entrypoint.empty()) {
        Diagnostics ignored;
        for (ShellCommand& command : read_shell(entrypoint, "", {}, ignored))
            for (std::string& word : command.words) inner.words.push_back(std::move(word));
    }
    inner.words.insert(inner.words.end(), words.begin() + static_cast<std::ptrdiff_t>(std::min(at, words.size())), words.end());
    return inner;
}

}  // namespace kvplan::launch
