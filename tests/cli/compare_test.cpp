#include <algorithm>
#include <nlohmann/json.hpp>

#include "planner/compare/compare.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"

using namespace kvplan;
using nlohmann::json;

namespace {

json compared(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "compare");
    arguments.insert(arguments.end(), {"--format", "json"});
    const test::Ran ran = test::run_kvplan(arguments);
    CAPTURE(ran.err);
    REQUIRE(ran.exit_code == 0);
    return json::parse(ran.out);
}

json difference(const json& comparison, const std::string& name) {
    for (const json& entry : comparison["differences"])
        if (entry["name"] == name) return entry;
    return nullptr;
}

json cause(const json& comparison, const std::string& name) {
    for (const json& entry : comparison["causes"])
        if (entry["name"].get<std::string>().find(name) != std::string::npos) return entry;
    return nullptr;
}

const std::vector<std::string> kLlama{"--model", "llama-3.1-70b", "--gpu", "h100"};

std::vector<std::string> llama(std::vector<std::string> more) {
    more.insert(more.end(), kLlama.begin(), kLlama.end());
    return more;
}

}  // namespace

TEST_CASE("A field is the cause of what it moves alone, from the stage where it comes in", "[compare]") {
    const json c = compared(llama({"--tp", "4", "--mem-fraction-static", "0.8,0.9"}));
    CHECK(cause(c, "mem_fraction_static")["arises"] == "gpu");
    CHECK(difference(c, "weights.bytes_per_rank").is_null());
    // The budget is what the fraction gives: 0.9 / 0.8 - 1 = 12.5 % more of the same free memory.
    const json budget = difference(c, "gpu.budget_bytes");
    CHECK(std::abs(budget["change"][1].get<double>() - 0.125) < 1e-6);
    const json tokens = difference(c, "capacity.max_total_num_tokens");
    CHECK(tokens["arises"] == "gpu");
    CHECK(tokens["causes"] == json::array({"mem_fraction_static"}));
    CHECK(tokens["values"][0] < tokens["values"][1]);
}

TEST_CASE("With several fields apart each figure has the fields that move it", "[compare]") {
    const std::string a = test::temporary_file("a.json", R"({"model": "llama-3.1-70b", "gpu": "h100", "tp_size": 4, "mem_fraction_static": 0.8})");
    const std::string b = test::temporary_file("b.json", R"({"model": "llama-3.1-70b", "gpu": "h200", "tp_size": 8})");
    const json c = compared({a, b});
    CHECK(c["sides"][0]["label"] == "a.json");
    CHECK(difference(c, "weights.bytes_per_rank")["causes"] == json::array({"tp_size"}));
    const json total = difference(c, "gpu.total_bytes");
    CHECK(total["causes"] == json::array({"gpu"}));
    // What is set on one side only is tried on the other.
    CHECK(cause(c, "mem_fraction_static")["tried"] == true);
    CHECK(cause(c, "mem_fraction_static")["arises"] == "gpu");
}

TEST_CASE("The upgrade check names the rules of each day that moves a figure", "[compare]") {
    // docs/engines.md: sglang.prefill_graph_default from 2026-03-02 keeps room for prefill graphs in the default reserve,
    // sglang.page_first_default from 2026-06-16 changes the host layout. 0.5.6 is of 2025-12-03.
    const json c = compared({"--model", "kimi-k2.5", "--gpu", "h200", "--tp", "8", "--enable-hierarchical-cache", "--engine", "sglang@0.5.6,sglang@2026-08-22"});
    CHECK(cause(c, "sglang.prefill_graph_default")["to"] == "2026-03-02");
    CHECK(cause(c, "sglang.prefill_graph_default")["arises"] == "gpu");
    CHECK_FALSE(cause(c, "sglang.page_first_default").is_null());
    CHECK(cause(c, "sglang.pp_spread_remainder").is_null());  // before 0.5.6
    const json fraction = difference(c, "gpu.mem_fraction.value");
    CHECK(fraction["values"][0] > fraction["values"][1]);
    CHECK_FALSE(difference(c, "hicache.bytes_per_rank").is_null());
    // Every difference but the label of the rules is explained by some day.
    for (const json& entry : c["differences"]) {
        CAPTURE(entry["name"]);
        if (entry["stage"] != "rule_set") CHECK_FALSE(entry["causes"].empty());
    }
}

TEST_CASE("Equal scenarios have no differences, and their figures are counted", "[compare]") {
    const json c = compared(llama({"--tp", "4", "--page-size", "16,16"}));
    CHECK(c["differences"].empty());
    CHECK(c["causes"].empty());
    CHECK(c["same"] == c["figures"]);
}

TEST_CASE("A list of flags is one side a value; one scenario alone is no comparison", "[compare][cli]") {
    CHECK(compared(llama({"--tp", "4,8", "--context-length", "8192,16384"}))["sides"].size() == 4);
    for (const auto& [arguments, word] : std::vector<std::pair<std::vector<std::string>, std::string>>{
             {llama({"compare", "--tp", "4"}), "one scenario"}, {llama({"compare", "--tp", "4,x"}), "x"}, {{"compare", "nowhere.json", "gone.json"}, "nowhere.json"}}) {
        const test::Ran ran = test::run_kvplan(arguments);
        CHECK(ran.exit_code == 2);
        CHECK(ran.err.find(word) != std::string::npos);
    }
    const test::Ran table = test::run_kvplan(llama({"compare", "--tp", "4,8", "--format", "csv"}));
    CHECK(table.out.rfind("figure,stage,arises,tp_size 4,tp_size 8,causes\n", 0) == 0);
}
