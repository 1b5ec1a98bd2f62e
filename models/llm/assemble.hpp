// From a blueprint to layer classes: every module gets the storage format its path asks for, and layers that end up
// alike share a class.
#pragma once

#include <functional>
#include <string_view>

#include "models/llm/inventory.hpp"
#include "models/llm/llm_spec.hpp"

namespace kvplan {

/// The format of a module by its full path in the checkpoint ("model.layers.3.mlp.experts.0.gate_proj").
using FormatFor = std::function<StorageFormat(std::string_view path, ModuleKind kind)>;

/// Fills `spec.classes`, `layer_class`, `outside`, `draft` and `vision`. What is never quantized is stored in `base`.
void assemble(LlmSpec& spec, const Blueprint& blueprint, const FormatFor& format_for, DType base);

}  // namespace kvplan
