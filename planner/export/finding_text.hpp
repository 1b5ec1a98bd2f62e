#pragma once

#include <string>
#include <vector>

#include "planner/plan.hpp"

namespace kvplan::exporting {

/// A finding as sentences: what is the matter with its numbers, and what to do.
struct FindingText {
    std::string message;
    std::string remedy;  // empty when nothing needs doing
};
[[nodiscard]] FindingText text_of(const Finding& finding);

/// One value as text: bytes in GiB and GB, tokens with separators, …
[[nodiscard]] std::string text_of(const FindingValue& value);

/// The sentences of one code. docs/findings.md and `kvplan explain CODE` are made from these.
struct FindingTemplate {
    std::string_view code;
    std::string_view meaning;  // one sentence for the documentation
    std::string_view message;  // with {name} where a value goes
    std::string_view remedy;   // with {name} where a value goes
};

/// All codes that have sentences, by area: the GPU's and the engine's, the host's, the workload's.
[[nodiscard]] const std::vector<FindingTemplate>& finding_templates();

/// The tables finding_templates() is made of, one file an area.
[[nodiscard]] std::vector<FindingTemplate> gpu_finding_templates();
[[nodiscard]] std::vector<FindingTemplate> vllm_finding_templates();
[[nodiscard]] std::vector<FindingTemplate> host_finding_templates();
[[nodiscard]] std::vector<FindingTemplate> workload_finding_templates();
[[nodiscard]] std::vector<FindingTemplate> doctor_finding_templates();

}  // namespace kvplan::exporting
