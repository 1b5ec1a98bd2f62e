#include "planner/findings.hpp"

#include <algorithm>

#include "planner/host/findings.hpp"
#include "planner/trace/reuse.hpp"
#include "units/ascii.hpp"

namespace kvplan {

namespace {

// max_req_len is one token less than the context and than the pool: the server refuses what is longer.
void add_too_long(const Scenario& scenario, const Plan& plan, std::vector<Finding>& findings) {
    const Workload& w = scenario.workload;
    const double asked = std::max(w.request_tokens.value_or(0.0), w.input_tokens.value_or(0.0) + w.output_tokens.value_or(0.0));
    const auto longest = static_cast<double>(plan.capacity.longest_request_tokens.count());
    if (!plan.fits || asked <= longest) return;
    Finding finding;
    finding.code = "request_longer_than_server_takes";
    finding.severity = FindingSeverity::warning;
    finding.values = {{"asked", "tokens", asked, {}}, {"longest", "tokens", longest, {}}};
    finding.fields = {"input_tokens", "output_tokens", "request_tokens", "context_length"};
    findings.push_back(std::move(finding));
}

// Lengths of which one is missing give no concurrency.
void add_incomplete_shape(const Scenario& scenario, std::vector<Finding>& findings) {
    const Workload& w = scenario.workload;
    if (w.input_tokens.has_value() == w.output_tokens.has_value() || w.request_tokens) return;
    const std::string missing = w.input_tokens ? "--output-tokens" : "--input-tokens";
    findings.push_back({"request_shape_incomplete", FindingSeverity::note, {{"missing", "text", 0.0, missing}}, {"input_tokens", "output_tokens"}, {}});
}

// The engine's own default of max_running_requests binds, which nobody chose.
void add_default_limit(const Scenario& scenario, const Plan& plan, std::vector<Finding>& findings) {
    const ConcurrencyPlan& c = plan.concurrency;
    if (c.limited_by != ConcurrencyLimit::max_running_requests || scenario.engine.max_running_requests || !c.admission) return;
    const bool drafts = !scenario.engine.speculative.algorithm.empty();
    findings.push_back({"running_limited_by_default", FindingSeverity::note,
                        {{"running", "count", static_cast<double>(plan.capacity.max_running_requests.count()), {}},
                         {"usage", "percent", c.token_usage.value_or(0.0), {}},
                         {"why", "text", 0.0, drafts ? "with speculative decoding the engine takes a small one" : "the engine chose it"}},
                        {"max_running_requests"}, {}});
}

// More requests come than are expected to be given out.
void add_overload(const Scenario& scenario, const Plan& plan, std::vector<Finding>& findings) {
    const auto& rate = scenario.workload.request_rate;
    const auto& expected = plan.throughput.expected_output_tokens_per_second;
    if (!rate || !expected || plan.concurrency.offered || !plan.throughput.requests_per_second) return;
    const double output = std::max(1.0, scenario.workload.output_tokens.value_or(1.0));
    findings.push_back({"offered_rate_not_served", FindingSeverity::warning,
                        {{"offered", "rate", *rate, {}}, {"expected", "rate", expected->expected / output, {}}, {"ceiling", "rate", plan.throughput.output->value / output, {}}},
                        {"request_rate"}, {}});
}

// A drafter is asked for, but neither named nor part of the checkpoint: what it takes is not known.
void add_unknown_draft(const Scenario& scenario, std::vector<Finding>& findings) {
    const std::string& algorithm = scenario.engine.speculative.algorithm;
    const std::string name = lower(algorithm);
    const bool without_model = name.empty() || name == "ngram" || name == "suffix";
    const bool from_checkpoint = scenario.model->draft && name != "eagle3" && name != "standalone" && name != "draft_model";
    if (without_model || scenario.draft_model || from_checkpoint) return;
    findings.push_back({"draft_model_unknown", FindingSeverity::warning, {{"algorithm", "text", 0.0, algorithm}}, {"draft_model", "speculative_algorithm"}, {}});
}

}  // namespace

std::vector<Finding> find_problems(const Scenario& scenario, const Plan& plan) {
    std::vector<Finding> findings = host_findings(scenario, plan);
    for (Finding& finding : trace::reuse_findings(scenario, plan)) findings.push_back(std::move(finding));
    add_too_long(scenario, plan, findings);
    add_unknown_draft(scenario, findings);
    add_incomplete_shape(scenario, findings);
    add_overload(scenario, plan, findings);
    add_default_limit(scenario, plan, findings);
    return findings;
}

bool has_error(const Plan& plan) {
    return std::any_of(plan.findings.begin(), plan.findings.end(), [](const Finding& f) { return f.severity == FindingSeverity::error; });
}

bool is_sound(const Plan& plan) { return plan.fits && plan.safe.value_or(true) && !has_error(plan); }

}  // namespace kvplan
