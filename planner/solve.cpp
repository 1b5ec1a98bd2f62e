#include "planner/solve.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "models/hardware/gpu_spec.hpp"
#include "planner/concurrency/concurrency.hpp"
#include "planner/engines/engine.hpp"
#include "planner/findings.hpp"
#include "planner/resolve.hpp"

namespace kvplan {
namespace {

struct Entry {
    Question question;
    std::string_view name, unit;
};
constexpr std::array<Entry, 7> kQuestions{{{Question::max_hicache_size, "max-hicache-size", "GB per rank"},
                                           {Question::max_hicache_ratio, "max-hicache-ratio", "host tokens per device token"},
                                           {Question::mem_fraction, "mem-fraction", "fraction"},
                                           {Question::min_gpus, "min-gpus", "GPUs"},
                                           {Question::max_context, "max-context", "tokens"},
                                           {Question::max_concurrency, "max-concurrency", "requests"},
                                           {Question::min_host_ram, "min-host-ram", "GB"}}};
constexpr std::int64_t kMostGpus = 256;
constexpr std::int64_t kMostGigabytes = 1'000'000;
constexpr std::int64_t kMostRequests = 1'000'000;

double bytes_of(Bytes bytes) { return static_cast<double>(bytes.count()); }

/// Requests at once that a plan holds: those the engine admits, or full-length ones where lengths are not known.
double held_at_once(const Scenario& scenario, const Plan& plan) {
    if (plan.concurrency.offered) return plan.concurrency.steady_state.value_or(0.0);  // few run because few come
    if (request_shape(scenario.workload)) return plan.concurrency.admission.value_or(0.0);
    if (plan.concurrency.full_length) return *plan.concurrency.full_length;
    return plan.concurrency.by_context.empty() ? 0.0 : static_cast<double>(plan.concurrency.by_context.back().full_length);
}

struct Tried {
    Scenario scenario;
    Plan plan;
    std::vector<Unmet> unmet;
    [[nodiscard]] bool holds() const { return unmet.empty(); }
};

/// One whole-numbered value of the question put into the scenario, and whether its plan holds.
using Try = std::function<Tried(std::int64_t)>;

Solution answered(Question question, double value, const Tried& tried) {
    Solution solution{.question = question, .answer = value, .feasible_min = {}, .feasible_max = {}, .scenario = tried.scenario, .plan = tried.plan, .next_that_fails = {}, .infeasible_because = {}};
    return solution;
}

Solution unanswered(Question question, std::vector<Unmet> because) {
    Solution solution;
    solution.question = question;
    solution.infeasible_because = std::move(because);
    return solution;
}

/// The largest value in lowest..highest that holds, when holding ends somewhere and never comes back. `scale` turns the whole
/// number into the answer.
Solution largest(Question question, const Try& attempt, std::int64_t lowest, std::int64_t highest, double scale = 1.0) {
    Tried best = attempt(lowest);
    if (!best.holds()) return unanswered(question, best.unmet);
    std::int64_t holds = lowest, fails = highest + 1;
    std::vector<Unmet> reasons;
    for (std::int64_t step = 1; holds + step < fails; step *= 2) {  // the end may be far: look ahead in doubling steps
        Tried next = attempt(holds + step);
        if (!next.holds()) {
            fails = holds + step;
            reasons = next.unmet;
            break;
        }
        holds += step;
        best = std::move(next);
    }
    while (fails - holds > 1) {
        const std::int64_t middle = holds + (fails - holds) / 2;
        Tried next = attempt(middle);
        if (next.holds()) holds = middle, best = std::move(next);
        else fails = middle, reasons = next.unmet;
    }
    Solution solution = answered(question, static_cast<double>(holds) * scale, best);
    if (!reasons.empty()) solution.next_that_fails = Solution::Neighbour{static_cast<double>(fails) * scale, reasons};
    return solution;
}

/// The smallest, likewise.
Solution smallest(Question question, const Try& attempt, std::int64_t lowest, std::int64_t highest, double scale = 1.0) {
    const Try mirrored = [&](std::int64_t v) { return attempt(-v); };
    return largest(question, mirrored, -highest, -lowest, -scale);
}

/// Of two failures the one that comes nearer: fewer requirements missed, then the smaller share missing (of what does not fit
/// nothing is wanted, so the bytes themselves count).
bool nearer(const std::vector<Unmet>& a, const std::vector<Unmet>& b) {
    if (a.size() != b.size()) return a.size() < b.size();
    const auto gap = [](const std::vector<Unmet>& list) {
        double sum = 0.0;
        for (const Unmet& u : list) {
            if (u.requirement == "fits") sum += u.got / static_cast<double>(kTB);
            else sum += std::abs(u.wanted - u.got) / std::max({std::abs(u.wanted), std::abs(u.got), 1e-12});
        }
        return sum;
    };
    return gap(a) < gap(b);
}

class Solver {
public:
    Solver(const Scenario& scenario, Question question, const Targets& targets) : scenario_(scenario), question_(question), targets_(targets) {}

    Solution run() const {
        switch (question_) {
            case Question::max_hicache_size: return max_hicache_size();
            case Question::max_hicache_ratio: return max_hicache_ratio();
            case Question::mem_fraction: return mem_fraction();
            case Question::min_gpus: return min_gpus();
            case Question::max_context: return max_context();
            case Question::max_concurrency: return max_concurrency();
            case Question::min_host_ram: return min_host_ram();
        }
        return unanswered(question_, {});
    }

private:
    [[nodiscard]] Tried judge(Scenario scenario) const {
        Tried tried{std::move(scenario), {}, {}};
        tried.plan = kvplan::plan(tried.scenario);
        tried.unmet = unmet(tried.scenario, tried.plan, targets_);
        return tried;
    }
    /// `change` applied to the scenario as given; `fields` are what it sets.
    [[nodiscard]] Try varying(std::vector<const char*> fields, const std::function<void(Scenario&, std::int64_t)>& change) const {
        return [this, change, fields = std::move(fields)](std::int64_t value) {
            Scenario scenario = scenario_;
            change(scenario, value);
            for (const char* field : fields) scenario.origin[field] = "solve";
            return judge(std::move(scenario));
        };
    }

    [[nodiscard]] Solution max_hicache_size() const {
        if (!judge(scenario_).plan.host.available_bytes) return unanswered(question_, {{"host_known", 1.0, 0.0, ""}});
        if (engine_of(scenario_.engine).host_rules(scenario_).size_flag != HostRules::SizeFlag::hicache_size) return unanswered(question_, {{"engine_takes_size", 1.0, 0.0, ""}});
        return largest_accepted(varying({"enable_hierarchical_cache", "hicache_size"}, [](Scenario& s, std::int64_t gb) {
                                    s.engine.hicache.enabled = true;
                                    s.engine.hicache.ratio.reset();
                                    s.engine.hicache.size_gb = gb;
                                }),
                                [](const Plan& plan) { return plan.host.min_useful ? plan.host.min_useful->hicache_size_gb : 1; }, kMostGigabytes, 1.0);
    }
    [[nodiscard]] Solution max_hicache_ratio() const {
        if (!judge(scenario_).plan.host.available_bytes) return unanswered(question_, {{"host_known", 1.0, 0.0, ""}});
        if (!engine_of(scenario_.engine).host_rules(scenario_).ratio_flag) return unanswered(question_, {{"engine_takes_ratio", 1.0, 0.0, ""}});
        return largest_accepted(varying({"enable_hierarchical_cache", "hicache_ratio"}, [](Scenario& s, std::int64_t hundredths) {
                                    s.engine.hicache.enabled = true;
                                    s.engine.hicache.size_gb.reset();
                                    s.engine.hicache.ratio = static_cast<double>(hundredths) / 100.0;
                                }),
                                [](const Plan&) { return std::int64_t{101}; }, 100 * kMostGigabytes, 0.01);
    }
    /// Old versions refuse pools no larger than the device's: then the search begins at the first that is accepted.
    [[nodiscard]] Solution largest_accepted(const Try& attempt, const std::function<std::int64_t(const Plan&)>& first_accepted, std::int64_t most, double scale) const {
        const Tried least = attempt(1);
        const bool refused = std::any_of(least.unmet.begin(), least.unmet.end(), [](const Unmet& u) { return u.requirement == "starts"; });
        return largest(question_, attempt, refused ? first_accepted(least.plan) : 1, most, scale);
    }

    [[nodiscard]] Try at_fraction() const {
        return varying({}, [](Scenario& s, std::int64_t thousandths) { set_fraction(s, static_cast<double>(thousandths) / 1000.0); });
    }
    static void set_fraction(Scenario& s, double fraction) {
        if (s.engine.kind == EngineKind::vllm) s.engine.gpu_memory_utilization = TotalMemoryFraction{fraction}, s.origin["gpu_memory_utilization"] = "solve";
        else s.engine.mem_fraction_static = FreeMemoryFraction{fraction}, s.origin["mem_fraction_static"] = "solve";
    }
    /// The engine's own interval leaves room for weights below and for what the slack must hold above; targets raise its low end.
    [[nodiscard]] Solution mem_fraction() const {
        const Try attempt = at_fraction();
        const MemFraction own = judge(scenario_).plan.gpu.mem_fraction;
        if (!own.feasible_min || !own.feasible_max) {
            const std::optional<Solution::Neighbour> most = beside(attempt, 990);
            return unanswered(question_, most ? most->reasons : judge(scenario_).unmet);
        }
        const auto low = static_cast<std::int64_t>(std::ceil(*own.feasible_min * 1000.0 - 1e-6)), most = static_cast<std::int64_t>(std::floor(*own.feasible_max * 1000.0 + 1e-6));
        const auto recommended = std::clamp(static_cast<std::int64_t>(std::lround(own.recommended.value_or(*own.feasible_max) * 1000.0)), low, std::max(low, most));
        // Fitting holds from somewhere above `low` to somewhere below `most`; targets only rise with the fraction.
        const Targets none;
        const Try fitting = [&](std::int64_t thousandths) {
            Tried tried = attempt(thousandths);
            tried.unmet = unmet(tried.scenario, tried.plan, none);
            return tried;
        };
        const Solution widest = largest(question_, fitting, recommended, std::max(recommended, most));
        if (!widest.answer) return widest;
        const auto high = static_cast<std::int64_t>(*widest.answer);
        const Solution least = smallest(question_, attempt, low, high);
        if (!least.answer) return least;
        const std::int64_t chosen = std::clamp(recommended, static_cast<std::int64_t>(*least.answer), high);
        Solution solution = answered(question_, static_cast<double>(chosen) / 1000.0, attempt(chosen));
        solution.feasible_min = *least.answer / 1000.0;
        solution.feasible_max = static_cast<double>(high) / 1000.0;
        solution.next_that_fails = beside(attempt, static_cast<std::int64_t>(*least.answer) - 1);
        if (!solution.next_that_fails) solution.next_that_fails = beside(attempt, high + 1);
        return solution;
    }
    /// A fraction that fails, and why: its plan misses something, or leaves less than the slack must hold.
    [[nodiscard]] static std::optional<Solution::Neighbour> beside(const Try& attempt, std::int64_t thousandths) {
        if (thousandths <= 0 || thousandths >= 1000) return std::nullopt;
        Tried tried = attempt(thousandths);
        Bytes needed;
        for (const NamedBytes& item : tried.plan.gpu.slack_items) needed += item.bytes;
        if (tried.holds() && needed > tried.plan.gpu.slack_bytes) tried.unmet.push_back({"slack", bytes_of(needed), bytes_of(tried.plan.gpu.slack_bytes), "bytes"});
        if (tried.holds()) return std::nullopt;
        return Solution::Neighbour{static_cast<double>(thousandths) / 1000.0, tried.unmet};
    }

    [[nodiscard]] Solution max_context() const {
        const std::int64_t most = scenario_.model->max_position_embeddings > 0 ? scenario_.model->max_position_embeddings : 10'000'000;
        const Try attempt = [this](std::int64_t tokens) {
            Scenario s = scenario_;
            s.engine.context_length = tokens;
            s.origin["context_length"] = "solve";
            Tried tried = judge(std::move(s));
            const double wanted = std::max(1.0, targets_.concurrency.value_or(1.0));
            const double got = tried.plan.concurrency.by_context.empty() ? 0.0 : static_cast<double>(tried.plan.concurrency.by_context.back().full_length);
            if (got < wanted) tried.unmet.push_back({"full_length_requests", wanted, got, "requests"});
            return tried;
        };
        return largest(question_, attempt, 1, most);
    }

    [[nodiscard]] Solution max_concurrency() const {
        const bool lengths = request_shape(scenario_.workload) || scenario_.workload.request_tokens;
        return largest(question_, varying({"concurrency"}, [&](Scenario& s, std::int64_t n) {
                           if (!lengths) s.workload.request_tokens = static_cast<double>(s.engine.context_length.value_or(s.model->max_position_embeddings));
                           s.workload.concurrency = n;
                       }),
                       1, kMostRequests);
    }

    [[nodiscard]] Solution min_host_ram() const {
        return smallest(question_, varying({"host_ram"}, [](Scenario& s, std::int64_t gb) {
                            HostOptions& host = s.hardware.host;
                            host.ram = gigabytes(gb);
                            host.available.reset();
                            host.cgroup_limit.reset();
                            host.cgroup_used.reset();
                        }),
                        1, kMostGigabytes);
    }

    /// Every layout tp x pp x replicas (or DP-attention workers inside tp) of a number of GPUs that the engine and the model allow.
    [[nodiscard]] Solution min_gpus() const {
        std::optional<Tried> nearest, of_fewer;  // the best failure of all, and of the largest number below the answer
        for (std::int64_t gpus = 1; gpus <= kMostGpus; ++gpus) {
            std::optional<Tried> best, failed;
            for (Tried& tried : layouts_of(gpus)) {
                if (!tried.holds() && (!failed || nearer(tried.unmet, failed->unmet))) failed = std::move(tried);
                else if (tried.holds() && (!best || expected_rate(tried) > expected_rate(*best))) best = std::move(tried);
            }
            if (best) {
                Solution solution = answered(question_, static_cast<double>(gpus), *best);
                if (of_fewer) solution.next_that_fails = Solution::Neighbour{static_cast<double>(of_fewer->plan.parallelism.ranks), of_fewer->unmet};
                return solution;
            }
            if (failed && (!nearest || nearer(failed->unmet, nearest->unmet))) nearest = failed;
            if (failed) of_fewer = std::move(failed);
        }
        return unanswered(question_, nearest ? nearest->unmet : std::vector<Unmet>{{"valid_layout", 1.0, 0.0, ""}});
    }
    [[nodiscard]] static double expected_rate(const Tried& tried) {
        const auto& expected = tried.plan.throughput.expected_output_tokens_per_second;
        return expected ? expected->expected : static_cast<double>(tried.plan.capacity.distinct_tokens.count());
    }
    [[nodiscard]] std::vector<Tried> layouts_of(std::int64_t gpus) const {
        std::vector<Tried> all;
        const bool inside = scenario_.engine.enable_dp_attention;
        for (std::int64_t tp = 1; tp <= gpus; ++tp)
            for (std::int64_t pp = 1; gpus % tp == 0 && pp <= gpus / tp; ++pp) {
                if (gpus / tp % pp != 0 || (inside && tp * pp != gpus) || !may_be("tp_size", scenario_.engine.tp, tp) || !may_be("pp_size", scenario_.engine.pp, pp)) continue;
                for (std::int64_t dp = 1; dp <= (inside ? tp : 1); ++dp) {
                    if (inside && tp % dp != 0) continue;
                    Scenario s = scenario_;
                    s.engine.tp = tp;
                    s.engine.pp = pp;
                    s.engine.dp = inside ? dp : gpus / tp / pp;
                    s.engine.ep = std::min(s.engine.ep, tp);
                    s.hardware.nodes.reset();
                    for (const char* field : {"tp_size", "pp_size", "dp_size"}) s.origin[field] = "solve";
                    Diagnostics diagnostics;
                    if (pp <= s.model->layers() && check_scenario(s, diagnostics)) all.push_back(at_default_or_recommended(std::move(s)));
                }
            }
        return all;
    }

    /// A size of the layout that the user gave stays.
    [[nodiscard]] bool may_be(const char* field, std::int64_t given, std::int64_t value) const {
        const auto origin = scenario_.origin.find(field);
        return origin == scenario_.origin.end() || origin->second == "solve" || given == value;
    }
    /// Where no fraction was given and the engine's default does not fit, the recommended one may.
    [[nodiscard]] Tried at_default_or_recommended(Scenario s) const {
        Tried tried = judge(s);
        const std::optional<double> recommended = tried.plan.gpu.mem_fraction.recommended;
        if (tried.holds() || !recommended || s.engine.mem_fraction_static || s.engine.gpu_memory_utilization) return tried;
        set_fraction(s, *recommended);
        Tried other = judge(std::move(s));
        return other.holds() || nearer(other.unmet, tried.unmet) ? other : tried;
    }

    const Scenario& scenario_;
    Question question_;
    const Targets& targets_;
};

}  // namespace

std::string_view name_of(Question question) {
    for (const Entry& entry : kQuestions)
        if (entry.question == question) return entry.name;
    return "";
}

std::string_view unit_of(Question question) {
    for (const Entry& entry : kQuestions)
        if (entry.question == question) return entry.unit;
    return "";
}

std::optional<Question> question_named(std::string_view name) {
    for (const Entry& entry : kQuestions)
        if (entry.name == name) return entry.question;
    return std::nullopt;
}

std::vector<std::string_view> question_names() {
    std::vector<std::string_view> names;
    for (const Entry& entry : kQuestions) names.push_back(entry.name);
    return names;
}

std::vector<Unmet> unmet(const Scenario& scenario, const Plan& plan, const Targets& targets) {
    std::vector<Unmet> missed;
    if (!plan.fits) missed.push_back({"fits", 0.0, bytes_of(plan.gpu.shortfall_bytes), "bytes"});
    if (plan.fits && plan.safe.value_or(true) && !is_sound(plan)) missed.push_back({"starts", 1.0, 0.0, ""});
    if (plan.safe && !*plan.safe) missed.push_back({"safe", plan.host.available_bytes ? bytes_of(*plan.host.available_bytes) : 0.0, bytes_of(plan.host.required_high_bytes), "bytes"});
    if (!plan.safe) missed.push_back({"host_known", 1.0, 0.0, ""});
    const double offered = static_cast<double>(scenario.workload.concurrency.value_or(0));
    const double wanted = std::max(targets.concurrency.value_or(0.0), offered);
    const double held = wanted > 0.0 ? held_at_once(scenario, plan) : 0.0;
    if (held < wanted) missed.push_back({"concurrency", wanted, held, "requests"});
    const auto pool = static_cast<double>(plan.capacity.distinct_tokens.count());
    if (targets.pool_tokens && pool < *targets.pool_tokens) missed.push_back({"pool_tokens", *targets.pool_tokens, pool, "tokens"});
    const auto& rate = plan.throughput.expected_output_tokens_per_second;
    if (targets.tokens_per_second && (!rate || rate->expected < *targets.tokens_per_second))
        missed.push_back({"tokens_per_second", *targets.tokens_per_second, rate ? rate->expected : 0.0, "tokens/s"});
    const auto time = [&](const std::optional<double>& most, const std::optional<Estimate<double>>& got, std::string_view name) {
        if (most && (!got || got->expected > *most)) missed.push_back({name, *most, got ? got->expected : HUGE_VAL, "seconds"});
    };
    time(targets.ttft_seconds, plan.latency.ttft_seconds, "ttft_seconds");
    time(targets.itl_seconds, plan.latency.itl_seconds, "itl_seconds");
    return missed;
}

Solution solve(const Scenario& scenario, Question question, const Targets& targets) { return Solver(scenario, question, targets).run(); }

}  // namespace kvplan
