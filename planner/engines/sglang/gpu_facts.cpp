#include "planner/engines/sglang/gpu_facts.hpp"

#include <algorithm>

#include "models/hardware/gpu_spec.hpp"
#include "planner/free_before_load.hpp"

namespace kvplan::sglang {

GpuFacts gpu_facts(const Scenario& scenario) {
    GpuFacts facts;
    if (scenario.gpu) {
        facts.amd = scenario.gpu->vendor == GpuVendor::amd;
        facts.unified = scenario.gpu->unified_memory;
        if (scenario.gpu->sm) {
            facts.sm_major = scenario.gpu->sm->major;
            facts.sm_minor = scenario.gpu->sm->minor;
        }
    }
    if (scenario.hardware.gpu_memory || scenario.free_memory) {
        facts.total = gpu_total(scenario);
        facts.memory_mib = in_mib(facts.total);
    }
    // A measured free memory above a stated total: the total is the one that is wrong.
    if (scenario.hardware.gpu_free) facts.total = std::max(facts.total, *scenario.hardware.gpu_free);
    return facts;
}

}  // namespace kvplan::sglang
