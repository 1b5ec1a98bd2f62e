#include "models/llm/catalogue.hpp"

#include <algorithm>
#include <filesystem>

#include "models/embedded.hpp"
#include "models/json/reader.hpp"
#include "units/ascii.hpp"

namespace kvplan {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolder = "models/llm/data/";

std::optional<DType> dtype_named(std::string_view name) {
    constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16, DType::i32, DType::i64};
    for (const DType type : kTypes)
        if (name == name_of(type)) return type;
    return std::nullopt;
}

/// squeezed(name) == key, without making it.
bool same_squeezed(std::string_view name, std::string_view key) {
    std::size_t at = 0;
    for (const char c : name) {
        if (!is_alnum(c)) continue;
        if (at == key.size() || key[at] != lower(c)) return false;
        ++at;
    }
    return at == key.size();
}

/// Whether a string of the JSON text is, squeezed, the key. Names have no escapes; a key or a comment that is the same costs
/// nothing but the reading of the file.
bool has_string(std::string_view text, std::string_view key) {
    for (std::size_t open = text.find('"'); open != std::string_view::npos;) {
        const std::size_t close = text.find('"', open + 1);
        if (close == std::string_view::npos) return false;
        if (close - open > key.size() && same_squeezed(text.substr(open + 1, close - open - 1), key)) return true;
        open = close;  // an escaped quote shifts the pairs, so every stretch between two quotes is tried
    }
    return false;
}

/// Files of a directory in the order of their names.
std::vector<std::string> json_files(const std::string& directory, Diagnostics& diagnostics) {
    std::vector<std::string> files;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, error))
        if (entry.path().extension() == ".json") files.push_back(entry.path().string());
    if (error) {
        Diagnostic fault;
        fault.code = "catalogue.directory";
        fault.pointer = "--models-dir";
        fault.found = directory;
        fault.message = "the directory of presets cannot be read";
        diagnostics.add(std::move(fault));
    }
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace

ModelCatalogue ModelCatalogue::load(const std::optional<std::string>& models_dir, Diagnostics& diagnostics) {
    return load_where([](std::string_view) { return true; }, models_dir, diagnostics);
}

ModelCatalogue ModelCatalogue::load_named(std::string_view name, const std::optional<std::string>& models_dir, Diagnostics& diagnostics) {
    const std::string key = squeezed(name);
    return load_where([&](std::string_view text) { return has_string(text, key); }, models_dir, diagnostics);
}

ModelCatalogue ModelCatalogue::load_where(const std::function<bool(std::string_view)>& wanted, const std::optional<std::string>& models_dir, Diagnostics& diagnostics) {
    ModelCatalogue catalogue;
    for (const std::string_view path : embedded_files_below(kFolder)) {
        const std::string_view text = embedded_file(path).value_or("");
        if (wanted(text)) catalogue.add_file(std::string(text), std::string(path), false, diagnostics);
    }
    if (models_dir) {
        for (const std::string& path : json_files(*models_dir, diagnostics))
            if (auto text = json::read_file(path, diagnostics)) catalogue.add_file(*std::move(text), path, true, diagnostics);
    }
    for (const ModelPreset& preset : catalogue.presets_) {
        NameEntry entry;
        entry.name = preset.name;
        entry.aliases = preset.aliases;
        if (!preset.hf_id.empty()) entry.aliases.push_back(preset.hf_id);
        catalogue.names_.push_back(std::move(entry));
    }
    return catalogue;
}

void ModelCatalogue::add_file(std::string text, const std::string& source_name, bool replace, Diagnostics& diagnostics) {
    const std::optional<json::Document> document = json::parse(std::move(text), source_name, diagnostics);
    if (!document) return;
    documents_.push_back(*document);
    json::Reader reader(diagnostics);
    for (const json::Value& record : reader.required_array(documents_.back().root(), {"models"}).elements()) add_record(record, replace, reader);
}

void ModelCatalogue::add_record(const json::Value& record, bool replace, json::Reader& reader) {
    ModelPreset preset;
    preset.name = reader.required_string(record, {"name"}).value_or("");
    preset.source = reader.required_string(record, {"source"}).value_or("");
    preset.hf_id = reader.string(record, {"hf_id"}).value_or("");
    preset.aliases = reader.string_list(record, {"aliases"}).value_or(std::vector<std::string>{});
    preset.facts = reader.required_object(record, {"facts"});
    preset.stored = reader.object(record, {"stored"});
    static constexpr std::string_view kKnown[] = {"name", "source", "hf_id", "aliases", "facts", "stored", "note"};
    static_cast<void>(reader.find(record, {"note"}));
    reader.warn_unused(record, kKnown);
    if (preset.name.empty() || !preset.facts.is_object()) return;
    const auto same = std::find_if(presets_.begin(), presets_.end(), [key = squeezed(preset.name)](const ModelPreset& known) { return same_squeezed(known.name, key); });
    if (same == presets_.end()) {
        presets_.push_back(std::move(preset));
    } else if (replace) {
        *same = std::move(preset);
    } else {
        reader.error(record["name"], "catalogue.duplicate", "two presets have the same name", "a name of its own");
    }
}

NameMatch ModelCatalogue::find(std::string_view name) const { return match_name(name, names_); }

std::vector<const ModelPreset*> ModelCatalogue::search(std::string_view text) const {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        if (const std::string word = squeezed(text.substr(at, end - at)); !word.empty()) words.push_back(word);
        at = end + 1;
    }
    std::vector<const ModelPreset*> found;
    for (const ModelPreset& preset : presets_) {
        std::string all = squeezed(preset.name) + " " + squeezed(preset.hf_id) + " " + squeezed(preset.facts["model_type"].string().value_or(""));
        for (const std::string& alias : preset.aliases) all += " " + squeezed(alias);
        if (std::all_of(words.begin(), words.end(), [&](const std::string& word) { return all.find(word) != std::string::npos; })) found.push_back(&preset);
    }
    return found;
}

ReadOptions apply_stored(const json::Value& stored, ReadOptions options, json::Reader& reader) {
    const auto flag = [&](std::string_view name, std::optional<bool>& option) {
        if (const auto value = reader.boolean(stored, {name}); value && !option) option = value;
    };
    const auto type = [&](std::string_view name, std::optional<DType>& option) {
        const auto word = reader.string(stored, {name});
        if (!word || option) return;
        option = dtype_named(*word);
        if (!option) reader.error(stored[name], "value.unknown", "this is no type of stored elements", "fp32, fp16, bf16, int32 or int64");
    };
    flag("stored_lm_head", options.stored_lm_head);
    flag("stored_draft", options.stored_draft);
    flag("draft_own_embedding", options.draft_own_embedding);
    type("base_dtype", options.base_dtype);
    type("shape_dtype", options.shape_dtype);
    type("state_param_dtype", options.state_param_dtype);
    const std::vector<std::string> keep = reader.string_list(stored, {"keep"}).value_or(std::vector<std::string>{});
    // Exceptions belong to the release's own format, not to another that was asked for.
    if (options.quantization.empty()) options.extra_ignore.insert(options.extra_ignore.end(), keep.begin(), keep.end());
    static constexpr std::string_view kKnown[] = {"stored_lm_head", "stored_draft", "draft_own_embedding", "base_dtype", "shape_dtype", "state_param_dtype", "keep"};
    reader.warn_unused(stored, kKnown);
    return options;
}

std::optional<LlmSpec> read_preset(const ModelPreset& preset, ReadOptions options, Diagnostics& diagnostics) {
    json::Reader reader(diagnostics);
    options = apply_stored(preset.stored, std::move(options), reader);
    if (options.name.empty()) options.name = preset.name;
    if (options.hf_id.empty()) options.hf_id = preset.hf_id;
    std::optional<LlmSpec> spec = read_model(ModelFiles{preset.facts, {}}, options, diagnostics);
    if (spec) spec->provenance.insert(spec->provenance.begin(), {"preset", preset.name, preset.source});
    return spec;
}

}  // namespace kvplan
