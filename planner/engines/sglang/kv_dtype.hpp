#pragma once

#include <string_view>

#include "planner/scenario.hpp"

namespace kvplan::sglang {

/// How KV elements are stored. `bytes` is of one element, block scales included, exact in a double.
struct KvDtype {
    std::string_view name;   // as the engine's flag has it
    double bytes = 2.0;
    bool fp8 = false;
    bool fp4 = false;
    bool known = true;       // false: a name that the engine does not have
};

/// The type that `--kv-cache-dtype` names: auto follows a modelopt checkpoint's kv_cache_quant_algo (since 2025-12, on GPUs
/// that have fp8), and for sparse latent models the GPU (fp8 from compute capability 10, else 16 bits).
[[nodiscard]] KvDtype kv_dtype(const Scenario& scenario);

}  // namespace kvplan::sglang
