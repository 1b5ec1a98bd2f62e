#include "planner/free_before_load.hpp"

#include <algorithm>

#include "models/hardware/free_memory.hpp"

namespace kvplan {

namespace {

const FreeMemoryEstimate& catalogue_estimate(const Scenario& scenario) {
    const Parallelism p = parallelism(scenario);
    return p.ranks_per_replica > 1 ? scenario.free_memory->grouped : scenario.free_memory->alone;
}

}  // namespace

Bytes gpu_total(const Scenario& scenario) {
    return scenario.hardware.gpu_memory.value_or(catalogue_estimate(scenario).visible);
}

Estimate<Bytes> free_before_load(const Scenario& scenario) {
    if (scenario.hardware.gpu_free) return certain(*scenario.hardware.gpu_free, Basis::measured);
    const FreeMemoryEstimate& known = catalogue_estimate(scenario);
    const Bytes shift = gpu_total(scenario) - known.visible;
    const auto shifted = [&](Bytes bytes) { return std::max(Bytes{0}, bytes + shift); };
    return {shifted(known.free.low), shifted(known.free.expected), shifted(known.free.high), known.free.basis};
}

}  // namespace kvplan
