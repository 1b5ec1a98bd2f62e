#include "planner/engines/sglang/stages.hpp"

#include <algorithm>
#include <numeric>

#include "planner/engines/sglang/versions.hpp"
#include "units/parse.hpp"

namespace kvplan::sglang {

std::vector<std::int64_t> layer_partition(std::string_view text) {
    std::vector<std::int64_t> counts;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const auto count = parse_integer(text.substr(0, comma));
        if (!parse_ok(count) || std::get<std::int64_t>(count) <= 0) return {};
        counts.push_back(std::get<std::int64_t>(count));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return counts;
}

std::vector<StageLayers> stages(const Scenario& scenario) {
    const std::int64_t layers = scenario.model->layers();
    const std::int64_t pp = std::clamp<std::int64_t>(scenario.engine.pp, 1, std::max<std::int64_t>(1, layers));
    std::vector<std::int64_t> counts = layer_partition(scenario.engine.parallel_layer_partition);
    const bool given = static_cast<std::int64_t>(counts.size()) == pp &&
                       std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) == layers;
    if (!given) {
        counts.assign(static_cast<std::size_t>(pp), layers / pp);
        const std::int64_t rest = layers % pp;
        if (in_force(Change::pp_spread_remainder, rule_date(scenario.engine))) {
            for (std::int64_t i = 0; i < rest; ++i) ++counts[counts.size() - 1 - static_cast<std::size_t>(i)];
        } else {
            counts.back() += rest;
        }
    }
    std::vector<StageLayers> result;
    std::int64_t first = 0;
    for (const std::int64_t count : counts) {
        result.push_back({first, count});
        first += count;
    }
    return result;
}

}  // namespace kvplan::sglang
