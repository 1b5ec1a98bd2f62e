#include "planner/compare/compare.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "planner/compare/causes.hpp"

namespace kvplan::compare {

namespace {

Figure figure_named(const std::vector<Figure>& figures, const std::string& name) {
    const auto found = std::find_if(figures.begin(), figures.end(), [&](const Figure& figure) { return figure.name == name; });
    return found == figures.end() ? Figure{name, "", std::nullopt} : *found;
}

}  // namespace

Comparison compare(std::vector<Side> sides, const CatalogueOptions& catalogues) {
    Comparison comparison;
    comparison.sides = std::move(sides);
    std::vector<std::vector<Figure>> figures;
    std::set<std::string> known;
    for (const Side& side : comparison.sides) {
        figures.push_back(figures_of(side.plan));
        for (const Figure& figure : figures.back()) known.insert(figure.name);
    }
    comparison.figures = known.size();
    std::vector<std::string> names;
    for (std::size_t i = 1; i < figures.size(); ++i)
        for (const std::string& name : moved(figures.front(), figures[i]))
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    const auto rank = [](const std::string& name) { return std::find(stages().begin(), stages().end(), stage_of(name)) - stages().begin(); };
    std::stable_sort(names.begin(), names.end(), [&](const std::string& x, const std::string& y) { return rank(x) < rank(y); });
    for (const std::string& name : names) {
        Difference difference{name, stage_of(name), {}, {}};
        for (const auto& side : figures) difference.values.push_back(figure_named(side, name));
        comparison.differences.push_back(std::move(difference));
    }
    for (std::size_t i = 1; i < comparison.sides.size(); ++i)
        for (Cause& cause : causes_between(comparison.sides.front(), comparison.sides[i], i, catalogues)) comparison.causes.push_back(std::move(cause));
    for (Difference& difference : comparison.differences) {
        difference.stage = stage_of(difference.name);
        for (std::size_t i = 0; i < comparison.causes.size(); ++i) {
            const std::vector<std::string>& moves = comparison.causes[i].moves;
            if (std::find(moves.begin(), moves.end(), difference.name) != moves.end()) difference.causes.push_back(i);
        }
    }
    return comparison;
}

}  // namespace kvplan::compare
