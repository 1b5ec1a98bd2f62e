// The models that have names: presets of this program, and what lies on this machine.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/name_match.hpp"
#include "models/json/document.hpp"
#include "models/llm/hf_config.hpp"

namespace kvplan {

/// One preset: facts in the words of keys.hpp, read by the family rules like a config.json.
struct ModelPreset {
    std::string name;                      ///< "Kimi-K2.5"
    std::vector<std::string> aliases;      ///< short names, and Hugging Face ids with the same facts
    std::string hf_id;
    std::string source;                    ///< where the facts were read
    json::Value facts;
    json::Value stored;                    ///< what the release stores otherwise than its config says (see apply_stored)
};

/// Presets embedded in the program, and those of a directory. Records have the form of models/llm/data/*.json:
/// {"models": [{"name", "aliases", "hf_id", "source", "facts": {...}, "stored": {...}}]}; all but aliases, hf_id and
/// stored are required. A record of the directory replaces an embedded one of the same name.
class ModelCatalogue {
public:
    /// Codes: value.* of the reader, catalogue.directory, catalogue.duplicate.
    [[nodiscard]] static ModelCatalogue load(const std::optional<std::string>& models_dir, Diagnostics& diagnostics);

    /// Only the embedded files in which `name` occurs as a string, and all of the directory: enough to find what has exactly
    /// this name, at a tenth of the reading.
    [[nodiscard]] static ModelCatalogue load_named(std::string_view name, const std::optional<std::string>& models_dir, Diagnostics& diagnostics);

    [[nodiscard]] std::span<const ModelPreset> all() const { return presets_; }
    /// By name, alias or Hugging Face id, without regard to case and punctuation, or an unambiguous beginning.
    [[nodiscard]] NameMatch find(std::string_view name) const;
    /// Presets in whose names, ids or family all words of `text` occur, in the order of the catalogue.
    [[nodiscard]] std::vector<const ModelPreset*> search(std::string_view text) const;

private:
    [[nodiscard]] static ModelCatalogue load_where(const std::function<bool(std::string_view text)>& wanted, const std::optional<std::string>& models_dir, Diagnostics& diagnostics);
    void add_file(std::string text, const std::string& source_name, bool replace, Diagnostics& diagnostics);
    void add_record(const json::Value& record, bool replace, json::Reader& reader);

    std::vector<json::Document> documents_;
    std::vector<ModelPreset> presets_;
    std::vector<NameEntry> names_;
};

/// The spec of a preset. Options that are set go before what the record says.
[[nodiscard]] std::optional<LlmSpec> read_preset(const ModelPreset& preset, ReadOptions options, Diagnostics& diagnostics);

/// Adds what a release stores otherwise: {"stored_lm_head", "stored_draft", "draft_own_embedding": true or false,
/// "base_dtype", "shape_dtype", "state_param_dtype": "fp32", ..., "keep": [patterns that stay in 16 bits]}.
[[nodiscard]] ReadOptions apply_stored(const json::Value& stored, ReadOptions options, json::Reader& reader);

/// The model that `name` stands for: a config.json, a checkpoint directory (config.json, hf_quant_config.json,
/// model.safetensors.index.json or *.safetensors headers, all used), a preset, a Hugging Face id of a preset or in this
/// machine's cache. A path is what looks like one ("./x", "/x", "x.json") or a directory with a config.json.
/// Codes: besides those of the readers model.unknown (with nearest names, and how to fetch an id), model.ambiguous,
/// model.checkpoint-differs (warning: the files hold more or less than the config explains), model.short-name (note).
[[nodiscard]] std::optional<LlmSpec> find_model(const std::string& name, ReadOptions options, const std::optional<std::string>& models_dir,
                                                Diagnostics& diagnostics);

}  // namespace kvplan
