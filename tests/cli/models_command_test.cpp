#include <nlohmann/json.hpp>
#include <string>

#include "cli/model_description.hpp"
#include "models/llm/catalogue.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"

using namespace kvplan;
using Json = nlohmann::json;
using test::run_kvplan;

TEST_CASE("models list, search and families", "[cli][models]") {
    const auto all = run_kvplan({"models", "list", "--format", "json"});
    CHECK(all.exit_code == 0);
    CHECK(all.err.empty());
    CHECK(Json::parse(all.out)["models"].size() >= 60);

    const auto found = Json::parse(run_kvplan({"--format", "json", "models", "search", "nvfp4", "kimi"}).out)["models"];
    REQUIRE(found.size() >= 2);
    for (const auto& model : found) CHECK(model["quantization"] == "nvfp4");
    CHECK(Json::parse(run_kvplan({"models", "search", "no-such-model", "--format", "json"}).out)["models"].empty());

    const auto families = Json::parse(run_kvplan({"models", "list", "--families", "--format", "json"}).out)["families"];
    CHECK(families.size() >= 30);
    for (const auto& family : families) CHECK((family["verified"] || family["source"].get<std::string>().size() > 10));
}

TEST_CASE("models show tells a model by kind and component", "[cli][models]") {
    const auto ran = run_kvplan({"models", "show", "deepseek-v3", "--format", "json"});
    REQUIRE(ran.exit_code == 0);
    const Json model = Json::parse(ran.out);
    CHECK(model["hf_id"] == "deepseek-ai/DeepSeek-V3");
    CHECK(model["layers"] == 61);
    CHECK(model["quantization"] == "fp8 128x128");
    CHECK(model["draft_layers"] == 1);
    // 684,531,386,000 elements are published, scales included
    CHECK(model["stored_elements"] == 684531386000);
    CHECK(model["tensors"] == 91991);
    // 61 layers x (512 + 64) x 2 bytes
    CHECK(model["kv_cache"]["bytes_per_token"] == 70272);
    REQUIRE(model["layer_kinds"].size() == 2);
    CHECK(model["layer_kinds"][0]["layers"] == 3);
    CHECK(model["layer_kinds"][0]["ffn"]["intermediate"] == 18432);
    CHECK(model["layer_kinds"][1]["layers"] == 58);
    CHECK(model["layer_kinds"][1]["attention"]["kind"] == "latent");
    CHECK(model["layer_kinds"][1]["ffn"]["experts"] == 256);
    CHECK_FALSE(model["sources"].empty());
}

TEST_CASE("Components of a model sum to the whole", "[cli][models][property]") {
    Diagnostics diagnostics;
    const ModelCatalogue catalogue = ModelCatalogue::load(std::nullopt, diagnostics);
    for (const ModelPreset& preset : catalogue.all()) {
        INFO(preset.name);
        const auto spec = read_preset(preset, {}, diagnostics);
        REQUIRE(spec);
        const auto model = cli::model_json(*spec);
        std::int64_t params = 0, bytes = 0, layers = 0;
        for (const auto& component : model["components"]) {
            params += component["params"].get<std::int64_t>();
            bytes += component["bytes"].get<std::int64_t>();
            CHECK_FALSE(component["formats"].empty());
        }
        for (const auto& kind : model["layer_kinds"]) layers += kind["layers"].get<std::int64_t>();
        CHECK(params == model["total_params"]);
        CHECK(bytes == model["checkpoint_bytes"]);
        CHECK(layers == model["layers"]);
        CHECK((model["kv_cache"]["bytes_per_token"].get<double>() > 0 || model["kv_cache"]["state_bytes_per_slot"].get<std::int64_t>() > 0));
        CHECK(cli::describe_model(*spec).sections.size() == 5);
    }
}

TEST_CASE("models show reads files and says what it did not use", "[cli][models]") {
    const std::string path = test::temporary_file("models-show/config.json", R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
        "vocab_size": 100, "intermediate_size": 128, "rope_theta": 10000, "brand_new_key": 1})");
    const auto ran = run_kvplan({"models", "show", path});
    CHECK(ran.exit_code == 0);
    CHECK(ran.out.find("brand_new_key") != std::string::npos);
    CHECK(ran.out.find("config names no type") != std::string::npos);
    const auto fp32 = run_kvplan({"models", "show", path, "--quantization", "fp32", "--format", "json"});
    // 2 x (4 x 64 x 64 + 3 x 128 x 64 + 2 x 64) + 2 x 100 x 64 + 64 = 95,040 elements of four bytes
    CHECK(Json::parse(fp32.out)["checkpoint_bytes"] == 4 * 95040);
}

TEST_CASE("Faults of models are usage errors with a way on", "[cli][models][errors]") {
    const auto unknown = run_kvplan({"models", "show", "kimmi-k2.5"});
    CHECK(unknown.exit_code == 2);
    CHECK(unknown.out.empty());
    CHECK(unknown.err.find("Kimi-K2.5") != std::string::npos);
    CHECK(run_kvplan({"models", "show", "kimi-k2.5", "--quantization", "fp9"}).exit_code == 2);
    CHECK(run_kvplan({"models"}).out == run_kvplan({"models", "list"}).out);
    CHECK(run_kvplan({"models", "list", "--models-dir", "/no/such/place"}).exit_code == 2);

    const std::string type = test::temporary_file("models-show/new.json", R"({"model_type": "llamma", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
        "vocab_size": 100, "intermediate_size": 128})");
    const auto refused = run_kvplan({"models", "show", type});
    CHECK(refused.exit_code == 2);
    CHECK(refused.err.find("--assume-family llama") != std::string::npos);
    CHECK(run_kvplan({"models", "show", type, "--assume-family", "llama"}).exit_code == 0);
}
