// Models that lie on this machine: checkpoint directories and the Hugging Face cache.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "models/llm/hf_config.hpp"

namespace kvplan {

/// The model of a directory, with exact sizes where an index or headers tell them; what is stored (an output head beside
/// a tied embedding, draft layers) is taken from the tensors' names. Codes: see find_model.
[[nodiscard]] std::optional<LlmSpec> read_checkpoint_directory(const std::string& directory, ReadOptions options, Diagnostics& diagnostics);

/// "org/name" with one slash and the characters of such ids.
[[nodiscard]] bool looks_like_hf_id(std::string_view name);

/// The folder of the hub's cache: $HF_HUB_CACHE, $HF_HOME/hub, $XDG_CACHE_HOME/huggingface/hub or ~/.cache/huggingface/hub.
[[nodiscard]] std::string hf_cache_directory();

/// The snapshot of `hf_id` in `cache` that `main` points to, else the newest one with a config.json.
[[nodiscard]] std::optional<std::string> find_hf_snapshot(const std::string& cache, std::string_view hf_id);

}  // namespace kvplan
