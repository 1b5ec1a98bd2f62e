#include "models/llm/checkpoint_directory.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "models/llm/safetensors.hpp"
#include "units/ascii.hpp"

namespace kvplan {

namespace {

namespace fs = std::filesystem;

/// More than this between what files hold and what the config explains is worth a warning.
constexpr double kExplained = 0.005;

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string{} : std::string(value);
}

/// What the names of the stored tensors say that no config does. `layers` are the main model's.
ReadOptions with_names(ReadOptions options, const TensorNames& names, const LlmSpec& spec) {
    const std::int64_t layers = spec.layers();
    if (names.lm_head && spec.tied_embeddings && !options.stored_lm_head) options.stored_lm_head = true;
    if (names.layers == 0 || !spec.draft) return options;
    const bool stored = names.draft_module || names.layers > layers;
    if (!options.stored_draft) options.stored_draft = stored;
    if (stored && !options.draft_own_embedding) options.draft_own_embedding = names.draft_embedding || names.embedding_layers > layers;
    return options;
}

void note_difference(const LlmSpec& spec, const CheckpointSizes& sizes, const std::string& directory, Diagnostics& diagnostics) {
    const auto computed = static_cast<double>(totals(spec).checkpoint_bytes.count());
    const auto there = static_cast<double>(sizes.bytes->count());
    if (std::fabs(computed - there) <= kExplained * there) return;
    Diagnostic warning;
    warning.severity = Severity::warning;
    warning.code = "model.checkpoint-differs";
    warning.file = directory;
    warning.message = "the files hold another number of bytes than the config explains; the sum is exact, its parts are not";
    warning.found = std::to_string(sizes.bytes->count()) + " bytes";
    warning.expected = std::to_string(totals(spec).checkpoint_bytes.count()) + " bytes by the config";
    diagnostics.add(std::move(warning));
}

}  // namespace

std::optional<LlmSpec> read_checkpoint_directory(const std::string& directory, ReadOptions options, Diagnostics& diagnostics) {
    const fs::path path(directory);
    const auto config = json::parse_file((path / "config.json").string(), diagnostics);
    std::optional<json::Document> quant;
    std::error_code ignored;
    if (fs::exists(path / "hf_quant_config.json", ignored)) quant = json::parse_file((path / "hf_quant_config.json").string(), diagnostics);
    const std::optional<CheckpointSizes> sizes = measure_checkpoint(directory, diagnostics);
    if (!config) return std::nullopt;
    ModelFiles files;
    files.config = config->root();
    if (quant) files.hf_quant_config = quant->root();
    if (options.name.empty()) options.name = fs::absolute(path, ignored).lexically_normal().filename().string();
    if (options.name.empty()) options.name = fs::absolute(path, ignored).lexically_normal().parent_path().filename().string();
    std::optional<LlmSpec> spec = read_model(files, options, diagnostics);
    if (!spec || !sizes) return spec;
    const ReadOptions better = with_names(options, sizes->names, *spec);
    const bool changed = better.stored_lm_head != options.stored_lm_head || better.stored_draft != options.stored_draft ||
                         better.draft_own_embedding != options.draft_own_embedding;
    if (changed) spec = read_model(files, better, diagnostics);
    // Another format than the stored one is computed; the files' sizes are no longer the model's.
    if (!spec || !sizes->bytes || !options.quantization.empty()) return spec;
    note_difference(*spec, *sizes, directory, diagnostics);
    spec->exact_checkpoint_bytes = sizes->bytes;
    spec->exact_stored_elements = sizes->elements;
    const bool headers = sizes->basis == CheckpointSizes::Basis::headers;
    spec->provenance.push_back({"checkpoint_bytes", std::to_string(sizes->bytes->count()),
                                headers ? "headers of " + std::to_string(sizes->files) + " safetensors files" : "metadata.total_size of the index"});
    return spec;
}

bool looks_like_hf_id(std::string_view name) {
    const std::size_t slash = name.find('/');
    if (slash == std::string_view::npos || slash == 0 || slash + 1 == name.size() || name.find('/', slash + 1) != std::string_view::npos) return false;
    if (name.front() == '.' || name.front() == '~' || name[slash + 1] == '.') return false;
    for (const char c : name) {
        const bool allowed = is_alnum(c) || c == '-' || c == '_' || c == '.' || c == '/';
        if (!allowed) return false;
    }
    return true;
}

std::string hf_cache_directory() {
    if (const std::string hub = environment("HF_HUB_CACHE"); !hub.empty()) return hub;
    if (const std::string home = environment("HF_HOME"); !home.empty()) return (fs::path(home) / "hub").string();
    if (const std::string cache = environment("XDG_CACHE_HOME"); !cache.empty()) return (fs::path(cache) / "huggingface" / "hub").string();
    if (const std::string home = environment("HOME"); !home.empty()) return (fs::path(home) / ".cache" / "huggingface" / "hub").string();
    return {};
}

std::optional<std::string> find_hf_snapshot(const std::string& cache, std::string_view hf_id) {
    if (cache.empty() || !looks_like_hf_id(hf_id)) return std::nullopt;
    const std::size_t slash = hf_id.find('/');
    const fs::path model = fs::path(cache) / ("models--" + std::string(hf_id.substr(0, slash)) + "--" + std::string(hf_id.substr(slash + 1)));
    const auto has_config = [](const fs::path& snapshot) {
        std::error_code ignored;
        return fs::is_regular_file(snapshot / "config.json", ignored);
    };
    std::string revision;
    std::ifstream(model / "refs" / "main") >> revision;
    const bool plain = !revision.empty() && revision.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (plain && has_config(model / "snapshots" / revision)) return (model / "snapshots" / revision).string();
    std::optional<fs::path> newest;
    fs::file_time_type newest_time{};
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(model / "snapshots", error)) {
        std::error_code ignored;
        const fs::file_time_type time = entry.last_write_time(ignored);
        if (!has_config(entry.path()) || (newest && time <= newest_time)) continue;
        newest = entry.path();
        newest_time = time;
    }
    return newest ? std::optional(newest->string()) : std::nullopt;
}

}  // namespace kvplan
