#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "planner/export/report.hpp"
#include "planner/log/analysis.hpp"

namespace kvplan::exporting {

/// {engine, version, starts[], serving{}} as docs/log.md tells: observed and planned have the names of a plan; sizes are bytes.
[[nodiscard]] nlohmann::ordered_json log_json(const logs::LogRecord& log, const std::vector<logs::StartAnalysis>& starts);

/// The same for people.
[[nodiscard]] Report log_report(const logs::LogRecord& log, const std::vector<logs::StartAnalysis>& starts, bool verbose);

/// The sentence of a diagnosis with its values; clauses in [[ ]] whose values are not known are left out.
[[nodiscard]] std::string diagnosis_sentence(std::string_view pattern, const std::vector<FindingValue>& values);

/// What the serving lines of a start say, over all schedulers.
struct ServingSummary {
    std::int64_t schedulers = 0;
    std::optional<double> running_mean, running_max, queued_mean, queued_max, token_usage_mean, token_usage_max, swa_usage_max, state_usage_max;
    std::optional<double> hit_rate, external_hit_rate, output_tokens_per_second_mean, output_tokens_per_second_max, input_tokens_per_second_mean, accept_length;
    double retraction_events = 0, retracted_requests = 0, preemptions = 0, idle_usage = 0;
    bool empty = true;
};
[[nodiscard]] ServingSummary summarize(const logs::StartRecord& start);

}  // namespace kvplan::exporting
