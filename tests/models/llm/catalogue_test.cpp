#include "models/llm/catalogue.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <unistd.h>

#include "models/llm/checkpoint_directory.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;
namespace fs = std::filesystem;

namespace {

const ModelCatalogue& embedded() {
    static const ModelCatalogue catalogue = [] {
        Diagnostics diagnostics;
        ModelCatalogue loaded = ModelCatalogue::load(std::nullopt, diagnostics);
        INFO(render(diagnostics));
        CHECK(diagnostics.empty());
        return loaded;
    }();
    return catalogue;
}

class Directory {
public:
    Directory() {
        static int counter = 0;
        path_ = fs::temp_directory_path() / ("kvplan_catalogue_" + std::to_string(::getpid()) + "_" + std::to_string(counter++));
        fs::create_directories(path_);
    }
    ~Directory() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;
    std::string write(const std::string& name, const std::string& text) const {
        fs::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name, std::ios::binary) << text;
        return (path_ / name).string();
    }
    std::string path() const { return path_.string(); }

private:
    fs::path path_;
};

// A Llama of one layer: 8 wide, two heads of 4, a vocabulary of 16, FFN of 32. Elements: q, k, v, o 4 x 64; gate, up,
// down 3 x 256; norms 3 x 8; embedding and head 2 x 128: 256 + 768 + 24 + 256 = 1304.
const std::string kTiny = R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 1, "hidden_size": 8,
    "num_attention_heads": 2, "vocab_size": 16, "intermediate_size": 32, "torch_dtype": "bfloat16", "max_position_embeddings": 64)";

std::string tensors_file(const std::string& header, std::size_t data) {
    std::string head(8, '\0');
    head[0] = static_cast<char>(header.size() & 0xff);
    head[1] = static_cast<char>(header.size() >> 8);
    return head + header + std::string(data, '\0');
}

std::string code_of(const std::string& name) {
    Diagnostics diagnostics;
    CHECK_FALSE(find_model(name, {}, std::nullopt, diagnostics));
    REQUIRE_FALSE(diagnostics.items().empty());
    return diagnostics.items().back().code;
}

}  // namespace

TEST_CASE("At least 60 presets load, each with a source, and can be read", "[catalogue][presets]") {
    CHECK(embedded().all().size() >= 60);
    for (const ModelPreset& preset : embedded().all()) {
        INFO(preset.name);
        CHECK(preset.source.size() > 20);
        CHECK(looks_like_hf_id(preset.hf_id));
        Diagnostics diagnostics;
        const auto spec = read_preset(preset, {}, diagnostics);
        INFO(render(diagnostics));
        CHECK(diagnostics.empty());
        REQUIRE(spec);
        CHECK(spec->name == preset.name);
        CHECK(spec->hf_id == preset.hf_id);
        CHECK(spec->layers() > 0);
        CHECK(spec->ignored_keys.empty());  // a record holds nothing that no rule reads
        CHECK(spec->max_position_embeddings > 0);
        CHECK_FALSE(spec->provenance.empty());
    }
}

TEST_CASE("A name, an alias or an id belongs to one preset", "[catalogue][presets]") {
    std::map<std::string, std::string> owners;
    for (const ModelPreset& preset : embedded().all()) {
        std::vector<std::string> names = preset.aliases;
        names.push_back(preset.name);
        names.push_back(preset.hf_id);
        for (const std::string& name : names) {
            INFO(name);
            const auto [at, added] = owners.emplace(squeezed(name), preset.name);
            CHECK(at->second == preset.name);
            const NameMatch match = embedded().find(name);
            REQUIRE(match.kind == MatchKind::exact);
            CHECK(embedded().all()[match.index].name == preset.name);
        }
    }
}

TEST_CASE("Models are found as people write them", "[catalogue]") {
    const std::map<std::string, std::string> names{{"kimi-k2.5", "Kimi-K2.5"},
                                                   {"KIMI K2.5", "Kimi-K2.5"},
                                                   {"moonshotai/Kimi-K2.5", "Kimi-K2.5"},
                                                   {"kimi_k2", "Kimi-K2-Instruct"},
                                                   {"llama-3.1-70b", "Llama-3.1-70B-Instruct"},
                                                   {"deepseek-v3", "DeepSeek-V3"},
                                                   {"deepseek r1", "DeepSeek-R1"},
                                                   {"qwen3-235b", "Qwen3-235B-A22B"},
                                                   {"gpt-oss-120b", "gpt-oss-120b"},
                                                   {"glm5", "GLM-5"},
                                                   {"Qwen/Qwen3-Next-80B-A3B-Thinking", "Qwen3-Next-80B-A3B-Instruct"}};
    for (const auto& [asked, name] : names) {
        INFO(asked);
        Diagnostics diagnostics;
        const auto spec = find_model(asked, {}, std::nullopt, diagnostics);
        INFO(render(diagnostics));
        REQUIRE(spec);
        CHECK(spec->name == name);
    }
}

TEST_CASE("An unknown name gets the nearest, an unknown id the command that fetches it", "[catalogue][errors]") {
    Diagnostics diagnostics;
    CHECK_FALSE(find_model("kimmi-k2.5", {}, std::nullopt, diagnostics));
    REQUIRE(diagnostics.items().size() == 1);
    CHECK(diagnostics.items()[0].code == "model.unknown");
    CHECK(diagnostics.items()[0].hint.find("Kimi-K2.5") != std::string::npos);
    CHECK(diagnostics.items()[0].hint.find("hf download") == std::string::npos);

    Diagnostics id;
    CHECK_FALSE(find_model("some-org/Some-Model-7B", {}, std::nullopt, id));
    REQUIRE(id.items().size() == 1);
    CHECK(id.items()[0].hint.find("hf download some-org/Some-Model-7B --include config.json") != std::string::npos);

    CHECK(code_of("kimi") == "model.ambiguous");
    CHECK(code_of("") == "model.unknown");
    CHECK(code_of("./nowhere") == "file.missing");
    CHECK(code_of("nowhere.json") == "file.missing");
    // An id is exact: the beginning of another's is not it
    CHECK(code_of("moonshotai/Kimi-K") == "model.unknown");
}

TEST_CASE("A variant by name replaces the format; the format it has changes nothing", "[catalogue][override]") {
    const auto bytes = [](const std::string& quantization) {
        Diagnostics diagnostics;
        ReadOptions options;
        options.quantization = quantization;
        const auto spec = find_model("kimi-k2.5", options, std::nullopt, diagnostics);
        INFO(render(diagnostics));
        REQUIRE(spec);
        return totals(*spec).checkpoint_bytes;
    };
    CHECK(bytes("") == bytes("int4-g32"));
    CHECK(bytes("nvfp4") < bytes("fp8"));
    CHECK(bytes("fp8") < bytes("bf16"));
    Diagnostics diagnostics;
    ReadOptions options;
    options.quantization = "fp9";
    CHECK_FALSE(find_model("kimi-k2.5", options, std::nullopt, diagnostics));
    CHECK(diagnostics.has_errors());
}

TEST_CASE("A search takes words in any order", "[catalogue]") {
    const auto found = embedded().search("nvfp4 kimi");
    REQUIRE_FALSE(found.empty());
    for (const ModelPreset* preset : found) CHECK(preset->name.find("Kimi") == 0);
    CHECK(embedded().search("").size() == embedded().all().size());
    CHECK(embedded().search("no such thing").empty());
}

TEST_CASE("A directory of presets adds to the embedded ones and replaces them", "[catalogue][models-dir]") {
    const Directory directory;
    directory.write("mine.json", R"({"models": [
        {"name": "Mine-1B", "source": "my own training", "facts": {"family": "llama", "layers": 2, "hidden": 64, "heads": 4, "vocab": 100, "ffn": 128, "context": 256}},
        {"name": "kimi k2.5", "source": "another", "facts": {"family": "llama", "layers": 3, "hidden": 64, "heads": 4, "vocab": 100, "ffn": 128, "context": 256}}]})");
    Diagnostics diagnostics;
    CHECK(find_model("mine-1b", {}, directory.path(), diagnostics)->layers() == 2);
    CHECK(find_model("Kimi-K2.5", {}, directory.path(), diagnostics)->layers() == 3);
    CHECK(find_model("deepseek-v3", {}, directory.path(), diagnostics)->layers() == 61);
    CHECK(diagnostics.empty());

    directory.write("zz.json", R"({"models": [{"name": "x", "facts": {}}, {"name": "y", "source": 5, "facts": []}]})");
    (void)ModelCatalogue::load(directory.path(), diagnostics);
    CHECK(diagnostics.error_count() == 3);  // no source; a source and facts of another type
    Diagnostics missing;
    (void)ModelCatalogue::load(directory.path() + "/none", missing);
    CHECK(missing.items().at(0).code == "catalogue.directory");
}

TEST_CASE("A checkpoint directory: the config explains, the files are exact", "[catalogue][directory]") {
    const Directory directory;
    directory.write("config.json", kTiny + "}");
    Diagnostics diagnostics;
    auto spec = find_model(directory.path(), {}, std::nullopt, diagnostics);
    REQUIRE(spec);
    CHECK(totals(*spec).stored_elements == 1304);
    CHECK(totals(*spec).checkpoint_bytes == Bytes{2608});
    CHECK_FALSE(spec->exact_checkpoint_bytes);

    // An index that says 2,610 is believed; the difference is below half a percent
    directory.write("model.safetensors.index.json", R"({"metadata": {"total_size": 2610}, "weight_map": {"model.layers.0.x": "model-1.safetensors"}})");
    spec = find_model(directory.path(), {}, std::nullopt, diagnostics);
    REQUIRE(spec);
    CHECK(totals(*spec).checkpoint_bytes == Bytes{2610});
    CHECK(diagnostics.empty());

    // Headers are better than the index, and 2,000 bytes are not what the config explains
    directory.write("model-1.safetensors", tensors_file(R"({"model.layers.0.x":{"dtype":"BF16","shape":[1000],"data_offsets":[0,2000]}})", 2000));
    spec = find_model(directory.path() + "/", {}, std::nullopt, diagnostics);
    REQUIRE(spec);
    CHECK(totals(*spec).checkpoint_bytes == Bytes{2000});
    CHECK(totals(*spec).stored_elements == 1000);
    REQUIRE(diagnostics.items().size() == 1);
    CHECK(diagnostics.items()[0].code == "model.checkpoint-differs");

    // Another format is computed
    ReadOptions options;
    options.quantization = "fp32";
    CHECK(totals(*find_model(directory.path(), options, std::nullopt, diagnostics)).checkpoint_bytes == Bytes{1304 * 4});
}

TEST_CASE("A head beside tied embeddings is seen in the index", "[catalogue][directory][quirks]") {
    const Directory directory;
    directory.write("config.json", kTiny + R"(, "tie_word_embeddings": true})");
    Diagnostics diagnostics;
    CHECK(totals(*find_model(directory.path(), {}, std::nullopt, diagnostics)).total_params == 1304 - 128);
    directory.write("model.safetensors.index.json", R"({"weight_map": {"lm_head.weight": "a.safetensors", "model.layers.0.x": "a.safetensors"}})");
    CHECK(totals(*find_model(directory.path(), {}, std::nullopt, diagnostics)).total_params == 1304);
}

TEST_CASE("Snapshots of the Hugging Face cache", "[catalogue][cache]") {
    const Directory cache;
    const std::string model = "models--org--Tiny-1B/";
    CHECK_FALSE(find_hf_snapshot(cache.path(), "org/Tiny-1B"));
    cache.write(model + "snapshots/aaaa/config.json", kTiny + "}");
    CHECK(find_hf_snapshot(cache.path(), "org/Tiny-1B") == cache.path() + "/" + model + "snapshots/aaaa");
    cache.write(model + "snapshots/bbbb/config.json", kTiny + "}");
    cache.write(model + "refs/main", "aaaa");
    CHECK(find_hf_snapshot(cache.path(), "org/Tiny-1B") == cache.path() + "/" + model + "snapshots/aaaa");
    // A reference that leads elsewhere is not followed
    cache.write(model + "refs/main", "../../../etc");
    CHECK(find_hf_snapshot(cache.path(), "org/Tiny-1B"));
    CHECK_FALSE(find_hf_snapshot(cache.path(), "org/../Tiny-1B"));
    CHECK_FALSE(find_hf_snapshot("", "org/Tiny-1B"));

    CHECK(looks_like_hf_id("org/Model-7B_x.y"));
    for (const char* text : {"model", "/model", "org/", "a/b/c", "./x/y", "~/x", "org/mo del", "../x", ""}) CHECK_FALSE(looks_like_hf_id(text));
}

TEST_CASE("Reading only what has the name finds the same preset as reading all", "[catalogue]") {
    for (const ModelPreset& preset : embedded().all()) {
        std::vector<std::string> names = preset.aliases;
        names.push_back(preset.name);
        if (!preset.hf_id.empty()) names.push_back(preset.hf_id);
        for (const std::string& name : names) {
            CAPTURE(name);
            Diagnostics diagnostics;
            const ModelCatalogue some = ModelCatalogue::load_named(name, std::nullopt, diagnostics);
            const NameMatch match = some.find(name), full = embedded().find(name);
            REQUIRE(match.kind == MatchKind::exact);
            CHECK(some.all()[match.index].name == embedded().all()[full.index].name);
            CHECK(some.all().size() < embedded().all().size());
        }
    }
}
