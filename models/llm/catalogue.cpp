#include "models/llm/catalogue.hpp"

#include <filesystem>

namespace kvplan {

namespace {

std::optional<json::Document> read_document(const std::filesystem::path& path, Diagnostics& diagnostics) {
    auto text = json::read_file(path.string(), diagnostics);
    if (!text) return std::nullopt;
    return json::parse(std::move(*text), path.string(), diagnostics);
}

std::optional<LlmSpec> read_directory(const std::filesystem::path& directory, ReadOptions options, Diagnostics& diagnostics) {
    const auto config = read_document(directory / "config.json", diagnostics);
    if (!config) return std::nullopt;
    std::optional<json::Document> quant;
    if (const auto path = directory / "hf_quant_config.json"; std::filesystem::exists(path)) quant = read_document(path, diagnostics);
    ModelFiles files;
    files.config = config->root();
    if (quant) files.hf_quant_config = quant->root();
    if (options.name.empty()) options.name = directory.filename().string();
    return read_model(files, options, diagnostics);
}

}  // namespace

std::optional<LlmSpec> find_model(const std::string& name, ReadOptions options, const std::optional<std::string>& /*models_dir*/,
                                  Diagnostics& diagnostics) {
    std::error_code ignored;
    if (std::filesystem::is_directory(name, ignored)) return read_directory(name, std::move(options), diagnostics);
    const auto config = read_document(name, diagnostics);
    if (!config) return std::nullopt;
    if (options.name.empty()) options.name = std::filesystem::path(name).filename().string();
    return read_model(*config, options, diagnostics);
}

}  // namespace kvplan
