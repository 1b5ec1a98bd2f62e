#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"

using namespace kvplan;
using nlohmann::json;

TEST_CASE("explain prints formula, source and the numbers put in", "[explain][cli]") {
    // Kimi-K2.5 keeps 61 x (512 + 64) x 2 = 70,272 B a token.
    const test::Ran ran = test::run_kvplan({"explain", "gpu.kv_pool_bytes", "--model", "kimi-k2.5", "--gpu", "h200", "--tp", "8", "--mem-fraction-static", "0.886"});
    CAPTURE(ran.err);
    REQUIRE(ran.exit_code == 0);
    CHECK(ran.out.find("70,272") != std::string::npos);
    CHECK(ran.out.find("0.886") != std::string::npos);
    CHECK(ran.out.find("sglang.budget") != std::string::npos);
}

TEST_CASE("explain answers as JSON, for both engines", "[explain][cli]") {
    const test::Ran ran = test::run_kvplan({"explain", "capacity.max_total_num_tokens", "--model", "kimi-k2.5", "--gpu", "h200", "--tp", "8", "--engine", "vllm", "--format", "json"});
    CAPTURE(ran.err);
    REQUIRE(ran.exit_code == 0);
    const json answer = json::parse(ran.out);
    CHECK(answer["name"] == "capacity.max_total_num_tokens");
    CHECK(answer["sources"].size() == 2);
    CHECK_FALSE(answer["value"].get<std::string>().empty());
}

TEST_CASE("explain without a scenario gives both engines' formulas, without a name the list", "[explain][cli]") {
    const test::Ran field = test::run_kvplan({"explain", "gpu.budget_bytes"});
    CHECK(field.exit_code == 0);
    CHECK(field.out.find("SGLang:") != std::string::npos);
    CHECK(field.out.find("vLLM:") != std::string::npos);
    const test::Ran list = test::run_kvplan({"explain"});
    CHECK(list.exit_code == 0);
    CHECK(list.out.find("hicache_exceeds_host_ram") != std::string::npos);
}

TEST_CASE("A name that nobody knows is a usage error with the nearest names", "[explain][cli]") {
    const test::Ran ran = test::run_kvplan({"explain", "gpu.kv_pool_byte"});
    CHECK(ran.exit_code == 2);
    CHECK(ran.err.find("gpu.kv_pool_bytes") != std::string::npos);
}
