#pragma once

#include <string>
#include <string_view>

#include "planner/fields/fields.hpp"

namespace kvplan {

/// The flag under which an engine takes a scenario's field ("tp_size": SGLang "--tp-size", vLLM "--tensor-parallel-size");
/// empty when it takes it by no flag of its own (a variable, a member of a JSON flag, or not at all).
[[nodiscard]] std::string_view engine_flag(const FieldSpec& field, EngineKind engine);

/// A field's value as it stands on the engine's command line: "--tp-size 16", "--disable-cuda-graph"; a variable as
/// "NAME=VALUE"; what the engine has no word for as "field=value".
[[nodiscard]] std::string setting_text(EngineKind engine, std::string_view field, std::string_view value);

/// What the other engine calls the nearest thing to a field that one engine alone has.
struct Counterpart {
    std::string_view field, flag;
    std::string_view differs;  ///< how its value is meant; empty when nothing is to be said
    bool same_value;           ///< a value of the one can stand for the other
};
/// Null when the other engine has nothing like it.
[[nodiscard]] const Counterpart* find_counterpart(std::string_view field);

/// The environment variable that sets a field; empty when none does.
[[nodiscard]] std::string_view engine_variable(std::string_view field, EngineKind engine);

}  // namespace kvplan
