#include "planner/engines/sglang/kv_dtype.hpp"

#include <array>

#include "planner/engines/sglang/defaults.hpp"
#include "planner/engines/sglang/gpu_facts.hpp"
#include "planner/engines/sglang/versions.hpp"

namespace kvplan::sglang {
namespace {

struct Named {
    std::string_view flag;
    KvDtype type;
};
// fp4 and nvfp4: one scale byte for 16 elements; mxfp8: one for 32.
constexpr std::array<Named, 11> kTypes{{
    {"bfloat16", {"bfloat16", 2.0, false, false, true}},
    {"bf16", {"bfloat16", 2.0, false, false, true}},
    {"float16", {"float16", 2.0, false, false, true}},
    {"fp8", {"fp8_e4m3", 1.0, true, false, true}},
    {"fp8_e4m3", {"fp8_e4m3", 1.0, true, false, true}},
    {"fp8_e5m2", {"fp8_e5m2", 1.0, true, false, true}},
    {"fp4_e2m1", {"fp4_e2m1", 0.5 + 1.0 / 16, false, true, true}},
    {"nvfp4", {"nvfp4", 0.5 + 1.0 / 16, false, true, true}},
    {"fp4_mx_block16", {"fp4_mx_block16", 0.5 + 1.0 / 16, false, true, true}},
    {"mxfp8", {"mxfp8", 1.0 + 1.0 / 32, false, false, true}},
    {"float32", {"float32", 4.0, false, false, true}},
}};

KvDtype named(std::string_view flag) {
    for (const Named& n : kTypes)
        if (n.flag == flag) return n.type;
    return KvDtype{"bfloat16", 2.0, false, false, false};
}

KvDtype of_model(const Scenario& scenario) {
    const std::string& flag = scenario.engine.dtype;
    const bool half = flag == "float16" || flag == "half" || (flag.empty() && scenario.model->dtype == DType::f16);
    if (flag == "float32" || flag == "float") return named("float32");
    return named(half ? "float16" : "bfloat16");
}

}  // namespace

KvDtype kv_dtype(const Scenario& scenario) {
    const std::string& flag = scenario.engine.kv_cache_dtype;
    if (!flag.empty() && flag != "auto") return named(flag);
    const RuleDate date = rule_date(scenario.engine);
    const GpuFacts gpu = gpu_facts(scenario);
    // modelopt's checkpoints only: other quantization configs have no such field in the engine. On GPUs without 8-bit
    // floats the type would not run, so there it is taken to be the model's.
    const auto& asked = scenario.model->checkpoint_kv_dtype;
    const bool modelopt = scenario.model->quant_method.rfind("modelopt", 0) == 0;
    if (asked && modelopt && gpu.has_fp8() && in_force(Change::checkpoint_kv_dtype, date)) {
        if (*asked == DType::f8_e4m3) return named("fp8_e4m3");
        if (*asked == DType::f8_e5m2) return named("fp8_e5m2");
    }
    if (is_sparse_latent(*scenario.model) && gpu.sm_major >= 10) return named("fp8_e4m3");
    return of_model(scenario);
}

}  // namespace kvplan::sglang
