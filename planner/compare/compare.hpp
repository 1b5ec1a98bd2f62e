#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/plan.hpp"
#include "planner/resolve.hpp"

namespace kvplan::compare {

/// One scenario of a comparison; `scenario` is resolved.
struct Side {
    std::string label;
    Scenario scenario;
    Plan plan;
};

/// A figure of a plan under its dotted name; what stands in a list goes by its name there ("hicache.pools.kv.slots").
/// Of an estimate the expected value. Findings are "findings.<code>" with their severity.
struct Figure {
    std::string name;
    std::string text;                         // empty: does not apply
    std::optional<double> number;
};
[[nodiscard]] std::vector<Figure> figures_of(const Plan& plan);

/// The stages of a plan in the order in which they are made; the last are its verdicts.
[[nodiscard]] const std::vector<std::string_view>& stages();
[[nodiscard]] std::string_view stage_of(std::string_view figure);

/// What is not the same: one value a side, the first side's first.
struct Difference {
    std::string name;
    std::string_view stage;
    std::vector<Figure> values;
    std::vector<std::size_t> causes;          // into Comparison::causes: those that alone move it
};

/// What differs between the first side and another: a field of the scenario, or a rule of the engine that changed between
/// their versions. Tried alone: the field is given the other side's value, or the version is set to the rule's first day.
struct Cause {
    std::size_t side = 0;
    std::string name;                         // field, or ids of the rules that changed on one day
    std::string from, to;                     // values of the field, or empty and the day
    std::string note;                         // what the rules say
    bool is_rule = false;
    bool tried = true;                        // false: makes no plan alone, so what it moves is unknown
    std::string_view arises;                  // the first stage it moves; empty: none
    std::vector<std::string> moves;           // figures, in the order of the stages
};

struct Comparison {
    std::vector<Side> sides;
    std::size_t figures = 0;                  // that any side has
    std::vector<Difference> differences;      // in the order of the stages
    std::vector<Cause> causes;
};

/// At least one side.
[[nodiscard]] Comparison compare(std::vector<Side> sides, const CatalogueOptions& catalogues);

}  // namespace kvplan::compare
