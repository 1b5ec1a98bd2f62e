// Reading a model from a config written in a test.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "models/llm/hf_config.hpp"

namespace kvplan::test {

struct Reading {
    std::optional<LlmSpec> spec;
    Diagnostics diagnostics;

    /// Whether a diagnostic of that code was given; with `text` one that mentions it anywhere when rendered.
    [[nodiscard]] bool has(std::string_view code, std::string_view text = {}) const;
};

[[nodiscard]] Reading read_config(const std::string& config, const ReadOptions& options = {},
                                  const std::string& hf_quant = {});

/// The model of a config that must be read without an error.
[[nodiscard]] LlmSpec model_of(const std::string& config, const ReadOptions& options = {});

/// The matrix of that name in a layer (or outside the layers); fails the test when there is none.
[[nodiscard]] const WeightMatrix& matrix(const LayerClass& layer, std::string_view name);
[[nodiscard]] const WeightMatrix& outside(const LlmSpec& spec, std::string_view name);
[[nodiscard]] bool has_matrix(const LayerClass& layer, std::string_view name);

/// A Llama of 2 layers, width 64, 4 heads, 2 KV heads, FFN 128, vocabulary 100, with `more` keys before its own.
[[nodiscard]] std::string tiny_llama(const std::string& more = {});

}  // namespace kvplan::test
