#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <thread>
#include <utility>

#include "cli/context.hpp"
#include "cli/interrupt.hpp"
#include "cli/plot.hpp"
#include "cli/progress.hpp"
#include "cli/sweep_output.hpp"
#include "cli/sweep_plot.hpp"
#include "cli/sweep_request.hpp"
#include "planner/sweep/part.hpp"
#include "units/format.hpp"

namespace kvplan::cli {

namespace {

constexpr const char* kExample =
    "Example:\n"
    "  kvplan sweep --model llama-3.1-70b --gpu h100 --set tp=2,4,8 --set mem_fraction_static=0.80:0.95:0.05 \\\n"
    "      --where 'fits && capacity.max_total_num_tokens > 100000' --columns max_total_num_tokens,full_length\n"
    "    every pair of values, the last field varying fastest; a range includes its stop when that lies on the grid.\n"
    "Formats: text, csv, json (one object a line), markdown. A figure has its dotted name in `kvplan plan --format json`\n"
    "or the end of it when that is unambiguous. Points that cannot be planned say why in the column `invalid`.";

sweep::Form form_of(Format format) {
    switch (format) {
        case Format::json: return sweep::Form::json_lines;
        case Format::csv: return sweep::Form::csv;
        case Format::markdown: return sweep::Form::markdown;
        case Format::text: break;
    }
    return sweep::Form::text;
}

/// One run of a sweep: its rows, where they go and what stops it.
class Run {
public:
    Run(const Sweep& sweep, const sweep::Points& points, const SweepOptions& options, Context& context)
        : sweep_(sweep),
          points_(points),
          context_(context),
          threads_(options.threads > 0 ? options.threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))),
          form_(form_of(context.format)),
          range_(sweep.shard ? range_of(*sweep.shard, points.request().grid.points()) : sweep::PointRange{0, points.request().grid.points()}),
          fingerprint_(sweep::fingerprint(points, sweep.asked, form_)),
          writer_(form_, points.request(), sweep.columns, sample_rows(points, form_ == sweep::Form::text ? 64 : 0)),
          output_(context, fingerprint_ + " " + std::to_string(range_.begin) + "-" + std::to_string(range_.end), options.resume),
          mark_(output_.resumed().value_or(SweepMark{range_.begin, 0})),
          progress_(context, mark_.next_point - range_.begin, range_.end - range_.begin) {
        const bool on_terminal = form_ == sweep::Form::text && context.out == &std::cout && context.output.empty() && isatty(STDOUT_FILENO) == 1;
        if ((!options.plot.empty() || on_terminal) && SweepPlot::obstacle(points.request()).empty() && !sweep.shard) plot_.emplace(points.request(), sweep.columns);
    }

    /// The picture of the rows that were written; nothing without --plot and away from a terminal.
    [[nodiscard]] std::optional<SweepPlot::Chart> chart() const { return plot_ ? plot_->chart() : std::nullopt; }

    void all() {
        if (output_.good() && !output_.resumed()) output_.write(heading()) && output_.note(mark_);
        if (output_.good() && output_.resumed()) *context_.err << "kvplan: going on with " << escape_for_terminal(output_.part()) << " after " << with_commas(mark_.next_point - range_.begin) << " of " << with_commas(range_.end - range_.begin) << " points\n";
        auto noted = std::chrono::steady_clock::now();
        if (output_.good()) (void)run(points_, mark_.next_point, range_.end, threads_, [&](std::vector<sweep::Row> rows, std::int64_t next) {
            mark_ = {next, mark_.rows + static_cast<std::int64_t>(rows.size())};
            if (!write_rows(rows)) return false;
            const auto now = std::chrono::steady_clock::now();
            if (now - noted > std::chrono::seconds(1)) {
                noted = now;
                if (!output_.note(mark_)) return false;
            }
            return go_on(next);
        });
        if (output_.good() && mark_.next_point < range_.end) return stopped();
        if (output_.good() && sweep_.shard) output_.write(end_of_part(form_, mark_.rows));
        finish();
    }

    template <class Selection>
    void selected(Selection selection) {
        if (output_.good()) output_.write(writer_.header());
        if (output_.good()) mark_.next_point = run(points_, range_.begin, range_.end, threads_, [&](std::vector<sweep::Row> rows, std::int64_t next) {
            for (sweep::Row& row : rows) selection.add(std::move(row));
            return go_on(next);
        });
        if (mark_.next_point < range_.end && output_.good()) return stopped();
        (void)write_rows(selection.rows());
        finish();
    }

private:
    [[nodiscard]] std::string heading() const {
        const std::string table = writer_.header();
        if (!sweep_.shard) return table;
        return line_of(sweep::PartHeader{fingerprint_, form_, range_, points_.request().grid.points(), std::count(table.begin(), table.end(), '\n')}) + table;
    }
    bool write_rows(const std::vector<sweep::Row>& rows) {
        std::string lines;
        for (const sweep::Row& row : rows) {
            lines += writer_.line(row);
            if (plot_) plot_->add(row);
        }
        return lines.empty() || output_.write(lines);
    }
    bool go_on(std::int64_t next) {
        progress_.update(next - range_.begin);
        return interrupt_.signal() == 0;
    }
    // Exit code as shells and schedulers know it of a program that a signal has ended.
    void stopped() {
        const bool kept = !output_.part().empty() && !sweep_.by && sweep_.pareto.empty() && output_.note(mark_);
        *context_.err << "kvplan: stopped after " << with_commas(mark_.next_point - range_.begin) << " of " << with_commas(range_.end - range_.begin) << " points";
        if (kept) *context_.err << "; the same command with --resume goes on from " << escape_for_terminal(output_.part());
        *context_.err << "\n";
        context_.exit_code = 128 + interrupt_.signal();
    }
    void finish() {
        if (output_.finish() || output_.failure().empty()) return;
        *context_.err << "kvplan: " << escape_for_terminal(output_.failure()) << "\n";
        context_.exit_code = kUsage;
    }

    const Sweep& sweep_;
    const sweep::Points& points_;
    Context& context_;
    const int threads_;
    const sweep::Form form_;
    const sweep::PointRange range_;
    const std::string fingerprint_;
    const sweep::RowWriter writer_;
    Interrupt interrupt_;
    StreamedOutput output_;
    SweepMark mark_;
    Progress progress_;
    std::optional<SweepPlot> plot_;
};

// On a terminal the table of a small sweep is followed by its picture in characters.
void show_chart(const std::optional<SweepPlot::Chart>& chart, const std::string& file, Context& context) {
    if (!chart || context.exit_code != kDone) return;
    if (!file.empty()) (void)write_picture(context, drawn(*chart), file);
    else *context.out << "\n" << typed(*chart, context.width());
}

// Ranks that one command line starts need a name each.
void name_output(Context& context, const std::optional<sweep::Shard>& shard) {
    constexpr std::string_view kPlace = "{shard}";
    const std::size_t at = context.output.find(kPlace);
    if (!shard || at == std::string::npos) return;
    const std::string last = std::to_string(shard->count - 1), index = std::to_string(shard->index);
    context.output.replace(at, kPlace.size(), std::string(last.size() - index.size(), '0') + index);
}

void sweep_all(const SweepOptions& options, const ScenarioOptions& scenario_options, Context& context) {
    if (!options.plot.empty() && !is_picture_name(context, options.plot)) return;
    Diagnostics diagnostics;
    auto sweep = prepare_sweep(options, scenario_options, context, diagnostics);
    if (!sweep) return fail(context, diagnostics);
    sweep::Points points(std::move(sweep->request));
    if (!points.look_up_all(diagnostics)) return fail(context, diagnostics);
    show(context, diagnostics);
    name_output(context, sweep->shard);
    if (const std::string obstacle = sweep->shard ? "a part of a sweep is not the sweep" : SweepPlot::obstacle(points.request()); !options.plot.empty() && !obstacle.empty()) {
        *context.err << "kvplan: --plot: " << obstacle << "\n";
        context.exit_code = kUsage;
        return;
    }
    Run run(*sweep, points, options, context);
    if (options.top) run.selected(sweep::Top(static_cast<std::size_t>(*options.top), *sweep->by));
    else if (!sweep->pareto.empty()) run.selected(sweep::Pareto(sweep->pareto));
    else run.all();
    show_chart(run.chart(), options.plot, context);
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
    command->add_option("--shard", options->shard, "One of N parts of the points, i/N; auto or auto/N: the part of this Slurm array task, Kubernetes job index or MPI rank. {shard} in --output is its number")->type_name("i/N");
    command->add_option("--plot", options->plot, "The first column with numbers as a picture, .svg or .png: a curve over one field, a heat map over two")->type_name("FILE");
    command->add_flag("--resume", options->resume, "Go on from FILE.part of the same sweep that was stopped");
    command->add_option("--threads", options->threads, "Default: all cores; the rows are the same for any number")->check(CLI::Range(1, 1024).description(""))->type_name("N");
    const auto scenario_options = add_scenario_options(*command, context);
    command->callback([options, scenario_options, &context] { sweep_all(*options, *scenario_options, context); });
}

}  // namespace kvplan::cli
