#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/hardware/gpu_spec.hpp"
#include "planner/throughput/step_time.hpp"

namespace kvplan::accuracy {

/// One published measurement of tests/accuracy/data/throughput.json.
struct ThroughputCase {
    std::string kind;      // offline, closed, mlperf, prefill, decode, reuse
    std::string model, published_as, quantization, gpu, engine, source;
    std::int64_t gpus = 1, tp = 1, pp = 1, dp = 1, ep = 1;
    double input = 0.0, output = 1.0;
    std::optional<double> concurrency = {}, hit_rate = {};
    std::string kv = {};   // empty: not published
    double rate = 0.0;     // tokens/s of all GPUs
};

[[nodiscard]] std::vector<ThroughputCase> throughput_cases();

/// A case made ready for the clock: everything but the costs. A case without a published layout has several.
struct PreparedLayout {
    StepWork work;
    ServedRequest request;
    double replicas = 1.0;
    double batch = 1.0;    // of one replica
};

struct PreparedCase {
    ThroughputCase fact;
    std::shared_ptr<const GpuSpec> gpu;
    std::vector<PreparedLayout> bound = {};     // smallest KV element the GPU's engines offer, when the case does not tell
    std::vector<PreparedLayout> likely = {};    // the engines' default
    bool dense = false;
};

/// The cases whose model can be read. Models are those of the catalogue and of KVPLAN_SHARED_DIR's configs.
[[nodiscard]] std::vector<PreparedCase> prepare_cases();

struct Predicted {
    double rate = 0.0;     // tokens/s of all GPUs
    Resource resource = Resource::compute;
};

/// Of the best layout. `separate`: prompts and decoding never share a step.
[[nodiscard]] Predicted predict(const PreparedCase& c, const std::vector<PreparedLayout>& layouts, const Costs& costs, bool separate = false);

[[nodiscard]] double median(std::vector<double> values);

}  // namespace kvplan::accuracy
