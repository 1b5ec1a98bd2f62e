#include "planner/export/plan_report.hpp"

#include <algorithm>

#include "planner/engines/engine.hpp"
#include "planner/export/finding_text.hpp"
#include "planner/export/launch.hpp"
#include "planner/findings.hpp"
#include "models/hardware/gpu_spec.hpp"
#include "units/format.hpp"

namespace kvplan::exporting {

namespace {

std::string verdict_sentence(const Plan& plan) {
    if (!plan.fits) return "DOES NOT FIT";
    if (plan.safe && !*plan.safe) return "FITS THE GPUS, BUT IS NOT SAFE FOR THE HOST";
    if (!is_sound(plan)) return "FITS, BUT WOULD NOT START";
    if (!plan.safe) return "FITS THE GPUS; NOTHING IS KNOWN OF THE HOST";
    return "FITS";
}

/// What the first error says, in one sentence; empty without one.
std::string first_error(const Plan& plan) {
    for (const Finding& finding : plan.findings) {
        if (finding.severity != FindingSeverity::error) continue;
        const std::string message = text_of(finding).message;
        return message.substr(0, std::min(message.find(". "), message.size()));
    }
    return "";
}

ReportSection findings_section(const Plan& plan) {
    ReportSection section{"Findings", {}, {}, {}};
    for (const Finding& finding : plan.findings) {
        const FindingText text = text_of(finding);
        std::string line = std::string(name_of(finding.severity)) + " [" + std::string(finding.code) + "] " + text.message;
        if (!text.remedy.empty()) line += " -> " + text.remedy;
        section.sentences.push_back(std::move(line));
    }
    return section;
}

ReportSection reuse_section(const ReusePlan& reuse) {
    ReportSection section{"Prefix hits of the trace, share of prompt tokens", {}, {}};
    const auto row = [&](const char* name, double rate) { section.table.rows.push_back({{name, percent(rate, 2)}}); };
    row("GPU pool alone", reuse.device_rate);
    row("  if running requests share nothing", reuse.device_rate_low);
    row("with the host pool of this plan", reuse.total_rate);
    if (reuse.safe_rate) row("with the largest safe host pool", *reuse.safe_rate);
    row("without a limit", reuse.unlimited_rate);
    section.sentences.push_back("The knee of the curve lies at " + with_commas(reuse.knee_tokens.count()) + " tokens; running requests leave " +
                                with_commas(reuse.device_tokens.count()) + " tokens of the GPU pool to prompts. `kvplan trace` shows the whole curve.");
    return section;
}

ReportSection assumptions_section(const Scenario& scenario, const Plan& plan) {
    ReportSection section{"Assumptions", {}, {}, {}};
    for (const std::string& assumption : scenario.model->assumptions) section.sentences.push_back(assumption);
    if (!scenario.model->verified)
        section.sentences.push_back("The family " + scenario.model->family + " was read by a rule that is not tested on a real checkpoint.");
    if (!scenario.hardware.gpu_free)
        section.sentences.push_back("Free memory before load is an estimate of the catalogue; --gpu-free takes the \"Load weight begin. avail mem\" of a log (printed as GB, means GiB).");
    if (plan.weights.bytes_per_rank.basis != Basis::measured && plan.weights.bytes_per_rank.low != plan.weights.bytes_per_rank.high)
        section.sentences.push_back("Loaders and allocators keep a little beyond the tensors; --weights-per-gpu takes the \"mem usage\" of a log.");
    return section;
}

ReportSection launch_section(const Scenario& scenario, const Plan& plan) {
    const LaunchText launch = launch_text(scenario, plan);
    ReportSection section{"Launch", {}, {}, {launch.command}};
    for (const LaunchChange& change : launch.changed) {
        std::string what = change.flag;
        if (!change.from.empty()) what += " " + change.from;
        what += change.to.empty() ? " taken away" : " -> " + change.to;
        section.sentences.push_back(what + ": " + change.why);
    }
    for (const std::string& note : launch.notes) section.sentences.push_back(note);
    return section;
}

}  // namespace

std::string plan_title(const Scenario& scenario, const Plan& plan) {
    const Parallelism& p = plan.parallelism;
    std::string title = scenario.model->name;
    if (!scenario.model->quantization.empty()) title += " (" + scenario.model->quantization + ")";
    title += " on " + std::to_string(p.ranks) + " x " + scenario.gpu->name + ", tp " + std::to_string(p.tp);
    if (p.pp > 1) title += ", pp " + std::to_string(p.pp);
    if (p.dp_attention > 1) title += ", attention dp " + std::to_string(p.dp_attention);
    if (p.replicas > 1) title += ", " + std::to_string(p.replicas) + " replicas";
    if (p.ep > 1) title += ", ep " + std::to_string(p.ep);
    return title + ", rules of " + plan.rule_set;
}

std::string verdict(const Plan& plan) {
    std::string text = verdict_sentence(plan);
    if (plan.gpu.shortfall_bytes.count() > 0) text += ": " + binary_size(plan.gpu.shortfall_bytes) + " a GPU are missing";
    else if (plan.fits && plan.host.shortfall_bytes.count() > 0)
        text += ": the host needs " + decimal_size(plan.host.required_high_bytes) + " at the high end and lacks " + decimal_size(plan.host.shortfall_bytes);
    else if (const std::string error = first_error(plan); !error.empty())
        text += ": " + error;
    return text;
}

Report plan_report(const Scenario& scenario, const Plan& plan, bool verbose) {
    Report report;
    report.title = plan_title(scenario, plan);
    report.verdict = verdict(plan);
    report.tone = !is_sound(plan) ? Tone::bad : plan.safe ? Tone::good : Tone::unsure;
    report.sections.push_back(gpu_section(scenario, plan, verbose));
    report.sections.push_back(capacity_section(scenario, plan));
    for (ReportSection& section : host_sections(scenario, plan)) report.sections.push_back(std::move(section));
    for (ReportSection& section : rate_sections(scenario, plan)) report.sections.push_back(std::move(section));
    if (plan.reuse) report.sections.push_back(reuse_section(*plan.reuse));
    if (!plan.findings.empty()) report.sections.push_back(findings_section(plan));
    ReportSection assumptions = assumptions_section(scenario, plan);
    if (!assumptions.sentences.empty()) report.sections.push_back(std::move(assumptions));
    report.sections.push_back(launch_section(scenario, plan));
    return report;
}

}  // namespace kvplan::exporting
