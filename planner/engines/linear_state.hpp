#pragma once

#include <cstdint>

#include "models/llm/llm_spec.hpp"

namespace kvplan {

/// Elements of one linear layer's state for one request on one of `tp` ranks.
///   convolution: channels / tp x (kernel - 1 + extra_rows); groups that do not divide by the ranks are raised to one a
///                rank (two tensors of state_size channels each)
///   recurrent:   heads / tp x head_dim x state_size
/// SGLang configs/mamba_utils.py, vLLM layers/mamba/mamba_utils.py.
struct StateElements {
    std::int64_t convolution = 0;
    std::int64_t recurrent = 0;
};
[[nodiscard]] StateElements state_elements(const LinearAttention& attention, std::int64_t tp, std::int64_t extra_rows = 0);

}  // namespace kvplan
