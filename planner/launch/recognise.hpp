#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "planner/launch/launch.hpp"

namespace kvplan::launch {

/// Words of one command and what is known around it.
struct Words {
    std::vector<std::string> words;
    std::map<std::string, std::string> environment;
    std::string image;        // of the container the words run in; empty: none
    LaunchLimits limits;
    std::string source;
};

/// The engine launch in these words: behind wrappers (env, numactl, nohup …), in `bash -c "…"`, in `docker run IMAGE …`,
/// or as an image's own arguments. Several when a quoted script holds several. Flags are not read yet.
[[nodiscard]] std::vector<ParsedLaunch> find_launches(const Words& words, Diagnostics& diagnostics, int depth = 0);

/// An image's engine and version by its name: `lmsysorg/sglang:v0.5.6-cu126`, `vllm/vllm-openai:v0.11.0`.
struct ImageEngine {
    EngineKind engine = EngineKind::sglang;
    std::string version;      // empty: "latest" or none
    bool serves = false;      // its entry point is the server: arguments follow directly
};
[[nodiscard]] std::optional<ImageEngine> engine_of_image(std::string_view image);

/// `docker run` taken apart: what its options say, and the words of the container. `at` is the word after `run`.
[[nodiscard]] Words read_docker_run(const Words& outer, std::size_t at);

/// Reads the engine's arguments into flags, unknown flags and the model.
void read_flags(ParsedLaunch& launch);

}  // namespace kvplan::launch
