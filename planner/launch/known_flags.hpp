#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/scenario.hpp"

namespace kvplan::launch {

/// How many values a flag takes.
enum class Arity { none, one, many };

/// A flag of an engine that the scenario has no field for: it has no effect on memory that the planner knows.
struct KnownFlag {
    std::string_view name;  // "--trust-remote-code"
    Arity arity = Arity::none;
};
[[nodiscard]] const KnownFlag* known_flag(EngineKind engine, std::string_view name);

/// Flags that exist, or have an effect, only in some versions.
struct VersionedFlag {
    EngineKind engine = EngineKind::sglang;
    std::string_view name;
    RuleDate since;         // 0: always
    RuleDate until;         // exclusive; 0: still there
    std::string_view note;  // what to use instead, empty when nothing
};
[[nodiscard]] const VersionedFlag* versioned_flag(EngineKind engine, std::string_view name);

/// All names of an engine's flags, those of scenario fields included.
[[nodiscard]] const std::vector<std::string_view>& flag_names(EngineKind engine);

/// The flag that `typed` abbreviates (argparse takes a unique prefix); empty when none or several.
[[nodiscard]] std::string_view completed(EngineKind engine, std::string_view typed);

}  // namespace kvplan::launch
