#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/log/python_values.hpp"
#include "planner/scenario.hpp"
#include "units/diagnostic.hpp"

namespace kvplan::logs {

/// What a server said of its own settings.
struct LoggedConfiguration {
    std::optional<EngineKind> engine;
    std::string version;                     // "0.19.0"; empty: not printed
    std::vector<PythonMember> members;       // every setting by its own name, unset ones apart
    bool cut = false;                        // the line ended within it

    [[nodiscard]] const PythonValue* find(std::string_view key) const;
    [[nodiscard]] bool empty() const { return members.empty(); }
};

/// Reads `server_args=ServerArgs(…)` (from the phrase on).
void read_server_args(std::string_view text, LoggedConfiguration& configuration);
/// Reads `Initializing a V1 LLM engine (v0.19.0) with config: …`.
void read_vllm_config(std::string_view text, LoggedConfiguration& configuration);
/// Reads `non-default args: {…}`; what stands there wins over the config line.
void read_vllm_arguments(std::string_view text, LoggedConfiguration& configuration);

/// Sets the scenario's fields from a configuration, origin "log". SGLang prints its settings after it has adjusted some
/// (chunked_prefill_size divided by dp, schedule_conservativeness times 0.3 under DP attention): these are turned back to the
/// flags. Values that cannot be read are told (log.value, warning). Settings without a field are returned by name.
[[nodiscard]] std::vector<std::string> apply(const LoggedConfiguration& configuration, Scenario& scenario, Diagnostics& diagnostics);

}  // namespace kvplan::logs
