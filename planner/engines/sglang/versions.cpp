#include "planner/engines/sglang/versions.hpp"

#include <array>

namespace kvplan::sglang {
namespace {

// Trees of 0.4.6.post5, 0.4.9.post2, 0.4.10.post2, 0.5.1, 0.5.2, 0.5.3, 0.5.5, 0.5.6.post2 and about 0.5.8, 0.5.10, 0.5.13 and
// 0.5.15 were read for these rules; the other dates are of tags and version bumps.
constexpr std::array<Release, 31> kReleases{{
    {4, 6, 0, 20250427},  {4, 6, 5, 20250524},  {4, 7, 0, 20250611},  {4, 8, 0, 20250624},
    {4, 9, 0, 20250705},  {4, 9, 2, 20250711},  {4, 10, 0, 20250731}, {4, 10, 2, 20250803},
    {5, 0, 0, 20250813},  {5, 1, 0, 20250823},  {5, 2, 0, 20250911},   {5, 3, 0, 20251006},
    {5, 3, 3, 20251016},  {5, 4, 0, 20251026}, {5, 4, 1, 20251028},  {5, 4, 2, 20251031},
    {5, 4, 3, 20251104},  {5, 5, 0, 20251107},  {5, 5, 1, 20251110},  {5, 5, 3, 20251116},
    {5, 6, 0, 20251203},  {5, 6, 2, 20251211},  {5, 7, 0, 20260101},  {5, 8, 0, 20260123},
    {5, 9, 0, 20260224},  {5, 10, 0, 20260405}, {5, 12, 0, 20260516}, {5, 13, 0, 20260612},
    {5, 14, 0, 20260624}, {5, 15, 0, 20260706}, {5, 19, 0, 20260914},
}};

}  // namespace

Version find_version(std::string_view text) { return kvplan::find_version(text, kReleases, changes().back().from); }

RuleDate rule_date(const EngineOptions& options) {
    // Asked for at every rule: without a version text there is nothing to read.
    return options.version_text.empty() ? changes().back().from : find_rule_date(options.version_text, kReleases, changes().back().from);
}

namespace {

struct Period {
    RuleDate from{99999999}, until{0};  // never in force
};

// By enumerator: rules ask more than a hundred times a plan.
std::vector<Period> periods() {
    std::vector<Period> list(static_cast<std::size_t>(Change::hicache_auto_size) + 1);
    for (const ChangeRule& rule : changes()) list.at(static_cast<std::size_t>(rule.change)) = {rule.from, rule.until};
    return list;
}

}  // namespace

bool in_force(Change change, RuleDate date) {
    static const std::vector<Period> kPeriods = periods();
    const Period& period = kPeriods[static_cast<std::size_t>(change)];
    return period.from <= date && (period.until.yyyymmdd == 0 || date < period.until);
}

}  // namespace kvplan::sglang
