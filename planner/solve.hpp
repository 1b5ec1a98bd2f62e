#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "planner/plan.hpp"
#include "planner/scenario.hpp"

namespace kvplan {

/// The inverse questions: which value of one thing makes a plan hold.
enum class Question { max_hicache_size, max_hicache_ratio, mem_fraction, min_gpus, max_context, max_concurrency, min_host_ram };
/// "max-hicache-size", …
[[nodiscard]] std::string_view name_of(Question question);
[[nodiscard]] std::optional<Question> question_named(std::string_view name);
[[nodiscard]] std::vector<std::string_view> question_names();
/// Unit of the answer: "GB per rank", "tokens", …
[[nodiscard]] std::string_view unit_of(Question question);

/// What the answer's plan must reach, beside fitting and, with a host tier, being safe. Times and rates are compared with
/// expected values.
struct Targets {
    std::optional<double> concurrency;         // requests at once, whole deployment
    std::optional<double> pool_tokens;         // distinct tokens, whole deployment
    std::optional<double> tokens_per_second;   // output
    std::optional<double> ttft_seconds, itl_seconds;
};

/// A requirement that a plan misses. `wanted` and `got` are in the requirement's unit.
struct Unmet {
    std::string_view requirement;              // "fits", "safe", "concurrency", "pool_tokens", "tokens_per_second", "ttft_seconds", …
    double wanted = 0.0, got = 0.0;
    std::string_view unit;                     // "bytes", "tokens", "requests", "tokens/s", "seconds", ""
};
/// Empty: the plan holds.
[[nodiscard]] std::vector<Unmet> unmet(const Scenario& scenario, const Plan& plan, const Targets& targets);

struct Solution {
    Question question = Question::max_context;
    std::optional<double> answer;              // unset: no value holds
    std::optional<double> feasible_min, feasible_max;  // mem_fraction: the whole interval
    std::optional<Scenario> scenario;          // of the answer; plans again to `plan`
    std::optional<Plan> plan;
    struct Neighbour {
        double value = 0.0;
        std::vector<Unmet> reasons;
    };
    std::optional<Neighbour> next_that_fails;  // unset: the answer is the largest or smallest value there is
    std::vector<Unmet> infeasible_because;     // of the value that comes nearest, when there is no answer
};

/// Exact: bisection on plan() where holding is monotone in the value, enumeration of valid layouts for min_gpus. `scenario`
/// must be resolved; what it says of the value that is asked for is replaced.
[[nodiscard]] Solution solve(const Scenario& scenario, Question question, const Targets& targets);

}  // namespace kvplan
