#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "cli/context.hpp"
#include "cli/scenario_options.hpp"
#include "cli/sweep_output.hpp"
#include "planner/sweep/rows.hpp"
#include "planner/sweep/select.hpp"

namespace kvplan::cli {

namespace {

constexpr const char* kExample =
    "Example:\n"
    "  kvplan sweep --model llama-3.1-70b --gpu h100 --set tp=2,4,8 --set mem_fraction_static=0.80:0.95:0.05 \\\n"
    "      --where 'fits && capacity.max_total_num_tokens > 100000' --columns max_total_num_tokens,full_length\n"
    "    every pair of values, the last field varying fastest; a range includes its stop when that lies on the grid.\n"
    "Formats: text, csv, json (one object a line), markdown. A figure has its dotted name in `kvplan plan --format json`\n"
    "or the end of it when that is unambiguous. Points that cannot be planned say why in the column `invalid`.";

constexpr const char* kDefaultColumns =
    "fits,safe,capacity.max_total_num_tokens,concurrency.full_length,concurrency.steady_state,throughput.output_tokens_per_second,"
    "host.headroom_bytes,invalid";

struct SweepOptions {
    std::vector<std::string> sets;
    bool zip = false;
    std::optional<std::int64_t> random;
    std::uint64_t seed = 0;
    std::string where, pareto, by, columns = kDefaultColumns;
    std::optional<std::int64_t> top;
    int threads = 0;
};

/// A sweep that is ready to run.
struct Sweep {
    sweep::Request request;
    std::size_t columns = 0;
    std::vector<sweep::Goal> pareto;
    std::optional<sweep::Goal> by;
};

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

std::optional<Sweep> prepare(const SweepOptions& options, const ScenarioOptions& scenario_options, const Context& context, Diagnostics& diagnostics) {
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
    if (diagnostics.has_errors()) return std::nullopt;
    return sweep;
}

sweep::Form form_of(Format format) {
    switch (format) {
        case Format::json: return sweep::Form::json_lines;
        case Format::csv: return sweep::Form::csv;
        case Format::markdown: return sweep::Form::markdown;
        case Format::text: break;
    }
    return sweep::Form::text;
}

bool write_rows(StreamedOutput& output, const sweep::RowWriter& writer, const std::vector<sweep::Row>& rows) {
    std::string lines;
    for (const sweep::Row& row : rows) lines += writer.line(row);
    return lines.empty() || output.write(lines);
}

template <class Selection>
void select(const sweep::Points& points, int threads, Selection selection, StreamedOutput& output, const sweep::RowWriter& writer) {
    (void)run(points, 0, points.request().grid.points(), threads, [&](std::vector<sweep::Row> rows, std::int64_t) {
        for (sweep::Row& row : rows) selection.add(std::move(row));
        return true;
    });
    (void)write_rows(output, writer, selection.rows());
}

void sweep_all(const SweepOptions& options, const ScenarioOptions& scenario_options, Context& context) {
    Diagnostics diagnostics;
    auto sweep = prepare(options, scenario_options, context, diagnostics);
    if (!sweep) return fail(context, diagnostics);
    const std::size_t columns = sweep->columns;
    sweep::Points points(std::move(sweep->request));
    if (!points.look_up_all(diagnostics)) return fail(context, diagnostics);
    show(context, diagnostics);
    const int threads = options.threads > 0 ? options.threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    const sweep::RowWriter writer(form_of(context.format), points.request(), columns, sample_rows(points, context.format == Format::text ? 64 : 0));
    StreamedOutput output(context);
    if (output.good()) output.write(writer.header());
    if (options.top) select(points, threads, sweep::Top(static_cast<std::size_t>(*options.top), *sweep->by), output, writer);
    else if (!sweep->pareto.empty()) select(points, threads, sweep::Pareto(sweep->pareto), output, writer);
    else if (output.good()) (void)run(points, 0, points.request().grid.points(), threads, [&](std::vector<sweep::Row> rows, std::int64_t) { return write_rows(output, writer, rows); });
    if (output.finish() || output.failure().empty()) return;
    *context.err << "kvplan: " << escape_for_terminal(output.failure()) << "\n";
    context.exit_code = kUsage;
}

}  // namespace

void add_sweep_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("sweep", "Any scenario fields over ranges and lists -> one row a point");
    command->footer(kExample);
    const auto options = std::make_shared<SweepOptions>();
    // One value each: a list's commas are read by the sweep.
    command->add_option("--set", options->sets, "A field and its values: field=start:stop:step or field=a,b,c; may be repeated")->required()->allow_extra_args(false)->type_name("FIELD=VALUES");
    command->add_flag("--zip", options->zip, "The fields go together, first with first, instead of every combination");
    command->add_option("--random", options->random, "So many different points of the sweep, drawn at random")->check(CLI::PositiveNumber.description(""))->type_name("N");
    command->add_option("--seed", options->seed, "Of --random: the same seed draws the same points")->type_name("S");
    command->add_option("--where", options->where, "Keep points for which this holds: comparisons of figures, && || ! ( )")->type_name("EXPR");
    command->add_option("--pareto", options->pareto, "Keep points that no other beats in all these figures (min:NAME, max:NAME; times are to be small)")->type_name("A,B");
    command->add_option("--top", options->top, "Keep the N best points by --by")->check(CLI::PositiveNumber.description(""))->type_name("N");
    command->add_option("--by", options->by, "Figure that --top goes by (min:NAME for the smallest)")->type_name("FIGURE");
    command->add_option("--columns", options->columns, "Figures of a row behind the swept fields")->type_name("A,B");
    command->add_option("--threads", options->threads, "Default: all cores; the rows are the same for any number")->check(CLI::Range(1, 1024).description(""))->type_name("N");
    const auto scenario_options = add_scenario_options(*command, context);
    command->callback([options, scenario_options, &context] { sweep_all(*options, *scenario_options, context); });
}

}  // namespace kvplan::cli
