#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/plan.hpp"

namespace kvplan {

/// How one field of a plan comes about. Formulas hold {dotted.names} of other plan fields or of `scenario.NAME`.
struct FieldRule {
    std::string_view field;          // "gpu.kv_pool_bytes"
    std::string_view meaning;
    std::string_view sglang, vllm;   // formulas; an empty `vllm` means the same as SGLang's
    std::string_view source;         // ids of engine rules ("sglang.budget vllm.blocks"), or a document of the project
};

/// The fields that have a rule, in the order of the JSON. docs/method.md is made of them.
[[nodiscard]] const std::vector<FieldRule>& field_rules();

/// A finding's code: what it means and what to do, with {values} that a plan fills in.
struct CodeRule {
    std::string_view code, meaning, message, remedy;
};
[[nodiscard]] std::vector<CodeRule> code_rules();

struct ExplainedInput {
    std::string name, value;
};

/// One answer. Without a plan there are no values.
struct Explanation {
    std::string name;
    std::string meaning;
    std::string formula;                  // with names
    std::string with_numbers;             // with the numbers put in; empty without a plan
    std::string value;                    // as the plan has it
    std::string basis;                    // exact, engine_rule, measured, assumed
    std::vector<std::string> sources;     // "sglang.budget (all), mem_cache/kv_cache_configurator.py: rest = …"
    std::vector<ExplainedInput> inputs;
};

/// The answer for a plan field or a finding code; nothing when there is none of that name. A field without a rule is
/// answered with its value alone when a plan is given. `scenario` and `plan` may both be null.
[[nodiscard]] std::optional<Explanation> explain(std::string_view name, const Scenario* scenario, const Plan* plan);

/// Names that can be asked for: fields and codes.
[[nodiscard]] std::vector<std::string> explainable_names();

}  // namespace kvplan
