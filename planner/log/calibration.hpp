#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "planner/log/observed.hpp"
#include "planner/scenario.hpp"
#include "units/diagnostic.hpp"

namespace kvplan::logs {

/// What one start of a deployment measured, to plan other settings of the same deployment.
struct Calibration {
    std::string model, gpu, engine, version;             // as the scenario named them
    std::int64_t tp = 1, pp = 1, dp = 1, ep = 1;
    bool dp_attention = false;
    std::string draft_model, quantization;
    Estimate<Bytes> free_before_load;                    // within the log's rounding
    Estimate<Bytes> weights;                             // SGLang: free before - free after, least over the ranks
    CalibratedRules rules;
    std::int64_t max_total_num_tokens = 0;               // of the start it was made from
    std::optional<double> fraction;                      // with this fraction
    std::string source;                                  // the log's name and the start's number
};

/// Why a start cannot calibrate, as a Diagnostic's message.
struct NoCalibration {
    std::string why;
};

/// The corrections under which plan() gives what the log shows. `scenario` is resolved, with the log's settings, and must not
/// be calibrated already. The pools' budget is moved by the least that makes the token count come out; the cell is corrected
/// only when pool size and tokens say so beyond their rounding and the token count does not come out without.
[[nodiscard]] std::variant<Calibration, NoCalibration> calibrate(const Scenario& scenario, const Observed& seen, std::string source);

[[nodiscard]] std::string calibration_json(const Calibration& calibration);
/// Codes: calibration.version, and those of json::Reader.
[[nodiscard]] std::optional<Calibration> read_calibration(std::string text, const std::string& name, Diagnostics& diagnostics);

/// Sets measured memory, weights and corrections where nothing was given by hand. Another model, GPU count or engine is an
/// error (calibration.other-deployment); another version or drafter a warning.
void apply(const Calibration& calibration, Scenario& scenario, Diagnostics& diagnostics);

/// Those members that are unset in the scenario (model, GPU, engine and parallel sizes), so that a calibration file alone names a
/// deployment. To be called before names are resolved.
void fill_in(const Calibration& calibration, Scenario& scenario);

}  // namespace kvplan::logs
