#include "planner/engines/vllm/stages.hpp"

#include <algorithm>

#include "planner/engines/layer_partition.hpp"

namespace kvplan::vllm {

std::vector<StageLayers> stages(const Scenario& scenario) {
    const std::int64_t layers = scenario.model->layers();
    const std::int64_t pp = std::clamp<std::int64_t>(scenario.engine.pp, 1, std::max<std::int64_t>(1, layers));
    std::vector<std::int64_t> counts = given_partition(scenario.engine.parallel_layer_partition, pp, layers);
    if (counts.empty()) {
        counts.assign(static_cast<std::size_t>(pp), layers / pp);
        for (std::int64_t i = 0; i < layers % pp; ++i) ++counts[static_cast<std::size_t>(pp - 2 - i)];
    }
    return stages_of(counts);
}

}  // namespace kvplan::vllm
