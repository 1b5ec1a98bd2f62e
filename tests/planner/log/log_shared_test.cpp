// The collection of measured deployments that facts were taken from, where it lies beside the sources: every row of SGLang and
// vLLM that has a figure of a log is among the facts.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "models/json/document.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/log_writer.hpp"

using namespace kvplan;
namespace fs = std::filesystem;

namespace {

fs::path collection() {
    const char* given = std::getenv("KVPLAN_SHARED_DIR");
    const fs::path folder = given != nullptr ? fs::path(given) : fs::path(KVPLAN_SOURCE_DIR).parent_path() / "shared";
    return folder / "data" / "groundtruth.jsonl";
}

/// Rows whose figures no server printed.
const std::map<std::string, std::string> kNotInALog = {
    {"sglang-29092-qwen3-32b-h100-auto", "a fraction, which is a setting"},
};

bool is_of_a_log(const std::string& figure) { return figure.rfind("ci_floor_", 0) != 0 && figure.find("_derived_") == std::string::npos; }

}  // namespace

TEST_CASE("every measured deployment with a log's figures is among the facts", "[log][facts][shared]") {
    std::ifstream in(collection());
    if (!in) {
        WARN("skipped: no collection of measured deployments beside the sources (KVPLAN_SHARED_DIR)");
        return;
    }
    std::map<std::string, test::LogFacts> facts;
    for (test::LogFacts& row : test::load_log_facts()) facts.emplace(row.id, row);
    const std::map<std::string, std::string> names = {{"avail_mem_before_load_gb", "free_before"}, {"avail_mem_after_load_gb", "free_after"}, {"weight_usage_gb", "weights"}, {"kv_tokens", "pool_tokens"},
                                                      {"max_running_requests", "max_running"}, {"max_total_num_tokens", "max_tokens"}, {"avail_after_pool_gb", "pool_end"}, {"concurrency_x", "concurrency"},
                                                      {"model_loading_gib", "weights"}, {"available_kv_gib", "available"}, {"k_size_gb", "k"}, {"v_size_gb", "v"}, {"kv_size_gb", "kv"}};
    int rows = 0, figures = 0;
    for (std::string line; std::getline(in, line);) {
        if (line.empty()) continue;
        Diagnostics diagnostics;
        const auto document = json::parse(line, "row", diagnostics);
        REQUIRE(document);
        const json::Value row = document->root();
        const std::string engine(row["engine"].string().value_or(""));
        if (engine.rfind("sglang", 0) != 0 && engine.rfind("vllm", 0) != 0) continue;
        if (engine == "sglang-jax" || engine == "vllm-ascend" || engine == "vllm + LMCache") continue;
        const std::string id(row["id"].string().value_or(""));
        INFO(id);
        bool printed = false;
        for (const auto& [figure, value] : row["observed"].members()) printed = printed || (value.is_number() && is_of_a_log(std::string(figure)));
        if (!printed || kNotInALog.count(id) > 0) continue;
        ++rows;
        REQUIRE(facts.count(id) == 1);
        for (const auto& [figure, value] : row["observed"].members()) {
            const auto name = names.find(std::string(figure));
            if (name == names.end() || !value.is_number()) continue;
            INFO(figure);
            const auto& seen = facts.at(id).seen;
            // A negative number of tokens is printed as "the profiled value".
            const bool profiled = figure == "max_total_num_tokens" && *value.number() < 0;
            const auto found = seen.find(profiled ? "profiled_tokens" : name->second);
            REQUIRE(found != seen.end());
            CHECK(found->second == *value.number());
            ++figures;
        }
    }
    CHECK(rows > 200);
    CHECK(figures > 600);
}
