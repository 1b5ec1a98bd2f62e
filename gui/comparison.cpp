#include "gui/comparison.hpp"

#include <algorithm>
#include <cmath>

#include "planner/fields/fields.hpp"
#include "planner/sweep/figures.hpp"
#include "units/format.hpp"

namespace kvplan::gui {

namespace {

enum class Sort { count, real, gib, gb, seconds, verdict };
struct Line {
    const char* figure;
    const char* label;
    Sort sort;
    int good;   // 1: more is better, -1: less is better, 0: neither
};

constexpr Line kLines[] = {
    {"fits", "fits", Sort::verdict, 1},
    {"safe", "safe for the host", Sort::verdict, 1},
    {"gpu.weights_bytes", "weights of a GPU", Sort::gib, -1},
    {"gpu.kv_pool_bytes", "KV pool of a GPU", Sort::gib, 1},
    {"gpu.shortfall_bytes", "shortfall of a GPU", Sort::gib, -1},
    {"kv_cache.bytes_per_token", "KV bytes per token", Sort::real, -1},
    {"capacity.max_total_num_tokens", "tokens of a rank", Sort::count, 1},
    {"capacity.distinct_tokens", "tokens of the deployment", Sort::count, 1},
    {"hicache.bytes_per_node", "host cache of a node", Sort::gb, 0},
    {"host.required_bytes", "host RAM required", Sort::gb, -1},
    {"host.headroom_bytes", "host RAM left", Sort::gb, 1},
    {"concurrency.full_length", "requests at full length", Sort::real, 1},
    {"concurrency.steady_state", "requests, steady state", Sort::real, 1},
    {"throughput.output_tokens_per_second", "output tokens/s, bound", Sort::real, 1},
    {"throughput.expected_output_tokens_per_second", "output tokens/s, expected", Sort::real, 1},
    {"latency.ttft_seconds", "time to first token", Sort::seconds, -1},
    {"latency.itl_seconds", "time between tokens", Sort::seconds, -1},
};

std::string written(Sort sort, double value) {
    switch (sort) {
        case Sort::count: return with_commas(std::llround(value));
        case Sort::real: return fixed(value, std::abs(value) < 100 ? 2 : 0);
        case Sort::gib: return fixed(value / static_cast<double>(kGiB), 2) + " GiB";
        case Sort::gb: return fixed(value / static_cast<double>(kGB), 2) + " GB";
        case Sort::seconds: return duration(value);
        case Sort::verdict: return value > 0 ? "yes" : "no";
    }
    return {};
}

Change judged(int good, double difference) {
    if (difference == 0.0) return Change::none;
    if (good == 0) return Change::other;
    return (difference > 0) == (good > 0) ? Change::better : Change::worse;
}

ComparedCell cell(const Line& line, const sweep::Cell& first, const sweep::Cell& now) {
    if (now.kind == sweep::CellKind::null) return {"not known", "", Change::none};
    ComparedCell compared{written(line.sort, now.number), "", Change::none};
    if (first.kind == sweep::CellKind::null) return compared;
    const double difference = now.number - first.number;
    compared.change = judged(line.good, difference);
    if (difference == 0.0 || line.sort == Sort::verdict) return compared;
    compared.difference = (difference > 0 ? "+" : "-") + written(line.sort, std::abs(difference));
    if (first.number != 0.0) compared.difference += " (" + std::string(difference > 0 ? "+" : "-") + percent(std::abs(difference / first.number)) + ")";
    return compared;
}

}  // namespace

std::vector<ComparedRow> compare(const std::vector<NamedPlan>& plans) {
    std::vector<sweep::Figure> figures;
    std::vector<const Line*> lines;
    Diagnostics ignored;
    for (const Line& line : kLines)
        if (auto figure = sweep::find_figure(line.figure, {}, "", ignored)) figures.push_back(std::move(*figure)), lines.push_back(&line);
    std::vector<ComparedRow> rows(lines.size());
    std::vector<sweep::Cell> first;
    for (const NamedPlan& named : plans) {
        const std::vector<sweep::Cell> cells = sweep::read_figures(figures, *named.plan);
        if (first.empty()) first = cells;
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i].cells.push_back(cell(*lines[i], first[i], cells[i]));
    }
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].label = lines[i]->label, rows[i].figure = lines[i]->figure;
    return rows;
}

std::vector<ComparedRow> differing_fields(const std::vector<NamedPlan>& plans) {
    std::vector<ComparedRow> rows;
    for (const FieldSpec& field : scenario_fields()) {
        ComparedRow row{std::string(field.name), "", {}};
        bool differs = false;
        for (const NamedPlan& named : plans) {
            ComparedCell compared{text_of(field.get(*named.scenario)), "", Change::none};
            if (compared.value.empty()) compared.value = "default";
            if (!row.cells.empty() && compared.value != row.cells.front().value) compared.change = Change::other, differs = true;
            row.cells.push_back(std::move(compared));
        }
        if (differs) rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace kvplan::gui
