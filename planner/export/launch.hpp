#pragma once

#include <string>
#include <utility>
#include <vector>

#include "planner/plan.hpp"
#include "planner/scenario.hpp"

namespace kvplan::exporting {

/// A launch as words, not yet quoted for a shell or a manifest.
struct LaunchWords {
    std::vector<std::pair<std::string, std::string>> environment;  // variables that the engine reads
    std::vector<std::string> entry;       // "python3 -m sglang.launch_server", "vllm serve"
    std::vector<std::string> arguments;   // the engine's own, the model first
    std::vector<std::string> notes;       // what the words cannot say
};

/// What of a scenario is said to the engine: every field that was given and that a flag, a variable or a member of a JSON
/// flag sets. Without an address, a rank of the node and a port: these are the place's own.
[[nodiscard]] LaunchWords launch_words(const Scenario& scenario);

struct LaunchChange {
    std::string flag;
    std::string from;  // empty: was not there
    std::string to;    // empty: taken away
    std::string why;
};

/// The launch command that a plan stands for, and what was changed against the one that was given.
struct LaunchText {
    std::string command;
    std::vector<LaunchChange> changed;
    std::vector<std::string> notes;
};
[[nodiscard]] LaunchText launch_text(const Scenario& scenario, const Plan& plan);

}  // namespace kvplan::exporting
