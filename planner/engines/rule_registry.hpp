#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "planner/engines/engine.hpp"
#include "planner/engines/version_text.hpp"

namespace kvplan {

/// The rules of an engine with the texts that are made for them; rules hold views of these texts.
struct RuleRegistry {
    std::deque<std::string> periods;
    std::vector<EngineRule> rules;
};

/// "2025-09-29 (v0.5.3) until 2026-01-06".
[[nodiscard]] std::string period(RuleDate from, RuleDate until, std::string_view release);

/// `always` and then the changes, which have from, until, release, id, file and note.
template <class ChangeRules>
[[nodiscard]] RuleRegistry make_registry(std::vector<EngineRule> always, const ChangeRules& changes) {
    RuleRegistry registry;
    registry.rules = std::move(always);
    for (const auto& rule : changes) {
        registry.periods.push_back(period(rule.from, rule.until, rule.release));
        registry.rules.push_back({rule.id, registry.periods.back(), rule.file, rule.note, rule.from, rule.until});
    }
    return registry;
}

}  // namespace kvplan
