#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "planner/scenario.hpp"
#include "units/parse.hpp"

namespace kvplan {

/// One table of everything a scenario can say. The command line, scenario files, launch commands, sweeps and the
/// window all read and write scenarios through it, so a field has one name, one parser and one help text.

enum class FieldGroup { model, hardware, host, engine, workload };
enum class FieldKind { text, integer, real, boolean, size, engine_size };
enum class FieldEngines { any, sglang, vllm };

/// A field's value as data: monostate means unset.
using FieldValue = std::variant<std::monostate, bool, std::int64_t, double, std::string, Bytes>;

struct FieldSpec {
    std::string_view name;                   // snake_case, as in scenario files
    std::vector<std::string_view> flags;     // "--tp-size", "--tp"
    FieldGroup group = FieldGroup::engine;
    FieldKind kind = FieldKind::text;
    FieldEngines engines = FieldEngines::any;
    std::string_view value_name;             // "N", "SIZE", "GB", empty for a switch
    std::string_view help;
    /// Reads `text` into the field; on failure says what was expected. A boolean takes "true"/"false"/"" (= true).
    std::function<std::optional<ParseFailure>(Scenario&, std::string_view text)> set;
    std::function<FieldValue(const Scenario&)> get;
};

[[nodiscard]] const std::vector<FieldSpec>& scenario_fields();

/// By field name (`tp_size`) or any of its flags, with or without dashes; null when there is none.
[[nodiscard]] const FieldSpec* find_field(std::string_view name_or_flag);

/// Names of all fields, for "did you mean".
[[nodiscard]] const std::vector<std::string_view>& field_names();

/// Where a plan's JSON says a value comes from that the engine fills in; reading it back leaves such a field unset.
inline constexpr std::string_view kFromEngine = "engine default";

/// Sets a field and notes where the value came from. On failure the scenario is as before.
[[nodiscard]] std::optional<ParseFailure> set_field(Scenario& scenario, const FieldSpec& field, std::string_view text,
                                                    std::string_view origin);

/// The value as a person would type it: "449GB", "0.85", "true"; empty when unset.
[[nodiscard]] std::string text_of(const FieldValue& value);

}  // namespace kvplan
