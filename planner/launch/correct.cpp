#include "planner/launch/correct.hpp"

#include <algorithm>

#include "planner/export/finding_text.hpp"
#include "planner/findings.hpp"
#include "planner/fields/fields.hpp"
#include "units/format.hpp"

namespace kvplan::launch {
namespace {

constexpr int kMostRounds = 6;

class Corrector {
public:
    explicit Corrector(Corrected& result) : result_(&result) {}

    /// Applies one finding's remedy; false when it has none that can be applied, or it is applied already.
    bool take(const Finding& finding) {
        if (finding.remedy.empty()) return false;
        for (const Finding::Change& change : finding.remedy) {
            const FieldSpec* field = find_field(change.field);
            if (field == nullptr || field->group != FieldGroup::engine || field->name == "engine") return false;
        }
        const std::string why = exporting::text_of(finding).message;
        bool changed = false;
        for (const Finding::Change& change : finding.remedy) changed |= set(std::string(change.field), change.value, why);
        return changed;
    }

    bool set(const std::string& name, const std::string& value, const std::string& why) {
        const FieldSpec* field = find_field(name);
        const std::string from = text_of(field->get(result_->scenario));
        if (from == value) return false;
        if (set_field(result_->scenario, *field, value, "correction")) return false;
        auto& all = result_->corrections;
        const auto before = std::find_if(all.begin(), all.end(), [&](const Correction& c) { return c.change.field == name; });
        if (before != all.end()) before->change.value = value;
        else all.push_back({{name, value}, from, why});
        return true;
    }

private:
    Corrected* result_;
};

/// One step towards a sound plan; false when nothing is left to try.
bool improve(Corrected& result) {
    Corrector corrector(result);
    for (const FindingSeverity severity : {FindingSeverity::error, FindingSeverity::warning}) {
        for (const Finding& finding : result.plan.findings)
            if (finding.severity == severity && corrector.take(finding)) return true;
    }
    const std::optional<double>& recommended = result.plan.gpu.mem_fraction.recommended;
    if (result.plan.fits || !recommended) return false;
    const bool free_fraction = result.scenario.engine.mem_fraction_static.has_value() || result.scenario.engine.kind == EngineKind::sglang;
    return corrector.set(free_fraction ? "mem_fraction_static" : "gpu_memory_utilization", shortest(*recommended, 3),
                         "the memory of a GPU does not suffice at the fraction that was given");
}

}  // namespace

Corrected correct(const Scenario& scenario, const Plan& plan) {
    Corrected result{{}, scenario, plan, is_sound(plan)};
    for (int round = 0; round < kMostRounds && !result.sound; ++round) {
        if (!improve(result)) break;
        result.plan = kvplan::plan(result.scenario);
        result.sound = is_sound(result.plan);
    }
    return result;
}

}  // namespace kvplan::launch
