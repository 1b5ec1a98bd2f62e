#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/scenario.hpp"

namespace kvplan {

/// How well a version text is known.
enum class VersionMatch {
    newest,        // empty, "latest", "main"
    date,          // "2026-08-22", or "2026-08" (the middle of the month)
    release,       // a release of the table, "v0.5.4.post2"
    between,       // a release between two of the table: its day is interpolated
    after_table,   // newer than all that was read: the newest rules
    before_table,  // older than all that was read: the oldest rules
    unreadable     // not a version: the newest rules, and a fault for the user
};

struct Version {
    RuleDate date;                     // rules in force on this day
    VersionMatch match = VersionMatch::newest;
    std::string label;                 // "2026-09-18" or "v0.5.6 (2025-12-03)"
    std::vector<std::string> nearest;  // releases near a text that is not in the table
};

/// 0.minor.patch.postN of an engine and the day it was made. A release holds what was merged before it was cut, so a
/// change counts from its merge date.
struct Release {
    int minor = 0, patch = 0, post = 0;
    int yyyymmdd = 0;
};

/// The rule set of a version text: `0.5.6`, `v0.5.4.post2`, `0.5.2rc2`, `2026-08-22`, `2026-08`, empty for the newest.
/// `releases` are sorted; `newest` is the day of the newest rule. Never fails; `match` says how far to trust it.
[[nodiscard]] Version find_version(std::string_view text, std::span<const Release> releases, RuleDate newest);

/// The date alone, without the texts that find_version makes.
[[nodiscard]] RuleDate find_rule_date(std::string_view text, std::span<const Release> releases, RuleDate newest);

/// "2026-08-22".
[[nodiscard]] std::string iso(RuleDate date);

}  // namespace kvplan
