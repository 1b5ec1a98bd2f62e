// docs/*.schema.json against what the program really prints and reads.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "planner/resolve.hpp"
#include "planner/fields/fields.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/json_schema.hpp"

using namespace kvplan;
using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

namespace {

const std::string kDocs = std::string(KVPLAN_SOURCE_DIR) + "/docs/";
const std::string kPlanSchema = kDocs + "plan.schema.json", kScenarioSchema = kDocs + "scenario.schema.json";

std::string faults(const Json& document, const std::string& schema) {
    std::string text;
    for (const std::string& error : test::schema_errors(document, schema)) text += error + "\n";
    return text;
}

Json printed(Words words) {
    words.insert(words.begin() + 1, {"--format", "json"});
    const auto ran = test::run_kvplan(words);
    INFO(ran.err);
    REQUIRE(ran.exit_code != 2);
    return Json::parse(ran.out);
}

// Of every family and with every optional part: states, windows, drafts, host caches of both engines, a third tier, lengths
// known and unknown, what does not fit, what is unsafe.
const std::vector<Words>& plans() {
    static const std::vector<Words> all = {
        {"plan", "--model", "kimi-k2.5", "--gpu", "h200", "--tp", "8", "--host-ram", "2TB", "--enable-hierarchical-cache", "--hicache-size", "100", "--input-tokens", "4000:9000", "--output-tokens", "500"},
        {"plan", "--model", "kimi-k2.5", "--gpu", "rtx-pro-6000-blackwell", "--tp", "8", "--mem-fraction-static", "0.93", "--host-ram", "449GB", "--host-available", "408GB", "--enable-hierarchical-cache", "--hicache-size", "300"},
        {"plan", "--model", "deepseek-v3", "--gpu", "h200", "--tp", "8", "--dp", "8", "--enable-dp-attention", "--ep", "8", "--request-tokens", "5000", "--hit-rate", "0.5"},
        {"plan", "--model", "qwen3-235b-a22b", "--gpu", "h200", "--tp", "4", "--enable-hierarchical-cache", "--hicache-ratio", "2", "--host-ram", "2TB", "--hicache-storage-backend", "mooncake", "--speculative-algorithm", "EAGLE3", "--draft-model", "llama-3.2-1b", "--input-tokens", "3000", "--output-tokens", "400", "--hit-rate", "0.3"},
        {"plan", "--model", "kimi-k2.5", "--gpu", "h200", "--tp", "8", "--hicache-storage-backend", "file", "--enable-hierarchical-cache", "--hicache-size", "20", "--memlock", "50GB", "--numa-nodes", "2", "--cgroup-limit", "1TB", "--cgroup-used", "1GB"},
        {"plan", "--model", "qwen3-next", "--gpu", "h100", "--tp", "4", "--input-tokens", "1000", "--output-tokens", "300", "--concurrency", "20"},
        {"plan", "--model", "gpt-oss-120b", "--gpu", "h100", "--tp", "4", "--request-rate", "2", "--input-tokens", "1000", "--output-tokens", "300"},
        {"plan", "--model", "gemma-4-31b", "--gpu", "h100", "--tp", "2", "--shared-prefix-tokens", "100", "--input-tokens", "1000", "--output-tokens", "300"},
        {"plan", "--model", "llama-3.1-70b", "--gpu", "h100", "--tp", "1"},
        {"plan", "--model", "deepseek-v4-pro", "--gpu", "b300", "--tp", "8"},
        {"plan", "--model", "llama-3.1-70b", "--gpu", "h200", "--tp", "4", "--quantization", "nvfp4", "--pp", "2"},
        {"plan", "--engine", "vllm", "--model", "qwen3-32b", "--gpu", "h100", "--tp", "2", "--kv-offloading-size", "100", "--host-ram", "1TB", "--input-tokens", "1000", "--output-tokens", "500", "--request-rate", "3"},
        {"plan", "--engine", "vllm@0.11.0", "--model", "qwen3-next", "--gpu", "h100", "--tp", "4"},
        {"plan", "--engine", "vllm", "--model", "llama-3.1-70b", "--gpu", "h200", "--tp", "4", "--lmcache-max-local-cpu-size", "60", "--host-ram", "1TB"},
        {"plan", "--engine", "vllm", "--model", "llama-3.1-70b", "--gpu", "h100", "--tp", "1"},
        {"check", "--gpu", "h200", "--", "python3", "-m", "sglang.launch_server", "--model-path", "moonshotai/Kimi-K2.5", "--tp", "8", "--hicache-sise", "3"},
        {"check", "--gpu", "h200", "--host-ram", "1TB", "--", "vllm", "serve", "Qwen/Qwen3-32B", "-tp", "2", "--kv-offloading-size", "5000"},
    };
    return all;
}

}  // namespace

TEST_CASE("docs/scenario.schema.json is what the table of fields says", "[docs][schema]") {
    const std::string made = test::scenario_schema();
    if (std::getenv("KVPLAN_WRITE_DOCS") != nullptr) {
        std::ofstream(kScenarioSchema, std::ios::binary) << made;
        return;
    }
    std::ifstream in(kScenarioSchema, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    INFO("run this test with KVPLAN_WRITE_DOCS=1 to write the schema anew");
    CHECK(text.str() == made);
}

TEST_CASE("Plans of every kind are valid against docs/plan.schema.json", "[schema]") {
    for (const Words& words : plans()) {
        std::string line;
        for (const std::string& word : words) line += word + " ";
        INFO(line);
        CHECK(faults(printed(words), kPlanSchema).empty());
    }
}

TEST_CASE("A plan that lacks a key, has one more or another type is not valid", "[schema]") {
    const Json plan = printed(plans()[0]);
    Json lacking = plan, more = plan, other = plan, negative = plan, scenario = plan, limit = plan;
    lacking["gpu"].erase("slack_bytes");
    more["gpu"]["slack"] = 3;
    other["fits"] = "yes";
    negative["capacity"]["max_total_num_tokens"]["low"] = -1;
    scenario["scenario"].erase("tp_size");
    limit["host"]["limited_by"] = "luck";
    CHECK(faults(lacking, kPlanSchema) == "gpu: has no slack_bytes\n");
    CHECK(faults(more, kPlanSchema) == "gpu/slack: is not in the schema\n");
    CHECK(faults(other, kPlanSchema) == "fits: string instead of \"boolean\"\n");
    CHECK(faults(negative, kPlanSchema) == "capacity/max_total_num_tokens/low: is less than 0\n");
    CHECK(faults(scenario, kPlanSchema) == "scenario: has no tp_size\n");
    CHECK_FALSE(faults(limit, kPlanSchema).empty());
}

TEST_CASE("A scenario file that is valid is read, and a plan's own scenario is a valid file", "[schema]") {
    const Json file = {{"$schema", "docs/scenario.schema.json"}, {"model", "kimi-k2.5"}, {"gpu", "h200"}, {"tp_size", 8}, {"mem_fraction_static", 0.9}, {"enable_hierarchical_cache", true}, {"hicache_size", 100},
                       {"host_ram", "2TB"}, {"input_tokens", "4000:9000"}, {"output_tokens", 500}};
    CHECK(faults(file, kScenarioSchema).empty());
    const Json plan = printed({"plan", "--scenario", test::temporary_file("scenario.json", file.dump())});
    CHECK(plan["scenario"]["input_tokens"]["value"] == "4000:9000");
    CHECK(faults(plan["scenario"], kScenarioSchema).empty());
    const Json again = printed({"plan", "--scenario", test::temporary_file("scenario2.json", plan["scenario"].dump())});
    CHECK(again["capacity"] == plan["capacity"]);
    CHECK(again["host"] == plan["host"]);
}

TEST_CASE("The reader of scenarios and the schema refuse the same faults", "[schema]") {
    for (const Json& wrong : {Json{{"modell", "kimi-k2.5"}}, Json{{"tp_size", {1, 2}}}, Json{{"host_ram", "2T"}}, Json{{"enable_hierarchical_cache", 3}}, Json{{"host_ram", 2000}}}) {
        INFO(wrong.dump());
        CHECK_FALSE(faults(wrong, kScenarioSchema).empty());
        Scenario scenario;
        Diagnostics diagnostics;
        CHECK_FALSE(read_scenario(wrong.dump(), "wrong.json", scenario, diagnostics));
    }
}
