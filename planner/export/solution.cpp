#include "planner/export/solution.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "planner/export/json.hpp"
#include "planner/export/plan_report.hpp"
#include "units/format.hpp"

namespace kvplan::exporting {

namespace {

using Json = nlohmann::ordered_json;

std::string amount(double value, std::string_view unit) {
    if (!std::isfinite(value)) return "unknown";
    if (unit == "bytes") return fixed(value / static_cast<double>(kGB), 2) + " GB";
    if (unit == "seconds") return duration(value);
    return fixed(value, unit == "requests" ? 1 : 0) + (unit.empty() ? "" : " " + std::string(unit));
}

/// Steps of the questions are whole numbers, hundredths (ratio) or thousandths (fraction).
std::string value_text(Question question, double value) {
    if (question == Question::mem_fraction) return fixed(value, 3);
    if (question == Question::max_hicache_ratio) return fixed(value, 2);
    return fixed(value, 0);
}

Json reasons_json(const std::vector<Unmet>& all) {
    Json list = Json::array();
    for (const Unmet& u : all)
        list.push_back({{"requirement", u.requirement}, {"wanted", u.wanted}, {"got", std::isfinite(u.got) ? Json(u.got) : Json(nullptr)}, {"unit", u.unit}, {"reason", sentence_of(u)}});
    return list;
}

std::string joined(const std::vector<Unmet>& all) {
    std::string text;
    for (const Unmet& u : all) text += (text.empty() ? "" : "; ") + sentence_of(u);
    return text;
}

Json number(double value) {
    if (value == std::floor(value) && std::abs(value) < 9e15) return static_cast<std::int64_t>(value);
    return std::round(value * 1e6) / 1e6;
}

}  // namespace

std::string sentence_of(const Unmet& u) {
    if (u.requirement == "fits") return u.got > 0 ? "it does not fit: " + amount(u.got, u.unit) + " a GPU are missing" : "it does not fit: no token is left for the pool, or the engine stops (see the findings of its plan)";
    if (u.requirement == "starts") return "the engine refuses the start (see the findings of its plan)";
    if (u.requirement == "engine_takes_size") return "this engine has no --hicache-size for this model (SGLang: --hicache-ratio; vLLM: --kv-offloading-size, see host.safe_max of a plan)";
    if (u.requirement == "engine_takes_ratio") return "this engine has no --hicache-ratio (vLLM: --kv-offloading-size, see host.safe_max of a plan)";
    if (u.requirement == "safe") return "the host would need " + amount(u.got, u.unit) + ", " + amount(u.wanted, u.unit) + " are available";
    if (u.requirement == "host_known") return "nothing is known of the host (--host-ram, --host-available or --this-host)";
    if (u.requirement == "valid_layout") return "no layout is valid for the model and the engine";
    if (u.requirement == "slack") return "the slack must hold " + amount(u.wanted, u.unit) + " and is " + amount(u.got, u.unit);
    const bool at_most = u.unit == "seconds";
    return std::string(u.requirement) + " is " + amount(u.got, u.unit) + ", " + (at_most ? "at most " : "at least ") + amount(u.wanted, u.unit) + " wanted";
}

Json solution_json(const Solution& s) {
    Json json{{"question", name_of(s.question)}, {"answer", s.answer ? number(*s.answer) : Json(nullptr)}, {"unit", unit_of(s.question)}};
    if (s.feasible_min) json["feasible_min"] = number(*s.feasible_min);
    if (s.feasible_max) json["feasible_max"] = number(*s.feasible_max);
    json["plan"] = s.plan && s.scenario ? plan_json(*s.scenario, *s.plan) : Json(nullptr);
    json["next_that_fails"] = nullptr;
    if (s.next_that_fails)
        json["next_that_fails"] = {{"value", number(s.next_that_fails->value)}, {"reason", joined(s.next_that_fails->reasons)}, {"reasons", reasons_json(s.next_that_fails->reasons)}};
    json["infeasible_because"] = reasons_json(s.infeasible_because);
    return json;
}

Report solution_report(const Solution& s) {
    Report report;
    report.title = std::string(name_of(s.question));
    if (!s.answer) {
        report.verdict = "no answer: " + joined(s.infeasible_because);
        report.tone = Tone::bad;
        return report;
    }
    report.verdict = value_text(s.question, *s.answer) + " " + std::string(unit_of(s.question));
    ReportSection section{"Answer", {}, {}};
    if (s.feasible_min && s.feasible_max)
        section.sentences.push_back("Feasible from " + value_text(s.question, *s.feasible_min) + " to " + value_text(s.question, *s.feasible_max) + ".");
    if (s.plan && s.question == Question::min_gpus) {
        const Parallelism& p = s.plan->parallelism;
        section.sentences.push_back("Layout: tp " + std::to_string(p.tp) + ", pp " + std::to_string(p.pp) + ", dp " + std::to_string(p.dp) + ".");
    }
    if (s.next_that_fails) section.sentences.push_back(value_text(s.question, s.next_that_fails->value) + " would fail: " + joined(s.next_that_fails->reasons) + ".");
    else section.sentences.push_back("Nothing beyond it can be asked for.");
    report.sections.push_back(section);
    if (s.scenario && s.plan) {
        const Report plan = plan_report(*s.scenario, *s.plan);
        report.sections.insert(report.sections.end(), plan.sections.begin(), plan.sections.end());
    }
    return report;
}

}  // namespace kvplan::exporting
