// From a model's description to an LlmSpec. The description is a Hugging Face config.json or the facts of one of our
// preset records: both go through ModelFacts and the same family rules.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/json/document.hpp"
#include "models/llm/llm_spec.hpp"
#include "models/llm/model_facts.hpp"
#include "units/diagnostic.hpp"

namespace kvplan {

/// The texts that describe a model. `config` is the root of config.json, or of a record's facts.
struct ModelFiles {
    json::Value config;
    json::Value hf_quant_config;  // modelopt's own file; missing when there is none
};

/// What a user knows better than the files.
struct ReadOptions {
    std::string name, hf_id;    // go into the spec as they are
    std::string assume_family;  // read an unknown model_type by this family's rule
    std::string quantization;   // "fp8_block128", "int4-g32": that variant instead of the described one; "bf16": none
    std::vector<std::string> extra_ignore;    // more modules that stay unquantized, in the words of an ignore list
    std::optional<DType> base_dtype;          // of what is not quantized
    std::optional<DType> shape_dtype;         // of compressed-tensors' weight_shape
    std::optional<DType> state_param_dtype;   // of A_log, D and dt_bias in linear layers
    std::optional<bool> stored_draft;         // false: the repack dropped the MTP layers
    std::optional<bool> draft_own_embedding;  // MTP layers with their own embedding and head
    std::optional<bool> stored_lm_head;       // true: a tied head lies in the checkpoint all the same
    FactOverrides facts;                      // {"intermediate_size", 29696}
};

/// The model, or nothing with every fault of the description in `diagnostics`. Codes: value.* of the reader,
/// model.unknown-type (with the nearest families as hint), model.unknown-family, model.too-large.
/// Layer count, hidden size, head count and vocabulary have no default.
[[nodiscard]] std::optional<LlmSpec> read_model(const ModelFiles& files, const ReadOptions& options,
                                                Diagnostics& diagnostics);
[[nodiscard]] std::optional<LlmSpec> read_model(const json::Document& config, const ReadOptions& options,
                                                Diagnostics& diagnostics);

/// A family that can be read, for lists and `--assume-family`.
struct FamilyInfo {
    std::string_view name;
    bool verified = true;     // tested on real configs and sizes
    std::string_view source;  // where the rule comes from when it is not
};
[[nodiscard]] std::vector<FamilyInfo> known_families();

}  // namespace kvplan
