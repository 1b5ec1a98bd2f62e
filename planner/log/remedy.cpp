#include "planner/log/remedy.hpp"

#include <algorithm>
#include <cmath>

#include "planner/engine_flags.hpp"
#include "planner/export/launch.hpp"
#include "planner/findings.hpp"
#include "planner/launch/correct.hpp"
#include "planner/plan.hpp"
#include "planner/fields/fields.hpp"

namespace kvplan::logs {

namespace {

double d(Bytes bytes) { return static_cast<double>(bytes.count()); }

const FindingValue* value_of(const std::vector<FindingValue>& values, std::string_view name) {
    for (const FindingValue& value : values)
        if (value.name == name) return &value;
    return nullptr;
}

/// What the plan leaves for KV on a rank; of a plan that fails for it, as its finding says.
Bytes available_for_kv(const Plan& plan) {
    for (const Finding& finding : plan.findings)
        if (finding.code == "vllm_request_does_not_fit" || finding.code == "vllm_no_memory_for_blocks")
            if (const FindingValue* available = value_of(finding.values, "available")) return nearest_bytes(available->number);
    return plan.gpu.kv_pool_bytes;
}

/// vLLM says what was left for KV even when it is too little: by how much the rules' figure has to be moved to be that. Read
/// at the largest fraction that is free, where it is positive: it grows by what the fraction asks for more.
std::optional<Bytes> vllm_shift(Scenario scenario, Bytes available) {
    scenario.calibration = CalibratedRules{};
    const Bytes asked = plan(scenario).gpu.budget_bytes;
    const Plan now = plan(scenario);
    const double most = std::floor(d(now.gpu.free_before_load_bytes.expected) / d(now.gpu.total_bytes) * 1000) / 1000;
    if (most <= 0 || most >= 1) return std::nullopt;
    scenario.engine.gpu_memory_utilization = TotalMemoryFraction{most};
    const Plan raised = plan(scenario);
    const Bytes planned = available_for_kv(raised);
    if (planned.count() <= 0) return std::nullopt;
    return available + (raised.gpu.budget_bytes - asked) - planned;
}

class Remedy {
public:
    explicit Remedy(const StartAnalysis& analysis) : analysis_(&analysis), scenario_(*analysis.scenario) { take_measured(); }

    std::optional<CheckedCommand> run() {
        const std::string& code = analysis_->outcome.code;
        if (code == "weights_do_not_fit") return with_more_ranks();
        if (code == "fraction_too_low" || code == "fraction_too_high" || code == "pool_out_of_memory" || code == "runtime_out_of_memory" || code == "free_memory_below_fraction") set_fraction(code);
        if (code == "context_does_not_fit")
            if (const FindingValue* longest = value("longest")) set("context_length", std::to_string(std::llround(longest->number)));
        if (code == "state_blocks_too_few")
            if (const FindingValue* blocks = value("blocks")) set("max_running_requests", std::to_string(std::llround(blocks->number)));
        return checked();
    }

private:
    [[nodiscard]] const FindingValue* value(std::string_view name) const { return value_of(analysis_->outcome.values, name); }
    [[nodiscard]] bool sglang() const { return scenario_.engine.kind == EngineKind::sglang; }

    void take_measured() {
        const Observed& seen = analysis_->seen;
        if (seen.free_before_load) scenario_.hardware.gpu_free = seen.free_before_load;
        if (analysis_->outcome.code == "free_memory_below_fraction")
            if (const FindingValue* free = value("free")) scenario_.hardware.gpu_free = nearest_bytes(free->number);
        if (sglang() && seen.free_before_load && seen.free_after_load) scenario_.weights_per_gpu = *seen.free_before_load - *seen.free_after_load;
        if (!sglang() && seen.weights) {
            scenario_.weights_per_gpu = seen.weights;
            if (seen.available_kv)
                if (const auto shift = vllm_shift(scenario_, *seen.available_kv)) {
                    scenario_.calibration = CalibratedRules{};
                    scenario_.calibration->budget_shift = *shift;
                }
        }
        take_host();
    }

    // The engine's check tells what it found free, less the 10 GiB that it keeps (newer versions; "usable" is told of older ones).
    void take_host() {
        const FindingValue* free = value("free");
        HostOptions& host = scenario_.hardware.host;
        if (analysis_->outcome.code != "host_check" || free == nullptr || host.available || host.ram) return;
        const Bytes reserve = value("usable") != nullptr ? Bytes{0} : gibibytes(10);
        host.available = nearest_bytes(free->number) + reserve;
        scenario_.origin["host_available"] = "log";
    }

    // From the plan with the measured memory: above the least, with room for graphs; after an out-of-memory error below what failed
    // by at least what was missing.
    void set_fraction(const std::string& code) {
        const Plan now = plan(scenario_);
        std::optional<double> wanted = now.gpu.mem_fraction.recommended;
        if (!wanted) return;
        if (code == "fraction_too_low") {
            if (const FindingValue* least = value("least_fraction")) wanted = std::max(*wanted, least->number + 0.005);
        } else if (code == "free_memory_below_fraction") {
            if (const FindingValue* most = value("largest_fraction")) wanted = std::min(*wanted, most->number);
        } else {
            const FindingValue *tried = value("tried"), *free = value("free");
            const double base = sglang() ? d(now.gpu.free_before_load_bytes.expected) : d(now.gpu.total_bytes);
            const double missing = (tried != nullptr ? tried->number : 0.0) - (free != nullptr ? free->number : 0.0) + static_cast<double>(kGiB);
            wanted = std::min(*wanted, now.gpu.mem_fraction.value - std::max(missing, static_cast<double>(kGiB)) / base);
        }
        wanted = std::floor(*wanted * 1000) / 1000;
        if (*wanted <= 0 || *wanted >= 1) return;
        set(sglang() ? "mem_fraction_static" : "gpu_memory_utilization", text_of(FieldValue{*wanted}));
    }

    // No fraction helps: the fewest ranks of one node that hold the weights. Measured weights were of other ranks.
    std::optional<CheckedCommand> with_more_ranks() {
        const Scenario before = scenario_;
        for (std::int64_t tp = 2 * before.engine.tp; tp <= parallelism(before).gpus_per_node; tp *= 2) {
            scenario_ = before;
            scenario_.weights_per_gpu.reset();
            scenario_.calibration.reset();
            command_.changes.clear();
            set("tp_size", std::to_string(tp));
            if (auto found = checked()) return found;
        }
        return std::nullopt;
    }

    void set(std::string_view name, const std::string& value) {
        const FieldSpec* field = find_field(name);
        if (field == nullptr) return;
        const std::string from = text_of(field->get(scenario_));
        if (from == value || set_field(scenario_, *field, value, "remedy")) return;
        note(flag_of(*field), from, value);
    }

    // A flag that is changed twice is one change; back to what it was, none.
    void note(const std::string& flag, const std::string& from, const std::string& to) {
        auto& changes = command_.changes;
        const auto before = std::find_if(changes.begin(), changes.end(), [&](const CheckedCommand::Change& c) { return c.field == flag; });
        if (before == changes.end()) changes.push_back({flag, from, to});
        else if (before->from == to) changes.erase(before);
        else before->to = to;
    }

    [[nodiscard]] std::string flag_of(const FieldSpec& field) const {
        const std::string_view flag = engine_flag(field, scenario_.engine.kind);
        return std::string(flag.empty() ? field.name : flag);
    }

    std::optional<CheckedCommand> checked() {
        Plan result = plan(scenario_);
        if (!is_sound(result)) {
            launch::Corrected corrected = launch::correct(scenario_, result);
            if (!corrected.sound) return std::nullopt;
            for (const launch::Correction& c : corrected.corrections) {
                const FieldSpec* field = find_field(c.change.field);
                note(field != nullptr ? flag_of(*field) : c.change.field, c.from, c.change.value);
            }
            scenario_ = std::move(corrected.scenario);
            result = std::move(corrected.plan);
        }
        if (command_.changes.empty()) return std::nullopt;
        command_.command = exporting::launch_text(scenario_, result).command;
        return command_;
    }

    const StartAnalysis* analysis_;
    Scenario scenario_;
    CheckedCommand command_;
};

}  // namespace

std::optional<CheckedCommand> remedy_for(const StartAnalysis& analysis) { return Remedy(analysis).run(); }

}  // namespace kvplan::logs
