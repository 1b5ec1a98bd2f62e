#include "planner/engines/vllm/admission.hpp"

#include <algorithm>

namespace kvplan::vllm {

double admitted_requests(const AdmissionCase& c) {
    const double footprint = mean_footprint(c.request, c.page);
    return footprint <= 0.0 ? 0.0 : std::max(0.0, (c.pool_tokens - c.request.shared_prefix) / footprint);
}

}  // namespace kvplan::vllm
