#include "planner/engines/vllm/admission.hpp"

#include <algorithm>

#include "planner/engines/vllm/defaults.hpp"
#include "planner/engines/vllm/kv_layout.hpp"
#include "planner/engines/vllm/stages.hpp"
#include "planner/engines/vllm/versions.hpp"

namespace kvplan::vllm {

double admitted_requests(const AdmissionCase& c) {
    const double footprint = mean_footprint(c.request, c.page);
    return footprint <= 0.0 ? 0.0 : std::max(0.0, (c.pool_tokens - c.request.shared_prefix) / footprint);
}

double admitted_requests(const Scenario& scenario, const AdmissionCase& c) {
    const KvLayout layout = kv_layout(scenario, stages(scenario).front());
    if (layout.groups < 2 || c.pool_tokens <= 0.0) return admitted_requests(c);
    const std::int64_t length = max_model_len(scenario);
    const double blocks = in_force(Change::derived_token_line, scenario.engine)
                              ? c.pool_tokens * static_cast<double>(blocks_per_request(layout, scenario, length)) / static_cast<double>(length)
                              : c.pool_tokens * static_cast<double>(layout.groups) / static_cast<double>(layout.least_block);
    const double tokens = mean_footprint(c.request, 1.0);
    double held = 0.0, shared = 0.0;
    for (const LayerSpec& s : layout.specs) {
        if (s.same_group) continue;
        const auto block = static_cast<double>(s.block), groups = static_cast<double>(s.groups);
        if (s.kind == KvGroupKind::linear_state) held += groups * static_cast<double>(state_blocks_per_request(scenario));
        else if (s.window > 0) held += groups * (std::min(tokens + c.request.shared_prefix, static_cast<double>(s.window)) / block + 1.0);
        else {
            held += groups * (tokens + (block - 1.0) / 2.0) / block;
            shared += groups * c.request.shared_prefix / block;
        }
    }
    return held <= 0.0 ? 0.0 : std::max(0.0, (blocks - shared) / held);
}

}  // namespace kvplan::vllm
