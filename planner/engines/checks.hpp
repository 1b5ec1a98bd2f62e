#pragma once

#include <string>

#include "planner/engines/version_text.hpp"
#include "units/diagnostic.hpp"

namespace kvplan {

// What every engine refuses in the same way.

void fault(Diagnostics& out, Severity severity, std::string code, std::string flag, std::string message, std::string found, std::string expected,
           std::string hint);

/// A version that is unreadable is an error; one outside or between what was read is told. `engine`: "SGLang".
void check_version(const Version& version, const std::string& engine, const std::string& asked, Diagnostics& out);

/// Query and KV heads of every kind of layer must fit the `ranks` that split attention.
void check_heads(const Scenario& scenario, std::int64_t ranks, Diagnostics& out);

/// Pipeline stages and their layer counts must fit the model.
void check_stages(const Scenario& scenario, Diagnostics& out);

}  // namespace kvplan
