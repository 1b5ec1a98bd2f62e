#include "planner/sweep/points.hpp"

#include <algorithm>

#include "planner/plan.hpp"
#include "units/quantity.hpp"

namespace kvplan::sweep {

namespace {

// Fields by which resolve() looks something up; of the others a point costs arithmetic only.
bool names_a_thing(const FieldSpec& field) {
    constexpr std::string_view kNames[] = {"model", "draft_model", "quantization", "gpu", "workload_from"};
    return std::find(std::begin(kNames), std::end(kNames), field.name) != std::end(kNames);
}

std::string reason_of(const Diagnostics& diagnostics) {
    for (const Diagnostic& diagnostic : diagnostics.items())
        if (diagnostic.severity == Severity::error)
            return diagnostic.message + (diagnostic.expected.empty() ? std::string{} : ": expected " + diagnostic.expected);
    return "cannot be planned";
}

}  // namespace

Points::Key Points::key_of(const std::vector<std::int64_t>& indices) const {
    Key key;
    for (std::size_t i = 0; i < indices.size(); ++i)
        if (names_a_thing(*request_.grid.axes[i].field)) key.push_back(indices[i]);
    return key;
}

bool Points::look_up_all(Diagnostics& diagnostics) {
    Grid things;
    for (const Axis& axis : request_.grid.axes)
        if (names_a_thing(*axis.field)) things.axes.push_back(axis);
    for (std::int64_t i = 0; i < things.points(); ++i) {
        const Key key = things.indices(i);
        Scenario scenario = request_.base;
        for (std::size_t a = 0; a < key.size(); ++a) (void)set_field(scenario, *things.axes[a].field, things.axes[a].value(key[a]), "sweep");
        if (!look_up(scenario, request_.catalogues, diagnostics)) return false;
        looked_up_.emplace(key, std::move(scenario));
    }
    return true;
}

// What is wrong with a point is told in a word instead of a diagnostic: a sweep may have millions of such points.
Points::Outcome Points::outcome_of(const std::vector<std::int64_t>& indices) const {
    const std::vector<Axis>& axes = request_.grid.axes;
    const Scenario& found = looked_up_.at(key_of(indices));
    PlannedPoint point{request_.base, {}};
    point.scenario.model = found.model;
    point.scenario.draft_model = found.draft_model;
    point.scenario.gpu = found.gpu;
    point.scenario.free_memory = found.free_memory;
    point.scenario.reuse = found.reuse;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::string value = axes[i].value(indices[i]);
        if (const auto failure = set_field(point.scenario, *axes[i].field, value, "sweep"))
            return std::string(axes[i].field->name) + " cannot be " + value + ": expected " + failure->expected;
    }
    try {
        Diagnostics diagnostics;
        if (!resolve(point.scenario, request_.catalogues, diagnostics)) return reason_of(diagnostics);
        point.plan = plan(point.scenario);
    } catch (const OverflowError& error) {
        return std::string(error.what());
    }
    return point;
}

std::optional<PlannedPoint> Points::planned(std::int64_t point) const {
    Outcome outcome = outcome_of(request_.grid.indices(point));
    if (auto* planned = std::get_if<PlannedPoint>(&outcome)) return std::move(*planned);
    return std::nullopt;
}

Row Points::made(std::int64_t point, std::vector<Cell>* conditions) const {
    const std::vector<std::int64_t> indices = request_.grid.indices(point);
    Row row;
    row.point = point;
    row.cells.resize(request_.figures.size());
    for (std::size_t i = 0; i < indices.size(); ++i) row.swept.push_back(cell_of(request_.grid.axes[i].value(indices[i])));
    const Outcome outcome = outcome_of(indices);
    const auto* planned = std::get_if<PlannedPoint>(&outcome);
    if (planned != nullptr) {
        row.cells = read_figures(request_.figures, planned->plan);
        if (conditions != nullptr) *conditions = read_figures(request_.where->figures(), planned->plan);
        row.valid = true;
    }
    const auto fill = [&](const std::vector<Figure>& figures, std::vector<Cell>& cells) {
        cells.resize(figures.size());
        for (std::size_t i = 0; i < figures.size(); ++i) {
            if (figures[i].axis) cells[i] = row.swept[*figures[i].axis];
            else if (figures[i].invalid && planned == nullptr) cells[i] = {CellKind::text, 0.0, std::get<std::string>(outcome)};
        }
    };
    fill(request_.figures, row.cells);
    if (conditions != nullptr) fill(request_.where->figures(), *conditions);
    return row;
}

Row Points::row(std::int64_t point) const { return made(point, nullptr); }

std::optional<Row> Points::kept_row(std::int64_t point) const {
    if (!request_.where) return row(point);
    std::vector<Cell> conditions;
    Row made_row = made(point, &conditions);
    if (!request_.where->holds(conditions)) return std::nullopt;
    return made_row;
}

}  // namespace kvplan::sweep
