#include "planner/engines/sglang/stages.hpp"

#include <algorithm>

#include "planner/engines/layer_partition.hpp"
#include "planner/engines/sglang/versions.hpp"

namespace kvplan::sglang {

std::vector<StageLayers> stages(const Scenario& scenario) {
    const std::int64_t layers = scenario.model->layers();
    const std::int64_t pp = std::clamp<std::int64_t>(scenario.engine.pp, 1, std::max<std::int64_t>(1, layers));
    std::vector<std::int64_t> counts = given_partition(scenario.engine.parallel_layer_partition, pp, layers);
    if (counts.empty()) {
        counts.assign(static_cast<std::size_t>(pp), layers / pp);
        const std::int64_t rest = layers % pp;
        if (in_force(Change::pp_spread_remainder, rule_date(scenario.engine))) {
            for (std::int64_t i = 0; i < rest; ++i) ++counts[counts.size() - 1 - static_cast<std::size_t>(i)];
        } else {
            counts.back() += rest;
        }
    }
    return stages_of(counts);
}

}  // namespace kvplan::sglang
