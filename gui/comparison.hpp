// Plans side by side, as the Compare tab shows them.
#pragma once

#include <string>
#include <vector>

#include "planner/plan.hpp"

namespace kvplan::gui {

enum class Change { none, better, worse, other };

struct ComparedCell {
    std::string value;
    std::string difference;   // signed, against the first plan; empty for it, and where nothing differs
    Change change = Change::none;
};

struct ComparedRow {
    std::string label;
    std::string figure;       // dotted name, for "why?"
    std::vector<ComparedCell> cells;
};

struct NamedPlan {
    std::string name;
    const Scenario* scenario = nullptr;
    const Plan* plan = nullptr;
};

/// Figures that matter in the order of the report, then the scenario's fields that differ.
[[nodiscard]] std::vector<ComparedRow> compare(const std::vector<NamedPlan>& plans);
[[nodiscard]] std::vector<ComparedRow> differing_fields(const std::vector<NamedPlan>& plans);

}  // namespace kvplan::gui
