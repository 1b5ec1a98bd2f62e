// Why an observed figure is not the planned one. Each rule names what speaks for it; the first that holds is told.
#include "planner/log/causes.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "planner/engines/engine.hpp"
#include "units/format.hpp"

namespace kvplan::logs {

const std::vector<CauseText>& causes() {
    static const std::vector<CauseText> all = {
        {"foreign_memory", "Another process held memory on the GPU when the server started: less was free than this GPU has alone."},
        {"other_gpu", "More memory was free than the named GPU can have: it is another GPU."},
        {"within_estimate", "The planned figure is an estimate, and the observed one lies within its interval."},
        {"assumed_cost", "The planned figure is an assumption of the planner, no rule of the engine; a calibration takes the measured one."},
        {"free_memory", "It follows from the measured free memory: with it the plan gives the observed figure."},
        {"weights", "It follows from the measured weights: with them the plan gives the observed figure."},
        {"loader_temporaries", "What the loader had not given back counted as used when the pool was sized: the pool is far too small and memory lies idle (fixed on 2026-08-27)."},
        {"draft_not_counted", "The draft model's weights or KV are outside the printed figure, or were not budgeted."},
        {"draft_counted_twice", "The draft model's embedding and lm_head were loaded beside the target's."},
        {"indexer_outside", "The sparse-attention indexer's keys are allocated beside the printed pool size."},
        {"fraction_of_total", "The fraction was taken of the card's total memory, not of what was free before load."},
        {"fraction_not_as_told", "The pools imply another fraction than the settings say."},
        {"capped_tokens", "--max-total-tokens (or an overridden number of blocks) limits the pool."},
        {"unbalanced_ranks", "The ranks had unequal memory left; the smallest decides for all."},
        {"kv_dtype", "KV is stored in another type than was asked for."},
        {"weights_format", "The weights are not in the format that the config names."},
        {"hybrid_pools", "Full, window or state layers share the budget otherwise than planned."},
        {"other_rule_set", "The rules of another version of the engine give the observed figure."},
        {"vllm_overhead", "vLLM measured another activation peak or communicator than the model of its profile run."},
        {"requests_by_pool", "The number of running requests follows from the observed pool."},
        {"host_size_of_pool", "The host pools follow from the observed device pool."},
        {"pool_differs", "It is the pool's gap seen from the other side."},
        {"unexplained", "No rule of the planner explains it."},
    };
    return all;
}

namespace {

double d(Bytes bytes) { return static_cast<double>(bytes.count()); }
std::string gib(double bytes) { return fixed(bytes / static_cast<double>(kGiB), 2) + " GiB"; }
bool near(double a, double b, double tolerance = 0.01) { return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b)); }

using Rule = std::optional<Cause> (*)(const CauseInput&, const FigureRow&);

Cause because(std::string code, std::vector<std::string> evidence) { return {std::move(code), std::move(evidence)}; }

/// The row's figure in another plan.
std::optional<double> figure(const Plan& plan, std::string_view field) {
    if (field == "gpu.free_before_load_bytes") return d(plan.gpu.free_before_load_bytes.expected);
    if (field == "gpu.weights_bytes") return d(plan.weights.bytes_per_rank.expected);
    if (field == "gpu.kv_pool_bytes") return d(plan.gpu.kv_pool_bytes);
    if (field == "gpu.state_pool_bytes") return d(plan.gpu.state_pool_bytes);
    if (field == "gpu.left_after_pools_bytes") return d(plan.gpu.left_after_pools_bytes.expected);
    if (field == "gpu.left_after_graphs_bytes") return d(plan.gpu.left_after_graphs_bytes.expected);
    if (field == "capacity.max_total_num_tokens") return static_cast<double>(plan.capacity.max_total_num_tokens.expected.count());
    if (field == "capacity.max_running_requests") return static_cast<double>(plan.capacity.max_running_requests.count());
    if (field == "capacity.swa_tokens" && plan.capacity.swa_tokens) return static_cast<double>(plan.capacity.swa_tokens->count());
    if (field == "capacity.state_slots" && plan.capacity.state_slots) return static_cast<double>(*plan.capacity.state_slots);
    if (field == "hicache.bytes_per_rank") return d(plan.hicache.bytes_per_rank);
    if (field == "kv_cache.bytes_per_token" && plan.capacity.max_total_num_tokens.expected.count() > 0)
        return d(plan.gpu.kv_pool_bytes) / static_cast<double>(plan.capacity.max_total_num_tokens.expected.count());
    return std::nullopt;
}

bool is_pool_size(std::string_view field) {
    return field == "capacity.max_total_num_tokens" || field == "gpu.kv_pool_bytes" || field == "capacity.swa_tokens" || field == "capacity.state_slots" || field == "gpu.state_pool_bytes";
}

// --- free memory

std::optional<Cause> foreign_memory(const CauseInput&, const FigureRow& row) {
    if (row.field != "gpu.free_before_load_bytes" || *row.observed >= *row.planned_low) return std::nullopt;
    return because("foreign_memory", {gib(*row.planned_low - *row.observed) + " less than the least this GPU has free on its own", "kvplan doctor shows who holds memory"});
}

std::optional<Cause> other_gpu(const CauseInput& in, const FigureRow& row) {
    if (row.field != "gpu.free_before_load_bytes" || *row.observed <= std::max(*row.planned_high, d(in.planned->gpu.total_bytes))) return std::nullopt;
    return because("other_gpu", {"the named GPU has " + gib(d(in.planned->gpu.total_bytes)) + " in all"});
}

// --- weights

std::optional<Cause> weights_format(const CauseInput& in, const FigureRow& row) {
    if (row.field != "gpu.weights_bytes") return std::nullopt;
    const double ratio = *row.observed / *row.planned;
    const auto* computed = in.scenario->weights_per_gpu ? nullptr : &in.planned->weights;
    if (computed == nullptr || (ratio > 0.72 && ratio < 1.6)) return std::nullopt;
    const double per_element = *row.observed / *row.planned * static_cast<double>(computed->checkpoint_bytes.count()) / std::max(1.0, static_cast<double>(computed->stored_elements)) ;
    return because("weights_format", {"the weights take " + fixed(ratio, 2) + " times the plan's, about " + fixed(per_element, 2) + " bytes an element",
                                      "name the format with --quantization, or the checkpoint's directory with --model"});
}

std::optional<Cause> draft_weights(const CauseInput& in, const FigureRow& row) {
    if (row.field != "gpu.weights_bytes" || in.planned->weights.draft_bytes.count() == 0) return std::nullopt;
    const double draft = d(in.planned->weights.draft_bytes);
    if (in.seen->draft_weights && near(*row.observed + d(*in.seen->draft_weights), *row.planned, 0.02))
        return because("draft_not_counted", {"the drafter loads on its own line: " + gib(d(*in.seen->draft_weights))});
    if (near(*row.observed, *row.planned - draft, 0.02)) return because("draft_not_counted", {"without the drafter's " + gib(draft) + " the plan agrees"});
    return std::nullopt;
}

// A drafter of the target's own family shares its embedding and lm_head, unless the loader gave it copies.
std::optional<Cause> draft_twice(const CauseInput& in, const FigureRow& row) {
    const bool pool = is_pool_size(row.field);
    if ((!pool && row.field != "gpu.weights_bytes") || (pool && *row.observed > *row.planned) || !in.seen->draft_weights) return std::nullopt;
    double shared = 0.0;
    for (const WeightComponent& component : in.planned->weights.components)
        if (component.name == "embedding" || component.name == "lm_head") shared += d(component.bytes_per_rank);
    const double more = d(*in.seen->draft_weights) - d(in.planned->weights.draft_bytes);
    if (shared <= 0 || !near(more, shared, 0.1)) return std::nullopt;
    return because("draft_counted_twice", {"the drafter took " + gib(d(*in.seen->draft_weights)) + ", " + gib(more) + " more than its own tensors", "embedding and lm_head of a rank are " + gib(shared)});
}

// --- bytes per token

std::optional<Cause> kv_dtype(const CauseInput& in, const FigureRow& row) {
    if (row.field != "kv_cache.bytes_per_token" && row.field != "capacity.max_total_num_tokens") return std::nullopt;
    const std::string planned(in.planned->kv_cache.dtype);
    if (in.seen->kv_dtype && *in.seen->kv_dtype != planned) return because("kv_dtype", {"the log says " + *in.seen->kv_dtype + ", the plan has " + planned});
    if (row.field != "kv_cache.bytes_per_token") return std::nullopt;
    for (const double ratio : {2.0, 0.5, 0.5625, 0.28125})
        if (near(*row.observed / *row.planned, ratio, 0.015))
            return because("kv_dtype", {"a token takes " + fixed(*row.observed / *row.planned, 3) + " times the bytes of " + planned, "check that the KV type's flag reached the server"});
    return std::nullopt;
}

double group_bytes(const Plan& plan, KvGroupKind kind) {
    double sum = 0;
    for (const KvGroup& group : plan.kv_cache.groups)
        if (group.kind == kind) sum += group.bytes_per_token.value;
    return sum;
}

std::optional<Cause> indexer_outside(const CauseInput& in, const FigureRow& row) {
    if (row.field != "kv_cache.bytes_per_token" && row.field != "gpu.kv_pool_bytes") return std::nullopt;
    const double index = group_bytes(*in.planned, KvGroupKind::indexer), draft = group_bytes(*in.planned, KvGroupKind::draft);
    const double cell = in.planned->kv_cache.bytes_per_token.value;
    const auto seen = in.seen->bytes_per_token;
    if (!seen || cell <= 0) return std::nullopt;
    if (index > 0 && (near(*seen, cell - index) || near(*seen, cell - index - draft)))
        return because("indexer_outside", {fixed(*seen, 0) + " printed + " + fixed(index, 0) + " of index keys a token"});
    if (draft > 0 && near(*seen, cell - draft)) return because("draft_not_counted", {fixed(*seen, 0) + " printed + " + fixed(draft, 0) + " of the drafter's KV a token"});
    return std::nullopt;
}

// --- pool sizes

std::optional<Cause> capped_tokens(const CauseInput& in, const FigureRow& row) {
    if (row.field != "capacity.max_total_num_tokens" && row.field != "gpu.kv_pool_bytes") return std::nullopt;
    if (const auto& cap = in.scenario->engine.max_total_tokens; cap && in.seen->max_total_num_tokens && *in.seen->max_total_num_tokens <= *cap && near(static_cast<double>(*in.seen->max_total_num_tokens), static_cast<double>(*cap)))
        return because("capped_tokens", {"--max-total-tokens " + with_commas(*cap)});
    if (in.scenario->engine.num_gpu_blocks_override) return because("capped_tokens", {"num_gpu_blocks_override " + with_commas(*in.scenario->engine.num_gpu_blocks_override)});
    // An excerpt without the settings: nobody's memory is a round number of tokens while the rest lies idle.
    const auto left = in.seen->left_after_graphs ? in.seen->left_after_graphs : in.seen->left_after_pools;
    if (!left || !in.seen->max_total_num_tokens || in.scenario->engine.max_total_tokens || in.start->configuration.find("max_total_tokens") != nullptr) return std::nullopt;
    const std::int64_t tokens = *in.seen->max_total_num_tokens;
    const double lost = (static_cast<double>(in.planned->capacity.max_total_num_tokens.expected.count()) - static_cast<double>(tokens)) * in.planned->kv_cache.bytes_per_token.value;
    const double idle = d(*left) - d(in.seen->left_after_graphs ? in.planned->gpu.left_after_graphs_bytes.high : in.planned->gpu.left_after_pools_bytes.high);
    if (tokens <= 0 || (tokens % 1024 != 0 && tokens % 1000 != 0) || lost <= 0 || idle < 0.5 * lost) return std::nullopt;
    return because("capped_tokens", {with_commas(tokens) + " is a round number and " + gib(d(*left)) + " lie idle; the settings are not in the log"});
}

std::optional<Cause> free_memory(const CauseInput& in, const FigureRow& row) {
    if (row.field == "gpu.free_before_load_bytes" || row.field == "gpu.weights_bytes" || !in.with_free) return std::nullopt;
    const auto with = figure(*in.with_free, row.field);
    if (!with || !near(*with, *row.observed) || near(*row.planned, *with, 0.003)) return std::nullopt;
    // When the measured weights put it out again, the agreement is a coincidence.
    const auto both = in.with_weights ? figure(*in.with_weights, row.field) : std::nullopt;
    if (both && !near(*both, *row.observed, 0.02)) return std::nullopt;
    return because("free_memory", {"with " + gib(d(*in.seen->free_before_load)) + " free before load the plan gives " + fixed(*with, 0)});
}

std::optional<Cause> measured_weights(const CauseInput& in, const FigureRow& row) {
    if (row.field == "gpu.free_before_load_bytes" || row.field == "gpu.weights_bytes" || !in.with_weights) return std::nullopt;
    const auto with = figure(*in.with_weights, row.field);
    if (!with || !near(*with, *row.observed) || near(*row.planned, *with, 0.003)) return std::nullopt;
    return because("weights", {"with the measured weights the plan gives " + fixed(*with, 0)});
}

// The pool is far too small and what it lacks lies idle.
std::optional<Cause> loader_temporaries(const CauseInput& in, const FigureRow& row) {
    const bool weights = row.field == "gpu.weights_bytes";
    if (!weights && !is_pool_size(row.field)) return std::nullopt;
    const auto left = in.seen->left_after_graphs ? in.seen->left_after_graphs : in.seen->left_after_pools;
    if (!left || !in.seen->max_total_num_tokens) return std::nullopt;
    const double planned = static_cast<double>(in.planned->capacity.max_total_num_tokens.expected.count());
    const double seen = static_cast<double>(*in.seen->max_total_num_tokens);
    const double lost = (planned - seen) * in.planned->kv_cache.bytes_per_token.value;
    const double expected = d(in.seen->left_after_graphs ? in.planned->gpu.left_after_graphs_bytes.high : in.planned->gpu.left_after_pools_bytes.high);
    // A pool that is capped leaves memory as well, and says so.
    if (in.scenario->engine.max_total_tokens || seen > 0.7 * planned || d(*left) - expected < 0.5 * lost) return std::nullopt;
    if (weights && *row.observed < *row.planned) return std::nullopt;
    return because("loader_temporaries", {with_commas(*in.seen->max_total_num_tokens) + " tokens against " + with_commas(static_cast<std::int64_t>(planned)) + " planned",
                                          gib(d(*left)) + " free in the end, " + gib(expected) + " at most were expected"});
}

std::optional<Cause> unbalanced_ranks(const CauseInput& in, const FigureRow& row) {
    // Stages of a pipeline differ by what they hold; the plan knows.
    if ((!is_pool_size(row.field) && row.field != "gpu.weights_bytes") || in.scenario->engine.pp > 1) return std::nullopt;
    const auto after = spread(*in.start, &RankRecord::free_after_gib);
    if (!after || after->ranks < 2 || after->most - after->least < 0.02 * after->most) return std::nullopt;
    return because("unbalanced_ranks", {"free after load: " + fixed(after->least, 2) + " to " + fixed(after->most, 2) + " GiB over " + std::to_string(after->ranks) + " ranks"});
}

// What the fraction must have been of, by what it left: pools = f x basis - weights.
std::optional<Cause> fraction_semantics(const CauseInput& in, const FigureRow& row) {
    if (!is_pool_size(row.field)) return std::nullopt;
    const auto implied = implied_fraction(*in.seen);
    if (!implied || !in.seen->fraction || in.scenario->engine.kind != EngineKind::sglang) return std::nullopt;
    const double told = *in.seen->fraction;
    const double rounding = 0.02 * static_cast<double>(kGiB) / d(*in.seen->free_before_load);
    if (std::abs(*implied - told) < std::max(0.005, rounding)) return std::nullopt;
    const double of_total = *implied * d(*in.seen->free_before_load) / d(in.planned->gpu.total_bytes);
    if (std::abs(of_total - told) < 0.004) return because("fraction_of_total", {"the pools imply " + fixed(of_total, 3) + " of the total, " + fixed(*implied, 3) + " of what was free"});
    if (in.seen->draft_weights || in.seen->draft_kv_pool) return because("draft_not_counted", {"the pools imply the fraction " + fixed(*implied, 3) + ", the settings say " + fixed(told, 3) + "; a drafter takes part"});
    return because("fraction_not_as_told", {"the pools imply " + fixed(*implied, 3) + ", the settings say " + fixed(told, 3)});
}

std::optional<Cause> vllm_overhead(const CauseInput& in, const FigureRow& row) {
    if (in.scenario->engine.kind != EngineKind::vllm || !is_pool_size(row.field) || !in.seen->available_kv) return std::nullopt;
    if (row.field == "capacity.max_total_num_tokens" && in.seen->bytes_per_token && in.with_weights) {
        const auto cell = figure(*in.with_weights, "kv_cache.bytes_per_token");
        if (!cell || !near(*cell, *in.seen->bytes_per_token, 0.02)) return std::nullopt;
    }
    std::vector<std::string> evidence;
    if (in.seen->activation) evidence.push_back("peak activation " + gib(d(*in.seen->activation)));
    if (in.seen->non_torch) evidence.push_back("non-torch " + gib(d(*in.seen->non_torch)));
    evidence.push_back("available for KV " + gib(d(*in.seen->available_kv)));
    return because("vllm_overhead", std::move(evidence));
}

// Another version's rules, with everything measured: one date a change of rules.
std::optional<Cause> other_rule_set(const CauseInput& in, const FigureRow& row) {
    if (row.field == "gpu.free_before_load_bytes" || row.field == "gpu.weights_bytes" || row.field == "gpu.left_after_pools_bytes" || row.field == "gpu.left_after_graphs_bytes") return std::nullopt;
    Scenario scenario = *in.scenario;
    if (in.seen->free_before_load && scenario.engine.kind == EngineKind::sglang) scenario.hardware.gpu_free = in.seen->free_before_load;
    if (in.seen->free_before_load && in.seen->free_after_load) scenario.weights_per_gpu = *in.seen->free_before_load - *in.seen->free_after_load;
    for (const std::string_view date : {"2025-05-25", "2025-07-01", "2025-08-15", "2025-10-10", "2025-11-20", "2025-12-28", "2026-01-12", "2026-02-10", "2026-03-20", "2026-05-01", "2026-06-10",
                                        "2026-06-28", "2026-07-15", "2026-08-01", "2026-08-22", "2026-09-20"}) {
        scenario.engine.version_text = std::string(date);
        const Plan other = plan(scenario);
        const auto with = figure(other, row.field);
        if (with && near(*with, *row.observed, 0.004) && !near(*with, *row.planned, 0.004))
            return because("other_rule_set", {"the rules of " + std::string(date) + " give " + fixed(*with, 0), "planned with " + in.planned->rule_set});
    }
    return std::nullopt;
}

std::optional<Cause> hybrid_pools(const CauseInput& in, const FigureRow& row) {
    if (!is_pool_size(row.field) && row.field != "kv_cache.bytes_per_token") return std::nullopt;
    const bool window_differs = in.seen->swa_tokens.has_value() != in.planned->capacity.swa_tokens.has_value();
    const bool state_differs = in.seen->state_slots.has_value() && in.planned->capacity.state_slots.has_value() &&
                               !near(static_cast<double>(*in.seen->state_slots), static_cast<double>(*in.planned->capacity.state_slots), 0.02);
    if (!window_differs && !state_differs) return std::nullopt;
    std::vector<std::string> evidence;
    if (window_differs && in.seen->swa_tokens) evidence.push_back("the server has a window pool of " + with_commas(*in.seen->swa_tokens) + " tokens, the plan has none");
    else if (window_differs && in.seen->max_total_num_tokens && row.field != "kv_cache.bytes_per_token") evidence.push_back("the plan has a window pool, the log shows none");
    if (state_differs) evidence.push_back("state slots " + with_commas(*in.seen->state_slots) + ", planned " + with_commas(*in.planned->capacity.state_slots));
    if (evidence.empty()) return std::nullopt;
    return because("hybrid_pools", std::move(evidence));
}

// --- what follows from the pool

std::optional<Cause> requests_by_pool(const CauseInput& in, const FigureRow& row) {
    if (row.field != "capacity.max_running_requests") return std::nullopt;
    if (in.start->given_requests) return because("requests_by_pool", {"the log says it was reduced from " + fixed(in.start->asked_requests.value_or(0), 0) + " to " + fixed(*in.start->given_requests, 0)});
    // Versions differ in a pad row.
    if (std::abs(*row.observed - *row.planned) <= 1) return because("other_rule_set", {"one row of padding more or less"});
    if (in.seen->max_total_num_tokens && near(*row.observed, static_cast<double>(*in.seen->max_total_num_tokens) / 2.0, 0.01)) return because("requests_by_pool", {"half of the observed tokens"});
    return std::nullopt;
}

std::optional<Cause> host_by_pool(const CauseInput& in, const FigureRow& row) {
    if (row.field != "hicache.bytes_per_rank" || !in.seen->max_total_num_tokens || !in.planned->hicache.enabled) return std::nullopt;
    const double ratio = static_cast<double>(*in.seen->max_total_num_tokens) / std::max(1.0, static_cast<double>(in.planned->capacity.max_total_num_tokens.expected.count()));
    if (!in.scenario->engine.hicache.size_gb && near(*row.observed, *row.planned * ratio)) return because("host_size_of_pool", {"the ratio counts from the device pool, which is " + fixed(ratio, 3) + " of the planned one"});
    return std::nullopt;
}

std::optional<Cause> within_estimate(const CauseInput& in, const FigureRow& row) {
    // With everything measured the pool follows by rule: then a blind estimate's width explains nothing.
    if (is_pool_size(row.field) && in.with_weights) return std::nullopt;
    if (!row.planned_low || !row.planned_high || *row.planned_low == *row.planned_high) return std::nullopt;
    const double rounding = row.unit == RowUnit::bytes ? 2 * kRoundingGib * static_cast<double>(kGiB) : 0.0;
    if (*row.observed < *row.planned_low - rounding || *row.observed > *row.planned_high + rounding) return std::nullopt;
    const std::string unit = row.unit == RowUnit::bytes ? gib(*row.planned_low) + " to " + gib(*row.planned_high) : fixed(*row.planned_low, 0) + " to " + fixed(*row.planned_high, 0);
    return because("within_estimate", {"planned " + unit});
}

// No engine tells before a start what its graphs will take.
std::optional<Cause> assumed_cost(const CauseInput&, const FigureRow& row) {
    if (row.field != "gpu.graphs_bytes") return std::nullopt;
    return because("assumed_cost", {});
}

// Less pool leaves more free, and the other way round.
std::optional<Cause> pool_differs(const CauseInput& in, const FigureRow& row) {
    if (row.field != "gpu.left_after_pools_bytes" && row.field != "gpu.left_after_graphs_bytes" && row.field != "gpu.kv_pool_bytes") return std::nullopt;
    if (row.field == "gpu.kv_pool_bytes") {
        if (!in.seen->max_total_num_tokens || !near(*row.observed / *row.planned, static_cast<double>(*in.seen->max_total_num_tokens) / std::max(1.0, static_cast<double>(in.planned->capacity.max_total_num_tokens.expected.count())), 0.015)) return std::nullopt;
        return because("pool_differs", {"bytes per token agree; the number of tokens does not"});
    }
    if (!in.seen->kv_pool) return std::nullopt;
    const double pools = d(*in.seen->kv_pool) + d(in.seen->state_pool.value_or(Bytes{0})) - d(in.planned->gpu.kv_pool_bytes) - d(in.planned->gpu.state_pool_bytes);
    const double weights = in.seen->weights ? d(*in.seen->weights) - d(in.planned->gpu.weights_bytes) : 0.0;
    const double free = in.seen->free_before_load ? d(*in.seen->free_before_load) - d(in.planned->gpu.free_before_load_bytes.expected) : 0.0;
    const double moved = *row.planned + free - weights - pools;
    const double low = moved - (*row.planned - *row.planned_low), high = moved + (*row.planned_high - *row.planned);
    if (*row.observed < low - 0.02 * static_cast<double>(kGiB) || *row.observed > high + 0.02 * static_cast<double>(kGiB)) return std::nullopt;
    return because("pool_differs", {"free memory, weights and pools as observed leave " + gib(moved)});
}

constexpr std::array<Rule, 21> kRules = {
    foreign_memory, other_gpu, draft_twice, capped_tokens, loader_temporaries, kv_dtype, free_memory, unbalanced_ranks, measured_weights, within_estimate, weights_format,
    draft_weights, indexer_outside, fraction_semantics, hybrid_pools, requests_by_pool, host_by_pool, other_rule_set, vllm_overhead, pool_differs, assumed_cost,
};

}  // namespace

std::optional<Cause> find_cause(const CauseInput& input, const FigureRow& row) {
    for (const Rule rule : kRules)
        if (auto cause = rule(input, row)) return cause;
    return std::nullopt;
}

}  // namespace kvplan::logs
