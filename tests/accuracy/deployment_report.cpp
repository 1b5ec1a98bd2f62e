#include "tests/accuracy/deployment_report.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "units/format.hpp"

namespace kvplan::accuracy {
namespace {

/// Linear interpolation between order statistics.
double quantile(std::vector<double> values, double q) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const double at = q * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

std::string signed_percent(double error) { return (error >= 0 ? "+" : "-") + percent(std::abs(error), std::abs(error) < 0.001 ? 3 : 2); }
std::string figure(const Comparison& c, double value) { return c.tokens ? with_commas(std::llround(value)) : fixed(value, 2) + " GiB"; }
std::string engine_name(const Deployment& d) { return d.vllm() ? "vLLM" : "SGLang"; }

void line(std::string& text, const std::vector<std::string>& cells) {
    text += "|";
    for (const std::string& cell : cells) text += " " + cell + " |";
    text += "\n";
}

std::vector<Comparison> select(const std::vector<Comparison>& rows, bool vllm, Mode mode, const std::string& attention) {
    std::vector<Comparison> result;
    for (const Comparison& c : rows)
        if (c.row->vllm() == vllm && c.mode == mode && (attention.empty() || c.row->attention == attention) && votes(c)) result.push_back(c);
    return result;
}

std::string summary(const std::vector<Comparison>& rows) {
    std::set<std::string> kinds;
    for (const Comparison& c : rows) kinds.insert(c.row->attention);
    std::string text = "| engine | mode | attention | rows | deployments | median | 90th percentile | worst | interval holds |\n|---|---|---|---:|---:|---:|---:|---:|---:|\n";
    for (const bool vllm : {false, true})
        for (const Mode mode : kModes) {
            const auto add = [&](const std::string& kind) {
                const auto chosen = select(rows, vllm, mode, kind);
                if (chosen.empty()) return;
                const Statistics s = statistics(chosen);
                const bool stated = std::any_of(chosen.begin(), chosen.end(), [](const Comparison& c) { return c.interval; });
                line(text, {vllm ? "vLLM" : "SGLang", std::string(name_of(mode)), kind.empty() ? "**all**" : kind, std::to_string(s.rows), std::to_string(s.votes),
                            percent(s.median, 3), percent(s.p90, 2), percent(s.worst, 2), stated ? percent(coverage(chosen), 0) : ""});
            };
            add("");
            for (const std::string& kind : kinds) add(kind);
        }
    return text;
}

std::string flags_of(const Deployment& d) {
    std::string text;
    for (const char* name : {"tp_size", "pp_size", "dp_size", "mem_fraction_static", "gpu_memory_utilization", "kv_cache_dtype", "context_length"}) {
        const auto found = d.flags.find(name);
        if (found != d.flags.end() && found->second != "1") text += (text.empty() ? "" : ", ") + std::string(name) + " " + found->second;
    }
    return text;
}

std::string row_tables(const std::vector<Comparison>& rows) {
    std::string text;
    for (const Mode mode : kModes) {
        text += "\n### Mode " + std::string(name_of(mode)) + "\n\n| deployment | engine | model, GPU, flags | predicted | observed | off by | basis, interval |\n|---|---|---|---:|---:|---:|---|\n";
        for (const Comparison& c : rows) {
            if (c.mode != mode) continue;
            const Deployment& d = *c.row;
            std::string basis(name_of(c.basis));
            if (c.interval) basis += ", " + figure(c, c.low) + " to " + figure(c, c.high);
            if (c.small_pool && mode == Mode::blind) basis += "; small pool: " + fixed(c.memory_off_gib, 2) + " GiB";
            if (d.fitted && mode == Mode::blind) basis += "; fitted";
            const std::string what = d.model + (d.quantization.empty() ? "" : " " + d.quantization) + ", " + d.gpu + (d.gpu_assumed ? " (assumed)" : "") +
                                     (flags_of(d).empty() ? "" : ", " + flags_of(d));
            line(text, {d.source.rfind("http", 0) == 0 ? "[" + d.id + "](" + d.source + ")" : d.id + " (" + d.source + ")", d.engine + (d.engine_assumed ? " (assumed)" : ""), what, figure(c, c.predicted), figure(c, c.observed),
                        signed_percent(c.error()), basis});
        }
    }
    return text;
}

std::string explanations(const std::vector<Comparison>& rows) {
    std::string text = "\n### Rows off by more than 3 %\n\n";
    for (const Comparison& c : rows) {
        if (std::abs(c.error()) <= 0.03) continue;
        const auto why = c.row->explained.find(c.mode);
        text += "- " + c.row->id + ", " + std::string(name_of(c.mode)) + " (" + signed_percent(c.error()) + "): " + (why == c.row->explained.end() ? "?" : why->second) + "\n";
    }
    return text;
}

std::string left_out(const std::vector<Deployment>& rows) {
    std::string text = "\n### Left out\n\n| deployment | mode | why |\n|---|---|---|\n";
    for (const Deployment& d : rows)
        for (const Mode mode : kModes)
            if (!d.has(mode)) line(text, {d.id, std::string(name_of(mode)), d.left_out.count(mode) > 0 ? d.left_out.at(mode) : "?"});
    return text;
}

std::string feasible_table(const std::vector<FeasibleRow>& rows) {
    std::string text = "\n### Feasible interval of the fraction\n\nEvery start with a known fraction, with free memory and weights as logged where they are.\n\n"
                       "| deployment | engine | fraction | feasible | started | inside |\n|---|---|---:|---|---|---|\n";
    for (const FeasibleRow& r : rows)
        line(text, {r.row->id, engine_name(*r.row), shortest(r.fraction, 4), r.min ? fixed(*r.min, 4) + " to " + fixed(*r.max, 4) : "none", r.started ? "yes" : "no", r.inside() ? "yes" : "no"});
    for (const FeasibleRow& r : rows)
        if (!r.started && r.inside()) text += "\n- " + r.row->id + " failed although its fraction is inside: " + r.row->remark + "\n";
    return text;
}

}  // namespace

Statistics statistics(const std::vector<Comparison>& rows) {
    std::map<std::string, std::vector<double>> by_deployment;
    for (const Comparison& c : rows) by_deployment[c.row->vote()].push_back(std::abs(c.error()));
    std::vector<double> errors;
    Statistics s;
    s.rows = rows.size();
    s.votes = by_deployment.size();
    for (const auto& [key, values] : by_deployment) errors.push_back(quantile(values, 0.5));
    s.median = quantile(errors, 0.5);
    s.p90 = quantile(errors, 0.9);
    s.p95 = quantile(errors, 0.95);
    for (const Comparison& c : rows) s.worst = std::max(s.worst, std::abs(c.error()));
    return s;
}

double coverage(const std::vector<Comparison>& rows) {
    double stated = 0, held = 0;
    for (const Comparison& c : rows) {
        if (!c.interval) continue;
        ++stated;
        held += c.contains() ? 1 : 0;
    }
    return stated > 0 ? held / stated : 1.0;
}

bool votes(const Comparison& c) { return c.mode != Mode::blind || (!c.row->fitted && !c.small_pool); }

std::vector<FeasibleRow> feasible_rows(const std::vector<Deployment>& rows) {
    std::vector<FeasibleRow> result;
    for (const Deployment& d : rows) {
        const auto flag = d.flags.find(d.vllm() ? "gpu_memory_utilization" : "mem_fraction_static");
        // Weights that nobody stated decide the lower end: a row needs them measured or computable.
        const bool known = d.given.count("weights_gib") > 0 || d.has(Mode::weights);
        if (flag == d.flags.end() || !known || d.gpu_assumed) continue;
        Scenario scenario = scenario_of(d, Mode::blind);
        const auto bytes = [&](const char* name) { return nearest_bytes(d.given.at(name) * static_cast<double>(kGiB)); };
        if (d.given.count("weights_gib") > 0) scenario.weights_per_gpu = bytes("weights_gib");
        if (d.given.count("gpu_free_gib") > 0) scenario.hardware.gpu_free = bytes("gpu_free_gib");
        const Plan planned = plan(scenario);
        const MemFraction& f = planned.gpu.mem_fraction;
        result.push_back({&d, std::stod(flag->second), f.feasible_min, f.feasible_max, d.started.value_or(true), planned.fits});
    }
    return result;
}

std::string deployments_markdown(const std::vector<Deployment>& rows, const std::vector<Comparison>& compared, const std::vector<FeasibleRow>& feasible) {
    return "\n" + summary(compared) + explanations(compared) + feasible_table(feasible) + row_tables(compared) + left_out(rows) + "\n";
}

}  // namespace kvplan::accuracy
