#pragma once

#include "planner/export/report.hpp"
#include "planner/plan.hpp"
#include "planner/scenario.hpp"

namespace kvplan::exporting {

/// A plan as people read it: verdict, waterfall of one GPU, KV cache with its formula, host table, concurrency,
/// throughput, findings, assumptions, and the launch command.
[[nodiscard]] Report plan_report(const Scenario& scenario, const Plan& plan, bool verbose = false);

/// "Kimi-K2.5 (int4) on 8 x H200 SXM, tp 8, rules of sglang 2026-09-18".
[[nodiscard]] std::string plan_title(const Scenario& scenario, const Plan& plan);

/// "fits and is safe", "does not fit: 4.20 GiB a GPU are missing", …
[[nodiscard]] std::string verdict(const Plan& plan);

/// The formula of the bytes per token with the model's numbers put in: "61 layers x (512 + 64) x 2 B". One line a group.
[[nodiscard]] std::vector<std::string> kv_formulas(const Scenario& scenario, const KvCachePlan& kv_cache);

/// The sections of the report, each in a file of its own area.
[[nodiscard]] ReportSection gpu_section(const Scenario& scenario, const Plan& plan, bool verbose);
[[nodiscard]] ReportSection capacity_section(const Scenario& scenario, const Plan& plan);
[[nodiscard]] std::vector<ReportSection> host_sections(const Scenario& scenario, const Plan& plan);
[[nodiscard]] std::vector<ReportSection> rate_sections(const Scenario& scenario, const Plan& plan);

}  // namespace kvplan::exporting
