#include "planner/sweep/figures.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "planner/export/csv.hpp"
#include "planner/export/json.hpp"

namespace kvplan::sweep {

using Json = nlohmann::ordered_json;

namespace {

constexpr const char* kMembers[] = {"fits", "safe", "rule_set", "weights", "kv_cache", "gpu", "capacity", "hicache", "host", "concurrency", "latency", "throughput", "reuse"};

// A plan with everything in it, for the names alone.
Plan complete_plan() {
    Plan plan;
    plan.safe = true;
    MemFraction& f = plan.gpu.mem_fraction;
    f.feasible_min = f.feasible_max = f.recommended = 0.5;
    CapacityPlan& capacity = plan.capacity;
    capacity.swa_tokens = Tokens{0};
    capacity.state_slots = capacity.state_slots_per_request = 0;
    capacity.max_concurrency_full_context = 0.0;
    plan.hicache.enabled = true;
    plan.host.available_bytes = plan.host.headroom_bytes = Bytes{0};
    plan.host.safe_max = HostPlan::SafeMax{};
    plan.host.min_useful = HostPlan::MinUseful{};
    ConcurrencyPlan& c = plan.concurrency;
    c.full_length = c.steady_state = c.retraction_free = c.admission = c.steady_state_low = c.steady_state_high = c.per_dp_worker = c.token_usage = 0.0;
    plan.latency.ttft_seconds = plan.latency.itl_seconds = plan.latency.startup_seconds = Estimate<double>{};
    plan.throughput.expected_output_tokens_per_second = Estimate<double>{};
    plan.throughput.host_tier.emplace();
    plan.reuse.emplace();
    return plan;
}

Cell cell(const Json& value) {
    if (value.is_object() && value.contains("expected")) return cell(value["expected"]);
    if (value.is_boolean()) return {CellKind::boolean, value.get<bool>() ? 1.0 : 0.0, value.get<bool>() ? "true" : "false"};
    if (value.is_number()) return {CellKind::number, value.get<double>(), value.dump()};
    if (value.is_string()) return {CellKind::text, 0.0, value.get<std::string>()};
    return {};
}

Figure plan_figure(const std::string& name) {
    Figure figure;
    figure.name = name;
    std::string part;
    std::vector<std::string> parts;
    for (const char c : name + ".") {
        if (c == '.') parts.push_back(std::move(part)), part.clear();
        else part += c;
    }
    figure.member = parts.front();
    figure.path.assign(parts.begin() + 1, parts.end());
    figure.invalid = name == "invalid";
    return figure;
}

bool ends_with_part(const std::string& name, std::string_view end) {
    return name == end || (name.size() > end.size() && name[name.size() - end.size() - 1] == '.' && name.compare(name.size() - end.size(), end.size(), end) == 0);
}

}  // namespace

Cell cell_of(std::string_view typed) {
    const Json value = Json::parse(typed.begin(), typed.end(), nullptr, false);
    if (value.is_number() && typed.find_first_of(" \t\n\r") == std::string_view::npos) return {CellKind::number, value.get<double>(), std::string(typed)};
    if (value.is_boolean()) return cell(value);
    return {CellKind::text, 0.0, std::string(typed)};
}

const std::vector<std::string>& figure_names() {
    static const std::vector<std::string> all = [] {
        std::vector<std::string> names;
        const Plan plan = complete_plan();
        for (const char* member : kMembers)
            for (const exporting::CsvCell& found : exporting::flatten({{member, exporting::plan_member(plan, member)}})) names.push_back(found.name);
        names.emplace_back("invalid");
        return names;
    }();
    return all;
}

std::optional<Figure> find_figure(std::string_view name, const std::vector<Axis>& axes, std::string_view flag, Diagnostics& diagnostics) {
    for (std::size_t i = 0; i < axes.size(); ++i)
        if (axes[i].field == find_field(name)) return Figure{std::string(axes[i].field->name), i, {}, {}, false};
    std::vector<std::string> matches;
    for (const std::string& known : figure_names()) {
        if (known == name) return plan_figure(known);
        if (ends_with_part(known, name)) matches.push_back(known);
    }
    if (matches.size() == 1) return plan_figure(matches.front());
    Diagnostic diagnostic;
    diagnostic.code = matches.empty() ? "sweep.unknown-figure" : "sweep.ambiguous-figure";
    diagnostic.pointer = std::string(flag);
    diagnostic.message = (matches.empty() ? "no figure of a plan and no swept field is called " : "several figures are called ") + std::string(name);
    diagnostic.found = std::string(name);
    for (const std::string& match : matches) diagnostic.expected += (diagnostic.expected.empty() ? "one of " : ", ") + match;
    if (matches.empty()) diagnostic.hint = did_you_mean(nearest_names(name, std::span<const std::string>(figure_names())));
    diagnostics.add(std::move(diagnostic));
    return std::nullopt;
}

std::vector<Cell> read_figures(const std::vector<Figure>& figures, const Plan& plan) {
    std::map<std::string_view, Json> members;
    std::vector<Cell> cells;
    cells.reserve(figures.size());
    for (const Figure& figure : figures) {
        if (figure.axis || figure.invalid) {
            cells.emplace_back();
            continue;
        }
        auto found = members.find(figure.member);
        if (found == members.end()) found = members.emplace(figure.member, exporting::plan_member(plan, figure.member)).first;
        const Json* value = &found->second;
        for (const std::string& part : figure.path) {
            const auto below = value->is_object() ? value->find(part) : value->end();
            value = value->is_object() && below != value->end() ? &*below : nullptr;
            if (value == nullptr) break;
        }
        cells.push_back(value == nullptr ? Cell{} : cell(*value));
    }
    return cells;
}

}  // namespace kvplan::sweep
