// Measured deployments: facts of public start-up logs, and what the planner says of them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "planner/plan.hpp"

namespace kvplan::accuracy {

/// What the planner is told.
///   pool     the KV memory, in bytes: does a token take what the planner says?
///   given    free memory and weights as logged (vLLM: its available KV memory)
///   weights  model, GPU and flags; compared are the weights
///   blind    model, GPU and flags; compared are tokens, or the KV memory where tokens were not printed
enum class Mode { pool, given, weights, blind };
[[nodiscard]] std::string_view name_of(Mode mode);
inline constexpr Mode kModes[] = {Mode::pool, Mode::given, Mode::weights, Mode::blind};

struct Deployment {
    std::string id, site, engine, model, quantization, gpu, attention, source, remark;
    std::map<std::string, std::string> flags;      // scenario fields
    std::map<std::string, double> given, observed; // GiB and counts, as printed
    std::optional<bool> started;                   // false: the start failed for memory
    std::string kv_counts = "target";              // which cells the printed KV size holds: target, full, budget, budget_less_state
    std::vector<Mode> modes;
    std::map<Mode, std::string> left_out;          // why a mode cannot be used
    std::map<Mode, std::string> explained;         // why a row is off by more than 3 %
    bool engine_assumed = false, gpu_assumed = false;
    bool fitted = false;                           // constants of a model were fitted to this row

    [[nodiscard]] bool vllm() const { return engine.rfind("vllm", 0) == 0; }
    [[nodiscard]] bool has(Mode mode) const;
    /// Rows of one deployment have one vote: same site, engine, model, format, GPU and parallelism.
    [[nodiscard]] std::string vote() const;
};

/// tests/accuracy/data/deployments.json. Throws std::runtime_error when the file is faulty.
[[nodiscard]] std::vector<Deployment> measured_deployments();

struct Comparison {
    const Deployment* row = nullptr;
    Mode mode = Mode::pool;
    bool tokens = true;                  // else GiB
    double predicted = 0, observed = 0;
    double low = 0, high = 0;            // the stated interval
    bool interval = false;               // the planner states one
    bool small_pool = false;             // under a quarter of the budget
    double memory_off_gib = 0;           // predicted less observed KV memory
    Basis basis = Basis::exact;

    [[nodiscard]] double error() const { return observed != 0 ? predicted / observed - 1 : 0; }
    [[nodiscard]] bool contains() const { return low <= observed && observed <= high; }
};

/// The planner's answer in that mode.
[[nodiscard]] Comparison compare(const Deployment& row, Mode mode);

/// The plan in that mode (blind for `pool`), for questions that are not in a Comparison. Throws with the diagnostics when
/// the scenario cannot be planned.
[[nodiscard]] Plan plan_of(const Deployment& row, Mode mode);
[[nodiscard]] Scenario scenario_of(const Deployment& row, Mode mode);

}  // namespace kvplan::accuracy
