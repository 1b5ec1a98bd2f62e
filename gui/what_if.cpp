#include "gui/what_if.hpp"

#include <algorithm>
#include <cmath>

#include "planner/sweep/points.hpp"
#include "units/format.hpp"
#include "units/parse.hpp"

namespace kvplan::gui {

namespace {

charts::Unit unit_of(const std::string& figure) {
    const auto ends = [&](std::string_view end) { return figure.size() >= end.size() && figure.compare(figure.size() - end.size(), end.size(), end) == 0; };
    if (ends("_seconds")) return charts::Unit::seconds;
    if (ends("bytes") || ends("bytes_per_rank") || ends("bytes_per_node") || ends("bytes_per_slot")) return figure.rfind("host", 0) == 0 || figure.rfind("hicache", 0) == 0 ? charts::Unit::decimal_bytes : charts::Unit::binary_bytes;
    return charts::Unit::plain;
}

// A value of an axis as a number, where it is one: "0.85", "39", "400GB".
std::optional<double> number_of(const std::string& text) {
    if (const auto real = parse_real(text); parse_ok(real)) return std::get<double>(real);
    if (const auto size = parse_size(text); parse_ok(size)) return static_cast<double>(std::get<Bytes>(size).count());
    return std::nullopt;
}

bool holds(const sweep::Row& row) {
    // The figures after the first are "fits" and "safe"; a plan that says nothing of safety is not held against it.
    const sweep::Cell &fits = row.cells[1], &safe = row.cells[2];
    return row.valid && fits.number > 0 && (safe.kind != sweep::CellKind::boolean || safe.number > 0);
}

std::optional<sweep::Request> request_of(const WhatIfQuestion& question, const Scenario& base, const CatalogueOptions& catalogues, Diagnostics& diagnostics) {
    sweep::Request request{base, catalogues, {}, {}, std::nullopt};
    const auto add = [&](const std::string& field, const std::string& values) {
        if (auto axis = sweep::parse_axis(field + "=" + values, diagnostics)) request.grid.axes.push_back(std::move(*axis));
    };
    if (!question.z_field.empty()) add(question.z_field, question.z_values);
    add(question.x_field, question.x_values);
    for (const std::string& name : {question.y_figure, std::string("fits"), std::string("safe")})
        if (auto figure = sweep::find_figure(name, {}, "y", diagnostics)) request.figures.push_back(std::move(*figure));
    if (diagnostics.has_errors() || !sweep::check(request.grid, diagnostics)) return std::nullopt;
    if (request.grid.points() > kMostWhatIfPoints) {
        Diagnostic fault;
        fault.code = "what-if.points";
        fault.message = with_commas(request.grid.points()) + " points are too many for a picture";
        fault.hint = "at most " + with_commas(kMostWhatIfPoints) + "; kvplan sweep takes any number";
        diagnostics.add(std::move(fault));
        return std::nullopt;
    }
    // What an axis names is looked up anew for each of its values.
    for (const sweep::Axis& axis : request.grid.axes) {
        if (axis.field->name == "model" || axis.field->name == "quantization") request.base.model.reset();
        if (axis.field->name == "draft_model") request.base.draft_model.reset();
        if (axis.field->name == "gpu") request.base.gpu.reset(), request.base.free_memory.reset(), request.base.hardware.gpus_per_node.reset();
        if (axis.field->name == "workload_from") request.base.reuse.reset();
    }
    return request;
}

}  // namespace

std::optional<WhatIfAnswer> answer(const WhatIfQuestion& question, const Scenario& base, const CatalogueOptions& catalogues, Progress& progress, Diagnostics& diagnostics) {
    auto request = request_of(question, base, catalogues, diagnostics);
    if (!request) return std::nullopt;
    sweep::Points points(std::move(*request));
    if (!points.look_up_all(diagnostics)) return std::nullopt;
    const std::vector<sweep::Axis>& axes = points.request().grid.axes;
    const sweep::Axis& x = axes.back();
    const std::int64_t curves = axes.size() > 1 ? axes.front().size() : 1;
    WhatIfAnswer result;
    const charts::Unit unit = unit_of(question.y_figure);
    result.lines.title = result.map.title = question.y_figure + " by " + question.x_field;
    result.lines.x = {question.x_field, charts::Unit::plain, false, {}, {}};
    result.lines.y = {question.y_figure, unit, false, {}, {}};
    result.map.x.title = question.x_field;
    result.map.y.title = axes.size() > 1 ? question.z_field : std::string();
    result.map.value = {question.y_figure, unit, false, {}, {}};
    for (std::int64_t i = 0; i < x.size(); ++i) result.map.columns.push_back(x.value(i));
    for (std::int64_t z = 0; z < curves; ++z) {
        charts::Series series{axes.size() > 1 ? question.z_field + " " + axes.front().value(z) : std::string(), {}, false};
        if (axes.size() > 1) result.map.rows.push_back(axes.front().value(z));
        else result.map.rows.emplace_back();
        for (std::int64_t i = 0; i < x.size(); ++i) {
            if (progress.cancelled()) throw Cancelled{};
            const double at = number_of(x.value(i)).value_or(static_cast<double>(i));
            result.lines.x.least = std::min(result.lines.x.least.value_or(at), at);
            result.lines.x.most = std::max(result.lines.x.most.value_or(at), at);
            const std::int64_t number = z * x.size() + i;
            const sweep::Row row = points.row(number);
            ++result.points;
            const bool good = holds(row) && row.cells[0].kind == sweep::CellKind::number;
            if (!good) ++result.infeasible;
            result.map.cells.push_back(good ? std::optional<double>(row.cells[0].number) : std::nullopt);
            if (good) series.points.push_back({at, row.cells[0].number});
            progress.set(static_cast<double>(number + 1) / static_cast<double>(curves * x.size()));
        }
        std::sort(series.points.begin(), series.points.end(), [](const charts::Point& a, const charts::Point& b) { return a.x < b.x; });
        result.lines.series.push_back(std::move(series));
    }
    return result;
}

std::string suggested_values(std::string_view field, const Scenario& scenario, const Plan& plan) {
    if (field == "mem_fraction_static" || field == "gpu_memory_utilization") return "0.76:0.97:0.005";
    if (field == "hicache_size") {
        const std::int64_t safe = plan.host.safe_max ? plan.host.safe_max->hicache_size_gb.value_or(40) : 40;
        return "1:" + std::to_string(std::max<std::int64_t>(20, safe * 3 / 2)) + ":1";
    }
    if (field == "kv_cache_dtype") return "bfloat16,fp8_e4m3";
    if (field == "tp_size") return "1,2,4,8";
    if (field == "gpu") return "h100,h200,b200,rtx-pro-6000-blackwell";
    const FieldSpec* spec = find_field(field);
    if (spec == nullptr) return {};
    const FieldValue value = spec->get(scenario);
    if (spec->kind == FieldKind::boolean) return "false,true";
    double now = 0.0;
    if (const auto* n = std::get_if<std::int64_t>(&value)) now = static_cast<double>(*n);
    else if (const auto* x = std::get_if<double>(&value)) now = *x;
    else if (const auto* bytes = std::get_if<Bytes>(&value)) {
        const auto gb = static_cast<std::int64_t>(std::max(1.0, in_gb(*bytes)));
        return std::to_string(std::max<std::int64_t>(1, gb / 2)) + "GB:" + std::to_string(gb * 2) + "GB:" + std::to_string(std::max<std::int64_t>(1, gb / 20)) + "GB";
    } else {
        return text_of(value);
    }
    const auto whole = static_cast<std::int64_t>(std::llround(now));
    if (now > 0 && now <= 1.0 && spec->kind == FieldKind::real) return "0.05:0.95:0.05";
    if (whole <= 0) return "1,2,4,8";
    return std::to_string(std::max<std::int64_t>(1, whole / 4)) + ":" + std::to_string(whole * 3) + ":" + std::to_string(std::max<std::int64_t>(1, whole / 10));
}

}  // namespace kvplan::gui
