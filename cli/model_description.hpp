// A model as the planner understands it, ready to be written: `kvplan models show`.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "models/llm/llm_spec.hpp"
#include "planner/export/report.hpp"

namespace kvplan::cli {

/// Layers by kind, parameters and formats by component, caches, sources. KV bytes are those of SGLang's newest rules on
/// one GPU with the KV type that the checkpoint asks for or its own 16 bits.
[[nodiscard]] exporting::Report describe_model(const LlmSpec& spec);
[[nodiscard]] nlohmann::ordered_json model_json(const LlmSpec& spec);

}  // namespace kvplan::cli
