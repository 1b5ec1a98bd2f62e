#include "cli/sweep_request.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <utility>

namespace kvplan::cli {

namespace {

std::optional<std::string> environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

void add_fault(Diagnostics& diagnostics, std::string flag, std::string message, std::string hint) {
    Diagnostic diagnostic;
    diagnostic.code = "sweep.options";
    diagnostic.pointer = std::move(flag);
    diagnostic.message = std::move(message);
    diagnostic.hint = std::move(hint);
    diagnostics.add(std::move(diagnostic));
}

void add_figures(Sweep& sweep, const std::string& list, const char* flag, Diagnostics& diagnostics) {
    for (const std::string& name : CLI::detail::split(list, ','))
        if (auto figure = sweep::find_figure(CLI::detail::trim_copy(name), sweep.request.grid.axes, flag, diagnostics)) sweep.request.figures.push_back(std::move(*figure));
}

// "min:NAME" and "max:NAME"; without either, times should be short and everything else large.
std::optional<sweep::Goal> goal(Sweep& sweep, std::string name, const char* flag, Diagnostics& diagnostics) {
    CLI::detail::trim(name);
    std::optional<bool> smaller;
    if (name.rfind("min:", 0) == 0) smaller = true;
    if (name.rfind("max:", 0) == 0) smaller = false;
    auto figure = sweep::find_figure(smaller ? name.substr(4) : name, sweep.request.grid.axes, flag, diagnostics);
    if (!figure) return std::nullopt;
    const bool time = figure->name.find("_seconds") != std::string::npos && figure->name.find("saved") == std::string::npos;
    sweep.request.figures.push_back(std::move(*figure));
    return sweep::Goal{sweep.request.figures.size() - 1, smaller.value_or(time)};
}

// A selection needs all rows: a part of them has no best, and half of a selection cannot be gone on with.
void read_shard(const SweepOptions& options, Sweep& sweep, Diagnostics& diagnostics) {
    const bool selects = options.top.has_value() || !options.pareto.empty();
    if (selects && options.resume) add_fault(diagnostics, "--resume", "a selection (--top, --pareto) is made of all points at once and leaves no part", "leave --resume out");
    if (options.shard.empty()) {
        if (const auto rank = sweep::find_rank(environment)) {
            Diagnostic diagnostic;
            diagnostic.severity = Severity::warning;
            diagnostic.code = "sweep.shard";
            diagnostic.pointer = std::string(rank->variable);
            diagnostic.message = "a scheduler runs this process as one of several, and each of them makes the whole sweep";
            diagnostic.hint = rank->count ? "--shard auto takes the part of this one" : "--shard auto/N takes the part of this one";
            diagnostics.add(std::move(diagnostic));
        }
        return;
    }
    sweep.shard = sweep::parse_shard(options.shard, environment, diagnostics);
    if (selects) add_fault(diagnostics, "--shard", "a selection (--top, --pareto) needs all points", "select without --shard, or thin the parts out with --where");
}

}  // namespace

std::optional<Sweep> prepare_sweep(const SweepOptions& options, const ScenarioOptions& scenario_options, const Context& context, Diagnostics& diagnostics) {
    Sweep sweep;
    sweep.request.catalogues = context.catalogues;
    (void)apply(scenario_options, sweep.request.base, diagnostics);
    sweep::Grid& grid = sweep.request.grid;
    for (const std::string& set : options.sets)
        if (auto axis = sweep::parse_axis(set, diagnostics)) grid.axes.push_back(std::move(*axis));
    grid.zip = options.zip;
    grid.random = options.random;
    grid.seed = options.seed;
    if (diagnostics.has_errors() || !check(grid, diagnostics)) return std::nullopt;
    add_figures(sweep, options.columns, "--columns", diagnostics);
    sweep.columns = sweep.request.figures.size();
    if (!options.pareto.empty())
        for (const std::string& name : CLI::detail::split(options.pareto, ','))
            if (const auto found = goal(sweep, name, "--pareto", diagnostics)) sweep.pareto.push_back(*found);
    if (!options.by.empty()) sweep.by = goal(sweep, options.by, "--by", diagnostics);
    if (!options.where.empty()) sweep.request.where = sweep::Expression::parse(options.where, grid.axes, diagnostics);
    if (options.top.has_value() != !options.by.empty()) add_fault(diagnostics, "--top", "--top and --by go together", "--top 10 --by output_tokens_per_second");
    if (options.top && !options.pareto.empty()) add_fault(diagnostics, "--pareto", "--pareto and --top are two selections", "give one of them");
    read_shard(options, sweep, diagnostics);
    if (diagnostics.has_errors()) return std::nullopt;
    for (const std::string& set : options.sets) sweep.asked += set + "\n";
    sweep.asked += std::string(options.zip ? "zip" : "grid") + "\n" + std::to_string(options.random.value_or(0)) + "\n" + std::to_string(options.seed) + "\n" + options.where + "\n" + options.columns;
    return sweep;
}

}  // namespace kvplan::cli

