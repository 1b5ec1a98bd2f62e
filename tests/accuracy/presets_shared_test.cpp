// Presets against the real configs they were taken from, and real indexes, where those lie beside the source.

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "models/llm/catalogue.hpp"
#include "models/llm/safetensors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"

using namespace kvplan;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> split(const std::string& line, char separator) {
    std::vector<std::string> parts;
    std::istringstream in(line);
    for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
    return parts;
}

/// "org/name" -> "org__name".
std::string stem_of(const std::string& hf_id) {
    const std::size_t slash = hf_id.find('/');
    return hf_id.substr(0, slash) + "__" + hf_id.substr(slash + 1);
}

// Files that are not the originals (flattened, or without the vision section that the preset has from elsewhere).
bool is_no_original(const std::string& stem) {
    return stem == "MiniMaxAI__MiniMax-M3" || stem == "meta-llama__Llama-4-Scout-17B-16E-Instruct";
}

}  // namespace

TEST_CASE("A preset reads to the same model as the config it was taken from", "[accuracy][presets][shared]") {
    const fs::path configs = fs::path(test::shared_directory()) / "data" / "configs";
    if (test::shared_directory().empty()) {
        WARN("skipped: no collection of configs beside the source");
        return;
    }
    Diagnostics diagnostics;
    const ModelCatalogue catalogue = ModelCatalogue::load(std::nullopt, diagnostics);
    int compared = 0;
    for (const ModelPreset& preset : catalogue.all()) {
        const std::string stem = stem_of(preset.hf_id);
        if (!fs::exists(configs / (stem + ".json")) || is_no_original(stem)) continue;
        INFO(preset.name);
        const auto config = json::parse_file((configs / (stem + ".json")).string(), diagnostics);
        std::optional<json::Document> quant;
        if (fs::exists(configs / (stem + ".hf_quant_config.json")))
            quant = json::parse_file((configs / (stem + ".hf_quant_config.json")).string(), diagnostics);
        REQUIRE(config);
        json::Reader reader(diagnostics);
        const auto real = read_model({config->root(), quant ? quant->root() : json::Value{}}, apply_stored(preset.stored, {}, reader), diagnostics);
        const auto ours = read_preset(preset, {}, diagnostics);
        INFO(render(diagnostics));
        REQUIRE(real);
        REQUIRE(ours);
        CHECK(ours->family == real->family);
        CHECK(ours->architecture == real->architecture);
        CHECK(ours->model_type == real->model_type);
        CHECK(ours->max_position_embeddings == real->max_position_embeddings);
        CHECK(ours->tied_embeddings == real->tied_embeddings);
        CHECK(ours->checkpoint_kv_dtype == real->checkpoint_kv_dtype);
        CHECK(ours->quant_method == real->quant_method);
        CHECK(ours->layer_class == real->layer_class);
        CHECK((ours->classes == real->classes));
        CHECK((ours->outside == real->outside));
        CHECK(ours->draft.has_value() == real->draft.has_value());
        if (ours->draft && real->draft) CHECK((ours->draft->layers == real->draft->layers && ours->draft->layer == real->draft->layer));
        ++compared;
    }
    CHECK(compared > 100);
}

TEST_CASE("Real indexes give exact bytes, and their configs explain them", "[accuracy][index][shared]") {
    const fs::path data = fs::path(test::shared_directory()) / "data";
    std::ifstream sources(data / "index" / "SOURCES.tsv");
    if (!sources || std::system("gzip --version > /dev/null 2>&1") != 0) {
        WARN("skipped: no collection of indexes beside the source, or no gzip");
        return;
    }
    std::string line;
    std::getline(sources, line);
    int compared = 0;
    while (std::getline(sources, line)) {
        const std::vector<std::string> columns = split(line, '\t');
        REQUIRE(columns.size() == 6);
        const fs::path packed = data / "index" / (columns[0] + ".gz");
        const std::string text_path = test::temporary_file("index/" + columns[0], "");
        INFO(columns[0]);
        REQUIRE(std::system(("gzip -dc '" + packed.string() + "' > '" + text_path + "'").c_str()) == 0);
        Diagnostics diagnostics;
        const auto index = read_safetensors_index(text_path, diagnostics);
        INFO(render(diagnostics));
        REQUIRE(index);
        CHECK(index->total_size == Bytes{std::stoll(columns[4])});
        CHECK(index->tensors == std::stoll(columns[5]));

        // The same beside its config, as a directory: the config explains the bytes within half a percent.
        const std::string stem = columns[0].substr(0, columns[0].find(".index.json"));
        if (!fs::exists(data / "configs" / (stem + ".json"))) continue;
        const std::string place = "checkpoint-" + stem + "/";
        std::ifstream config(data / "configs" / (stem + ".json"), std::ios::binary);
        std::ostringstream config_text;
        config_text << config.rdbuf();
        const fs::path directory = fs::path(test::temporary_file(place + "config.json", config_text.str())).parent_path();
        fs::rename(text_path, directory / "model.safetensors.index.json");
        const auto spec = find_model(directory.string(), {}, std::nullopt, diagnostics);
        INFO(render(diagnostics));
        REQUIRE(spec);
        CHECK(totals(*spec).checkpoint_bytes == Bytes{std::stoll(columns[4])});
        CHECK(diagnostics.empty());  // no model.checkpoint-differs
        ++compared;
    }
    CHECK(compared >= 14);
}
