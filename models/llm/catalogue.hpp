#pragma once

#include <optional>
#include <string>

#include "models/llm/hf_config.hpp"

namespace kvplan {

/// The model that `name` stands for: a preset, a Hugging Face id, a config.json, or a checkpoint directory (config.json,
/// hf_quant_config.json, model.safetensors.index.json or *.safetensors headers, all used). `models_dir` holds more presets.
[[nodiscard]] std::optional<LlmSpec> find_model(const std::string& name, ReadOptions options, const std::optional<std::string>& models_dir,
                                                Diagnostics& diagnostics);

}  // namespace kvplan
