#include "planner/log/record.hpp"

#include <algorithm>

namespace kvplan::logs {

Reading KvAllocation::size_gib() const {
    if (kv_gib) return kv_gib;
    if (k_gib && v_gib) return *k_gib + *v_gib;
    return std::nullopt;
}

Reading Fault::get(Figure figure) const {
    for (const auto& [known, value] : figures)
        if (known == figure) return value;
    return std::nullopt;
}

std::string_view name_of(Phase phase) {
    switch (phase) {
        case Phase::none: return "before the start";
        case Phase::initialized: return "setting up ranks";
        case Phase::loading: return "loading weights";
        case Phase::loaded: return "after the weights";
        case Phase::pools: return "allocating KV pools";
        case Phase::host_pools: return "allocating host pools";
        case Phase::graphs: return "capturing graphs";
        case Phase::sized: return "after sizing";
        case Phase::serving: return "serving";
    }
    return "";
}

void Series::add(double x) {
    least = count == 0 ? x : std::min(least, x);
    most = count == 0 ? x : std::max(most, x);
    last = x;
    sum += x;
    ++count;
}

std::optional<Spread> spread(const StartRecord& start, Reading RankRecord::* reading) {
    std::optional<Spread> result;
    for (const auto& [tag, rank] : start.ranks) {
        const Reading& value = rank.*reading;
        if (!value) continue;
        if (!result) result = Spread{*value, *value, *value, 0};
        result->least = std::min(result->least, *value);
        result->most = std::max(result->most, *value);
        ++result->ranks;
    }
    return result;
}

}  // namespace kvplan::logs
