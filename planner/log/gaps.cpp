#include "planner/log/gaps.hpp"

#include <algorithm>
#include <cmath>

#include "planner/log/causes.hpp"

namespace kvplan::logs {

namespace {

constexpr double kGap = 0.01;

double d(Bytes bytes) { return static_cast<double>(bytes.count()); }

class Rows {
public:
    void add(std::string_view field, const std::optional<Bytes>& seen, const Estimate<Bytes>& planned) {
        add(field, RowUnit::bytes, seen ? std::optional(d(*seen)) : std::nullopt, d(planned.expected), d(planned.low), d(planned.high));
    }
    void add(std::string_view field, const std::optional<Bytes>& seen, std::optional<Bytes> planned) {
        const auto value = planned ? std::optional(d(*planned)) : std::nullopt;
        add(field, RowUnit::bytes, seen ? std::optional(d(*seen)) : std::nullopt, value, value, value);
    }
    void count(std::string_view field, RowUnit unit, const std::optional<std::int64_t>& seen, std::optional<std::int64_t> planned) {
        const auto value = planned ? std::optional(static_cast<double>(*planned)) : std::nullopt;
        add(field, unit, seen ? std::optional(static_cast<double>(*seen)) : std::nullopt, value, value, value);
    }
    void add(std::string_view field, RowUnit unit, std::optional<double> seen, std::optional<double> planned, std::optional<double> low, std::optional<double> high) {
        if (!seen && !planned) return;
        FigureRow row;
        row.field = field;
        row.unit = unit;
        row.observed = seen;
        row.planned = planned;
        row.planned_low = low;
        row.planned_high = high;
        rows_.push_back(std::move(row));
    }
    std::vector<FigureRow> rows_;
};

std::optional<Bytes> planned_graphs(const Plan& plan) {
    std::optional<Bytes> sum;
    for (const NamedBytes& item : plan.gpu.slack_items)
        if (item.name == "decode_graphs" || item.name == "prefill_graphs" || item.name == "cuda_graphs") sum = sum.value_or(Bytes{0}) + item.bytes;
    return sum;
}

std::vector<FigureRow> rows_of(const Observed& seen, const Plan& plan) {
    Rows rows;
    const CapacityPlan& capacity = plan.capacity;
    rows.add("gpu.free_before_load_bytes", seen.free_before_load, plan.gpu.free_before_load_bytes);
    rows.add("gpu.weights_bytes", seen.weights, plan.weights.bytes_per_rank);
    const auto& tokens = capacity.max_total_num_tokens;
    // What the pool's tensors take over the tokens it holds: window pools have fewer slots, so the plan's is formed alike.
    if (seen.bytes_per_token && tokens.expected.count() > 0) {
        const double cell = d(plan.gpu.kv_pool_bytes) / static_cast<double>(tokens.expected.count());
        rows.add("kv_cache.bytes_per_token", RowUnit::bytes_per_token, seen.bytes_per_token, cell, cell, cell);
    }
    rows.add("gpu.kv_pool_bytes", seen.kv_pool, std::optional(plan.gpu.kv_pool_bytes));
    if (seen.state_pool || plan.gpu.state_pool_bytes.count() > 0) rows.add("gpu.state_pool_bytes", seen.state_pool, std::optional(plan.gpu.state_pool_bytes));
    rows.add("capacity.max_total_num_tokens", RowUnit::tokens, seen.max_total_num_tokens ? std::optional(static_cast<double>(*seen.max_total_num_tokens)) : std::nullopt,
             static_cast<double>(tokens.expected.count()), static_cast<double>(tokens.low.count()), static_cast<double>(tokens.high.count()));
    rows.count("capacity.swa_tokens", RowUnit::tokens, seen.swa_tokens, capacity.swa_tokens ? std::optional(capacity.swa_tokens->count()) : std::nullopt);
    rows.count("capacity.state_slots", RowUnit::slots, seen.state_slots, capacity.state_slots);
    rows.count("capacity.max_running_requests", RowUnit::requests, seen.max_running_requests, capacity.max_running_requests.count());
    rows.add("gpu.graphs_bytes", seen.graphs, planned_graphs(plan));
    rows.add("gpu.left_after_pools_bytes", seen.left_after_pools, plan.gpu.left_after_pools_bytes);
    rows.add("gpu.left_after_graphs_bytes", seen.left_after_graphs, plan.gpu.left_after_graphs_bytes);
    if (seen.host_bytes_per_rank || plan.hicache.enabled)
        rows.add("hicache.bytes_per_rank", seen.host_bytes_per_rank, plan.hicache.enabled ? std::optional(plan.hicache.bytes_per_rank) : std::nullopt);
    return std::move(rows.rows_);
}

// A figure printed with two decimals of a GiB cannot be held to one per cent when it is small. What is left over is the
// remainder of far larger figures: it has to differ by a quarter of a per cent of the card as well.
bool differs(const FigureRow& row, const Plan& plan) {
    if (!row.observed || !row.planned) return false;
    const double difference = std::abs(*row.observed - *row.planned);
    double rounding = row.unit == RowUnit::bytes ? 2 * kRoundingGib * static_cast<double>(kGiB) : 0.0;
    if (row.field.substr(0, 8) == "gpu.left") rounding = std::max(rounding, 0.0025 * d(plan.gpu.free_before_load_bytes.expected));
    return difference > rounding && difference > kGap * std::max(std::abs(*row.observed), std::abs(*row.planned));
}

RuleDate day_before(RuleDate day) {
    const int y = day.yyyymmdd / 10000, m = day.yyyymmdd / 100 % 100, dd = day.yyyymmdd % 100;
    if (dd > 1) return {day.yyyymmdd - 1};
    constexpr int kDays[] = {31, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30};   // of the month before
    if (m == 1) return {(y - 1) * 10000 + 1231};
    return {y * 10000 + (m - 1) * 100 + kDays[m - 1]};
}

}  // namespace

std::string version_by_wording(const StartRecord& start) {
    int day = start.last_day > 19000101 ? start.last_day : 0;
    if (start.until.yyyymmdd != 0) {
        const int before = day_before(start.until).yyyymmdd;
        day = day == 0 ? before : std::min(day, before);
    }
    if (day != 0 && day < start.since.yyyymmdd) day = start.since.yyyymmdd;
    if (day == 0) return {};
    const std::string digits = std::to_string(day);
    return digits.substr(0, 4) + "-" + digits.substr(4, 2) + "-" + digits.substr(6);
}

Comparison compare(const Scenario& scenario, const StartRecord& start, const Observed& seen) {
    Comparison result;
    result.planned = plan(scenario);
    result.rows = rows_of(seen, result.planned);
    CauseInput input{&scenario, &start, &seen, &result.planned, std::nullopt, std::nullopt};
    Scenario measured = scenario;
    if (seen.free_before_load && scenario.engine.kind == EngineKind::sglang) measured.hardware.gpu_free = seen.free_before_load;
    if (seen.free_before_load) input.with_free = plan(measured);
    if (seen.free_before_load && seen.free_after_load) measured.weights_per_gpu = *seen.free_before_load - *seen.free_after_load;
    else if (seen.weights) measured.weights_per_gpu = seen.weights;
    if (measured.weights_per_gpu) input.with_weights = plan(measured);
    for (const FigureRow& row : result.rows) {
        if (!differs(row, result.planned)) continue;
        Gap gap{row.field, *row.observed, *row.planned, row.unit, "unexplained", {}};
        if (auto cause = find_cause(input, row)) {
            gap.cause = std::move(cause->code);
            gap.evidence = std::move(cause->evidence);
        }
        result.gaps.push_back(std::move(gap));
    }
    return result;
}

}  // namespace kvplan::logs
