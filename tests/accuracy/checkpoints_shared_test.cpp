// All rows of a collection of published sizes, on the real configs, where that collection lies beside the source.

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "models/json/reader.hpp"
#include "tests/accuracy/checkpoint_facts.hpp"
#include "tests/support/catch.hpp"
#include "units/format.hpp"

using namespace kvplan;
using namespace kvplan::accuracy;
namespace fs = std::filesystem;

namespace {

std::string shared_directory() {
    if (const char* path = std::getenv("KVPLAN_SHARED_DIR")) return path;
    return (fs::path(KVPLAN_SOURCE_DIR).parent_path() / "shared").string();
}

Counting counting_from(const std::string& convention) {
    static const std::map<std::string, Counting> kNames{{"raw", Counting::stored},
                                                        {"logical", Counting::parameters},
                                                        {"num_parameters", Counting::without_scales},
                                                        {"i32x8", Counting::words_times_8},
                                                        {"u8x2_blocks", Counting::bytes_times_2}};
    const auto found = kNames.find(convention);
    REQUIRE(found != kNames.end());
    return found->second;
}

ReadOptions options_of(const json::Value& overrides) {
    ReadOptions options;
    for (const auto& [name, value] : overrides.members()) {
        if (name == "stored_lm_head") options.stored_lm_head = value.boolean();
        else if (name == "no_mtp_stored") options.stored_draft = !value.boolean().value_or(false);
        else if (name == "mtp_own_embed") options.draft_own_embedding = value.boolean();
        else if (name == "force_quant") options.quantization = std::string(value.string().value_or("?"));
        else if (name == "no_quant") options.quantization = "none";
        else if (name == "base_dtype") options.base_dtype = DType::f32;
        else if (name == "shape_dt") options.shape_dtype = DType::i32;
        else if (name == "ssm_param_dt") options.state_param_dtype = DType::f32;
        else if (name == "gdn_fp32") options.state_param_dtype = DType::bf16;
        else if (name == "use_qk_norm") options.facts["use_qk_norm"] = 1;
        else if (name == "extra_ignore")
            for (const json::Value& pattern : value.elements()) options.extra_ignore.emplace_back(pattern.string().value_or(""));
        else if (name == "cfg")
            for (const auto& [key, number] : value.members()) options.facts[std::string(key)] = number.integer().value_or(0);
        else
            FAIL("unknown override " << name);
    }
    return options;
}

CheckpointFact fact_of(const json::Value& row) {
    CheckpointFact fact;
    fact.model = std::string(row["model"].string().value_or(""));
    fact.described_by = std::string(row["config"].string().value_or(""));
    fact.options = options_of(row["overrides"]);
    fact.counting = counting_from(std::string(row["count_convention"].string().value_or("raw")));
    fact.elements = row["total_params"].integer();
    fact.bytes = row["checkpoint_bytes"].integer();
    if (const auto gib = row["checkpoint_gib_2dp"].number()) {
        fact.bytes = static_cast<std::int64_t>(std::llround(*gib * static_cast<double>(kGiB)));
        fact.bytes_rounding = 0.005 * static_cast<double>(kGiB) + 1;
    }
    fact.tensors = row["tensors"].integer();
    return with_active(std::move(fact), std::string(row["active_params"].string().value_or("")));
}

}  // namespace

TEST_CASE("Published sizes of real checkpoints come out of their configs", "[accuracy][checkpoints][shared]") {
    const fs::path data = fs::path(shared_directory()) / "data";
    std::ifstream rows(data / "checkpoint_sizes.jsonl");
    if (!rows) {
        WARN("skipped: no collection of checkpoint sizes beside the source (KVPLAN_SHARED_DIR)");
        return;
    }
    const bool verbose = std::getenv("KVPLAN_VERBOSE") != nullptr;
    int compared = 0;
    std::string text, line;
    while (std::getline(rows, line)) {
        Diagnostics diagnostics;
        const auto row = json::parse(line, "checkpoint_sizes.jsonl", diagnostics);
        REQUIRE(row);
        const CheckpointFact fact = fact_of(row->root());
        const fs::path config_path = data / "configs" / (fact.described_by + ".json");
        if (!fs::exists(config_path)) continue;
        INFO(fact.model << " by " << fact.described_by);
        const auto config = json::parse_file(config_path.string(), diagnostics);
        REQUIRE(config);
        ModelFiles files{config->root(), {}};
        std::optional<json::Document> quant;
        const fs::path quant_path = data / "configs" / (fact.described_by + ".hf_quant_config.json");
        if (fs::exists(quant_path)) quant = json::parse_file(quant_path.string(), diagnostics);
        if (quant) files.hf_quant_config = quant->root();
        const auto spec = read_model(files, fact.options, diagnostics);
        INFO(render(diagnostics));
        CHECK(spec);
        if (!spec) continue;
        ++compared;
        const CheckpointComparison result = compare(fact, *spec);
        if (verbose)
            text += fact.model + " | " + fact.options.quantization + " | elements " + std::to_string(result.elements) + " (" +
                    fixed(result.elements_error(fact) * 100, 5) + " %, " + std::to_string(fact.elements ? result.elements - *fact.elements : 0) + ") bytes " +
                    fixed(result.bytes_error(fact) * 100, 4) + " % active " + fixed(static_cast<double>(result.active) / 1e9, 2) + " (" +
                    fixed(result.active_error(fact) * 100, 1) + " %) tensors " + std::to_string(result.tensors) + " of " +
                    std::to_string(fact.tensors.value_or(0)) + "\n";
        CHECK(std::fabs(result.elements_error(fact)) <= 0.001);
        if (fact.elements && !result.packed)
            CHECK(std::fabs(static_cast<double>(result.total_params - *fact.elements)) <= 0.001 * static_cast<double>(*fact.elements));
        CHECK(std::fabs(result.bytes_error(fact)) <= 0.005);
        CHECK(result.active_excess(fact) <= 0.05);
    }
    CHECK(compared > 100);
    if (verbose) WARN(text);
}
