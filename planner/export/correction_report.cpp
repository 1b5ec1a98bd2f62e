#include "planner/export/correction_report.hpp"

#include "planner/engine_flags.hpp"

namespace kvplan::exporting {

std::string flag_of(const launch::Correction& correction, EngineKind engine) {
    const std::string& name = correction.change.field;
    if (const std::string_view variable = engine_variable(name, engine); !variable.empty()) return std::string(variable);
    const FieldSpec* field = find_field(name);
    const std::string_view flag = field == nullptr ? std::string_view{} : engine_flag(*field, engine);
    return flag.empty() ? name : std::string(flag);
}

ReportSection correction_section(const launch::Corrected& corrected, const std::string& command) {
    ReportSection section{"Corrected command", {}, {}, {command}};
    for (const launch::Correction& c : corrected.corrections) {
        std::string what = flag_of(c, corrected.scenario.engine.kind);
        if (c.change.value == "false") what += " taken away";
        else what += c.from.empty() || c.from == "false" ? " added" + (c.change.value == "true" ? std::string() : ": " + c.change.value) : " " + c.from + " -> " + c.change.value;
        section.sentences.push_back(what + ". " + c.why);
    }
    if (!corrected.sound) section.sentences.push_back("These changes help, but do not suffice.");
    return section;
}

}  // namespace kvplan::exporting
