#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/scenario.hpp"
#include "planner/fields/fields.hpp"
#include "units/bytes.hpp"
#include "units/diagnostic.hpp"

namespace kvplan::launch {

/// One flag of the engine as it was typed.
struct LaunchFlag {
    std::string name;                  // "--tp-size", as typed, without "=value"
    std::string value;                 // several values are joined with spaces; empty for a switch
    bool has_value = false;
    const FieldSpec* field = nullptr;  // what it sets in a scenario; null: no effect on memory, or unknown
    std::size_t first = 0, count = 0;  // its words in ParsedLaunch::arguments
};

/// A flag that the engine does not have at any version that is known here.
struct UnknownFlag {
    std::string name;
    std::string value;
    std::vector<std::string> nearest;  // best first
    std::string differs;               // how the nearest one takes its value; not empty: this value cannot stand there
};

/// What surrounds the engine: the container's, pod's or service's own settings.
struct LaunchLimits {
    std::optional<Bytes> memory;                  // cgroup limit
    std::optional<Bytes> shm;                     // size of /dev/shm
    std::optional<Bytes> memlock;                 // unset: not given, or unlimited
    std::optional<std::string> gpu_name;          // from a node selector
    std::optional<std::int64_t> gpus;             // given to the container
    std::optional<double> startup_seconds;        // until a probe ends the start
};

/// A launch command, taken apart. Nothing of it was executed.
struct ParsedLaunch {
    EngineKind engine = EngineKind::sglang;
    std::string engine_version;                   // from an image's tag or a pip install; empty: not said
    std::string source;                           // "command line", "serve.sh:12", "deployment.yaml: container sglang"
    std::vector<std::string> prefix;              // words before the engine's own arguments, as given
    std::vector<std::string> arguments;           // the engine's own words
    std::string model;                            // positional or by flag; empty: none
    std::vector<LaunchFlag> flags;
    std::vector<UnknownFlag> unknown;
    std::map<std::string, std::string> environment;
    LaunchLimits limits;
    std::vector<std::string> unresolved;          // variables without a value: "$MODEL"
    std::int64_t repeats = 1;                     // servers that a loop starts side by side with this command; 0: several
};

inline constexpr std::size_t kMostTextBytes = std::size_t{4} << 20;

/// A command that a shell has split already (`kvplan check -- …`). One word with blanks in it is read as a shell would.
/// None when no engine is launched: `diagnostics` then says what was looked for (launch.none).
[[nodiscard]] std::vector<ParsedLaunch> parse_words(std::span<const std::string> words, Diagnostics& diagnostics);

/// The launches of a shell script, in order. Variables, arrays and `${VAR:-default}` are expanded from the same text;
/// `$(…)` is not run. Codes: launch.too-large, launch.quote, launch.broken-continuation (warning), launch.none.
[[nodiscard]] std::vector<ParsedLaunch> parse_script(std::string_view text, const std::string& name, Diagnostics& diagnostics);

/// The launches of Compose or Kubernetes documents, or of a bare list of arguments. Aliases and depth are bounded.
/// Codes: launch.yaml, launch.too-large, launch.too-deep, launch.none.
[[nodiscard]] std::vector<ParsedLaunch> parse_manifest(std::string_view text, const std::string& name, Diagnostics& diagnostics);

/// parse_manifest or parse_script, by the name's ending, else by the text.
[[nodiscard]] std::vector<ParsedLaunch> parse_file(std::string_view text, const std::string& name, Diagnostics& diagnostics);

/// Sets the scenario's fields from a launch, origin "launch command" (limits: "manifest"). What it cannot use is told.
/// Codes: launch.unknown-flag (warning), launch.flag-version (warning), launch.value (error), launch.unresolved (warning),
/// launch.gpu-count (warning), launch.config (warning).
void apply(const ParsedLaunch& launch, Scenario& scenario, Diagnostics& diagnostics);

/// One change of a launch command: a flag given another value, added (`from` empty) or taken away (`to` empty).
struct FlagChange {
    std::string field;                            // scenario field
    std::string value;                            // "39"; "false" takes a switch away
};

/// The command as the engine would take it: misspelt flags by their nearest name, flags that exist no more, or whose
/// value the nearest one would take otherwise, left out.
[[nodiscard]] ParsedLaunch accepted(const ParsedLaunch& launch, const Scenario& scenario);

/// The command with these fields changed and everything else as it was given, unknown flags too; shell-quoted.
[[nodiscard]] std::string rewritten(const ParsedLaunch& launch, std::span<const FlagChange> changes);

}  // namespace kvplan::launch
