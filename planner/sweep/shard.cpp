#include "planner/sweep/shard.hpp"

#include "units/parse.hpp"

namespace kvplan::sweep {

namespace {

struct Variables {
    const char* index;
    const char* count;                        // null: the scheduler does not tell
};

std::optional<std::int64_t> whole(const Environment& environment, const char* name) {
    const auto text = name == nullptr ? std::nullopt : environment(name);
    if (!text) return std::nullopt;
    const auto number = parse_integer(*text);
    return parse_ok(number) ? std::optional(std::get<std::int64_t>(number)) : std::nullopt;
}

std::optional<Rank> rank_of(const Environment& environment, const Variables& variables) {
    const auto index = whole(environment, variables.index);
    if (!index) return std::nullopt;
    return Rank{*index, whole(environment, variables.count), variables.index};
}

// An array's ids may begin anywhere and have a step (--array=4-10:2).
std::optional<Rank> slurm_array(const Environment& environment) {
    const auto id = whole(environment, "SLURM_ARRAY_TASK_ID");
    if (!id) return std::nullopt;
    const std::int64_t first = whole(environment, "SLURM_ARRAY_TASK_MIN").value_or(0), step = whole(environment, "SLURM_ARRAY_TASK_STEP").value_or(1);
    const auto last = whole(environment, "SLURM_ARRAY_TASK_MAX");
    auto count = whole(environment, "SLURM_ARRAY_TASK_COUNT");
    if (step <= 0 || *id < first || (*id - first) % step != 0) return Rank{*id, count, "SLURM_ARRAY_TASK_ID"};
    if (!count && last) count = (*last - first) / step + 1;
    return Rank{(*id - first) / step, count, "SLURM_ARRAY_TASK_ID"};
}

Diagnostic fault(const std::string& text, std::string message, std::string expected, std::string hint) {
    Diagnostic diagnostic;
    diagnostic.code = "sweep.shard";
    diagnostic.pointer = "--shard " + text;
    diagnostic.message = std::move(message);
    diagnostic.found = text;
    diagnostic.expected = std::move(expected);
    diagnostic.hint = std::move(hint);
    return diagnostic;
}

std::optional<Shard> from_scheduler(const std::string& text, std::optional<std::int64_t> count, const Environment& environment, Diagnostics& diagnostics) {
    const auto rank = find_rank(environment);
    if (!rank) {
        diagnostics.add(fault(text, "no scheduler's variables are set", "a Slurm array task, a pod of a Kubernetes Indexed Job or an MPI rank", "--shard 0/8 names the part itself"));
        return std::nullopt;
    }
    if (!count) count = rank->count;
    if (!count) {
        diagnostics.add(fault(text, std::string(rank->variable) + " is set, but not how many parts there are", "auto/N", "a Kubernetes Indexed Job: N is its spec.completions"));
        return std::nullopt;
    }
    if (rank->index < 0 || rank->index >= *count) {
        diagnostics.add(fault(text, std::string(rank->variable) + " is " + std::to_string(rank->index) + ", which is no part of " + std::to_string(*count), "an index from 0 to " + std::to_string(*count - 1), "ids of a Slurm array that are no even row need --shard i/N"));
        return std::nullopt;
    }
    return Shard{rank->index, *count};
}

}  // namespace

PointRange range_of(const Shard& shard, std::int64_t points) {
    const std::int64_t size = points / shard.count, longer = points % shard.count;
    const auto begin = [&](std::int64_t index) { return index * size + (index < longer ? index : longer); };
    return {begin(shard.index), begin(shard.index + 1)};
}

// What numbers the single process comes before what numbers the job it belongs to.
std::optional<Rank> find_rank(const Environment& environment) {
    for (const Variables& variables : {Variables{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, Variables{"PMI_RANK", "PMI_SIZE"}, Variables{"PMIX_RANK", "SLURM_NTASKS"}})
        if (const auto rank = rank_of(environment, variables)) return rank;
    if (const auto task = slurm_array(environment)) return task;
    if (const auto pod = rank_of(environment, {"JOB_COMPLETION_INDEX", nullptr})) return pod;
    // A batch script has a SLURM_PROCID as well, which is 0 however many tasks it asked for; in a step (srun) it counts.
    if (!environment("SLURM_STEP_ID") || environment("SLURM_STEP_ID") == "4294967291") return std::nullopt;
    return rank_of(environment, {"SLURM_PROCID", "SLURM_NTASKS"});
}

std::optional<Shard> parse_shard(const std::string& text, const Environment& environment, Diagnostics& diagnostics) {
    const std::size_t slash = text.find('/');
    const std::string first = text.substr(0, slash);
    std::optional<std::int64_t> count;
    if (slash != std::string::npos) {
        const auto number = parse_integer(text.substr(slash + 1));
        if (parse_ok(number) && std::get<std::int64_t>(number) > 0) count = std::get<std::int64_t>(number);
    }
    if (first == "auto" && (slash == std::string::npos || count)) return from_scheduler(text, count, environment, diagnostics);
    const auto index = parse_integer(first);
    if (!count || !parse_ok(index) || std::get<std::int64_t>(index) < 0 || std::get<std::int64_t>(index) > *count) {
        diagnostics.add(fault(text, "that is no part of a sweep", "i/N with i from 0 to N-1, auto or auto/N", "--shard 2/8"));
        return std::nullopt;
    }
    return Shard{std::get<std::int64_t>(index) % *count, *count};
}

}  // namespace kvplan::sweep
