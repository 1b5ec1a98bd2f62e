#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/log/observed.hpp"
#include "planner/log/record.hpp"
#include "planner/plan.hpp"

namespace kvplan::logs {

/// How a start ended.
struct Outcome {
    std::optional<bool> started;         // unset: the log does not reach far enough to tell
    std::string code;                    // of diagnoses(); empty for a start that went well
    std::vector<FindingValue> values;    // for the sentence of the diagnosis
    std::vector<std::string> evidence;   // lines of the log that it rests on, clipped
};

/// What the codes mean and what helps; docs/log.md is made from it. `{name}` stands for a value; a value that is not known
/// takes its sentence's clause in [[…]] with it.
struct DiagnosisText {
    std::string_view code;
    std::string_view meaning;
    std::string_view advice;
};
[[nodiscard]] const std::vector<DiagnosisText>& diagnoses();
[[nodiscard]] const DiagnosisText* diagnosis_text(std::string_view code);

/// The cause of a failed start from its faults, the phase they came in and the figures before them.
[[nodiscard]] Outcome judge(const StartRecord& start, const Observed& seen);

}  // namespace kvplan::logs
