#include "planner/engines/sglang/gpu_facts.hpp"

#include <algorithm>

#if __has_include("models/hardware/free_memory.hpp")
#include "models/hardware/free_memory.hpp"
#define KVPLAN_HAVE_FREE_MEMORY 1
#endif

namespace kvplan::sglang {
namespace {

Bytes gib(double value) { return nearest_bytes(std::max(0.0, value) * static_cast<double>(kGiB)); }

/// Where no reading can be looked up: context 0.5 to 0.9 GiB alone, 2 to 3.1 GiB with communicators (SGLang start-up
/// logs of H100 and H200: 78.8 and 77.4 of 79.65, 137.3 of 140.4).
Estimate<Bytes> by_context_cost(Bytes total, bool several) {
    const double low = several ? 2.0 : 0.5, high = several ? 3.1 : 0.9;
    const auto left = [total](double cost) { return std::max(Bytes{0}, total - gib(cost)); };
    return {left(high), left((low + high) / 2), left(low), Basis::assumed};
}

#ifdef KVPLAN_HAVE_FREE_MEMORY
const std::vector<FreeMemorySample>& samples() {
    static const std::vector<FreeMemorySample> kSamples = [] {
        Diagnostics ignored;
        const GpuCatalogue catalogue = GpuCatalogue::load(std::nullopt, ignored);
        return load_free_memory_samples(std::nullopt, catalogue, ignored);
    }();
    return kSamples;
}

/// The catalogue's GPU with the total that the user states instead.
GpuSpec with_total(GpuSpec gpu, Bytes total) {
    gpu.process_memory.reset();
    Fact<Bytes> fact;
    fact.value = total;
    fact.sources = {"user"};
    gpu.visible_memory = fact;
    gpu.os_visible_memory = gpu.unified_memory ? gpu.visible_memory : gpu.os_visible_memory;
    return gpu;
}
#endif

}  // namespace

GpuFacts gpu_facts(const Scenario& scenario) {
    GpuFacts facts;
#ifdef KVPLAN_HAVE_FREE_MEMORY
    if (scenario.gpu) {
        facts.total = process_memory(*scenario.gpu).visible;
        facts.memory_mib = in_mib(facts.total);
        facts.amd = scenario.gpu->vendor == GpuVendor::amd;
        facts.unified = scenario.gpu->unified_memory;
        if (scenario.gpu->sm) {
            facts.sm_major = scenario.gpu->sm->major;
            facts.sm_minor = scenario.gpu->sm->minor;
        }
    }
#endif
    if (scenario.hardware.gpu_memory) {
        facts.total = *scenario.hardware.gpu_memory;
        facts.memory_mib = in_mib(facts.total);
    }
    if (scenario.hardware.gpu_free) facts.total = std::max(facts.total, *scenario.hardware.gpu_free);
    return facts;
}

Estimate<Bytes> free_before_load(const Scenario& scenario) {
    if (scenario.hardware.gpu_free) return certain(*scenario.hardware.gpu_free, Basis::measured);
    const std::int64_t group = std::max<std::int64_t>(1, scenario.engine.tp) * std::max<std::int64_t>(1, scenario.engine.pp);
#ifdef KVPLAN_HAVE_FREE_MEMORY
    if (scenario.gpu && !samples().empty()) {
        const int ranks = static_cast<int>(std::min<std::int64_t>(group, 1 << 20));
        const GpuSpec gpu = scenario.hardware.gpu_memory ? with_total(*scenario.gpu, *scenario.hardware.gpu_memory) : *scenario.gpu;
        return estimate_free_memory(gpu, ranks, samples()).free;
    }
#endif
    return by_context_cost(gpu_facts(scenario).total, group > 1);
}

}  // namespace kvplan::sglang
