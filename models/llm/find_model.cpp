#include <filesystem>
#include <span>

#include "models/llm/catalogue.hpp"
#include "models/llm/checkpoint_directory.hpp"

namespace kvplan {

namespace {

namespace fs = std::filesystem;

bool ends(std::string_view text, std::string_view end) { return text.size() >= end.size() && text.substr(text.size() - end.size()) == end; }

/// Whether a name is meant as a place on disk rather than a name.
bool is_path(const std::string& name) {
    if (name.empty()) return false;
    if (name.front() == '/' || name.front() == '.' || name.front() == '~' || ends(name, ".json") || ends(name, "/")) return true;
    std::error_code ignored;
    return fs::exists(fs::path(name) / "config.json", ignored) || fs::is_regular_file(name, ignored);
}

/// Some releases keep the quantization out of config.json, in a file beside it; a saved copy "x.json" may have its own as
/// "x.hf_quant_config.json".
fs::path quantization_beside(const fs::path& config) {
    if (config.filename() == "config.json") return config.parent_path() / "hf_quant_config.json";
    fs::path beside = config;
    return beside.replace_extension(".hf_quant_config.json");
}

std::optional<LlmSpec> read_path(const std::string& name, ReadOptions options, Diagnostics& diagnostics) {
    std::error_code ignored;
    if (fs::is_directory(name, ignored)) return read_checkpoint_directory(name, std::move(options), diagnostics);
    const auto config = json::parse_file(name, diagnostics);
    if (!config) return std::nullopt;
    if (options.name.empty()) options.name = fs::path(name).filename().string();
    ModelFiles files;
    files.config = config->root();
    std::optional<json::Document> quantization;
    if (const fs::path beside = quantization_beside(name); fs::exists(beside, ignored)) {
        quantization = json::parse_file(beside.string(), diagnostics);
        if (quantization) files.hf_quant_config = quantization->root();
    }
    return read_model(files, options, diagnostics);
}

void unknown(const std::string& name, const NameMatch& match, Diagnostics& diagnostics) {
    Diagnostic fault;
    const bool ambiguous = match.kind == MatchKind::ambiguous && !looks_like_hf_id(name);
    fault.code = ambiguous ? "model.ambiguous" : "model.unknown";
    fault.pointer = "--model";
    fault.found = name;
    fault.message = ambiguous ? "several models have names like this" : "no model of this name is known";
    fault.expected = "a preset (`kvplan models list`), a Hugging Face id, a config.json or a checkpoint directory";
    fault.hint = did_you_mean(match.others);
    // Patterns, because a name that is not there would end the fetching with an error.
    if (looks_like_hf_id(name))
        fault.hint += std::string(fault.hint.empty() ? "" : "; ") + "to fetch only its description: hf download " + name +
                      " --include config.json hf_quant_config.json \"*.safetensors.index.json\"";
    diagnostics.add(std::move(fault));
}

}  // namespace

std::optional<LlmSpec> find_model(const std::string& name, ReadOptions options, const std::optional<std::string>& models_dir,
                                  Diagnostics& diagnostics) {
    if (is_path(name)) return read_path(name, std::move(options), diagnostics);
    Diagnostics of_named;
    ModelCatalogue catalogue = ModelCatalogue::load_named(name, models_dir, of_named);
    NameMatch match = catalogue.find(name);
    if (match.kind == MatchKind::exact) {
        for (const Diagnostic& diagnostic : of_named.items()) diagnostics.add(diagnostic);
    } else {
        catalogue = ModelCatalogue::load(models_dir, diagnostics);
        match = catalogue.find(name);
    }
    // An id names one model: another of the same maker whose name begins so is not it.
    const bool is_id = looks_like_hf_id(name);
    if (match.found() && (!is_id || match.kind == MatchKind::exact)) {
        const ModelPreset& preset = catalogue.all()[match.index];
        if (match.kind != MatchKind::exact) {
            Diagnostic note;
            note.severity = Severity::note;
            note.code = "model.short-name";
            note.pointer = "--model";
            note.found = name;
            note.message = "taken for " + preset.name;
            diagnostics.add(std::move(note));
        }
        return read_preset(preset, std::move(options), diagnostics);
    }
    if (is_id) {
        if (const auto snapshot = find_hf_snapshot(hf_cache_directory(), name)) {
            options.name = options.name.empty() ? name : options.name;
            options.hf_id = options.hf_id.empty() ? name : options.hf_id;
            return read_checkpoint_directory(*snapshot, std::move(options), diagnostics);
        }
    }
    std::error_code ignored;
    if (fs::is_directory(name, ignored)) return read_path(name, std::move(options), diagnostics);  // tells what is missing in it
    unknown(name, match, diagnostics);
    return std::nullopt;
}

}  // namespace kvplan
