#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/log/gaps.hpp"
#include "planner/log/observed.hpp"
#include "planner/log/outcome.hpp"
#include "planner/log/record.hpp"
#include "planner/resolve.hpp"

namespace kvplan::logs {

/// A changed launch that was planned again and fits.
struct CheckedCommand {
    std::string command;
    struct Change {
        std::string field, from, to;
    };
    std::vector<Change> changes;
};

/// What no server of this kind exceeds with as many requests as were seen at once, of the mean length that was seen.
struct ServedCeiling {
    double running = 0.0;                       // of the whole deployment
    double context_tokens = 0.0;                // mean of the requests that ran
    double decode_tokens_per_second = 0.0;
};

/// One start, read, judged and compared with its plan.
struct StartAnalysis {
    Observed seen;
    Outcome outcome;
    std::optional<Scenario> scenario;           // resolved; unset: the model or GPU is not known, see `not_planned`
    std::string not_planned;
    bool gpu_is_guessed = false;                // by the memory that was free
    std::vector<std::string> settings_without_field;
    std::optional<Comparison> comparison;
    std::optional<ServedCeiling> ceiling;       // unset: no serving lines, or nothing planned
    std::optional<CheckedCommand> remedy;       // of a failed start
};

/// Sets over the log's own settings what the user gave by flags; false when that was faulty.
using Overrides = std::function<bool(Scenario&, Diagnostics&)>;

/// Faults of names that cannot be resolved become `not_planned`, not errors: a log is worth reading without its model.
[[nodiscard]] StartAnalysis analyse(const StartRecord& start, const Overrides& overrides, const CatalogueOptions& catalogues, Diagnostics& diagnostics);

}  // namespace kvplan::logs
