#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"

using namespace kvplan;
using nlohmann::json;

namespace {

json solved(std::vector<std::string> arguments, int expected_exit = 0) {
    arguments.insert(arguments.begin(), {"solve"});
    arguments.insert(arguments.end(), {"--format", "json"});
    const test::Ran ran = test::run_kvplan(arguments);
    CAPTURE(ran.err);
    REQUIRE(ran.exit_code == expected_exit);
    return json::parse(ran.out);
}

}  // namespace

TEST_CASE("kvplan solve answers with a plan and the neighbour that fails", "[solve][cli]") {
    const json answer = solved({"max-concurrency", "--model", "llama-3.1-70b", "--gpu", "h100", "--tp", "4", "--input-tokens", "4000", "--output-tokens", "500", "--target-itl", "30ms"});
    CHECK(answer["question"] == "max-concurrency");
    CHECK(answer["unit"] == "requests");
    CHECK(answer["answer"].is_number_integer());
    CHECK(answer["next_that_fails"]["value"] == answer["answer"].get<int>() + 1);
    CHECK(answer["next_that_fails"]["reason"].get<std::string>().find("at most 30 ms") != std::string::npos);
    CHECK(answer["infeasible_because"].empty());
    CHECK(answer["plan"]["scenario"]["concurrency"]["value"] == answer["answer"]);
    CHECK(answer["plan"]["latency"]["itl_seconds"]["expected"] <= 0.03);
}

TEST_CASE("kvplan solve says what is to blame when there is no answer", "[solve][cli]") {
    const json none = solved({"max-context", "--model", "llama-3.1-70b", "--gpu", "l4"}, 1);
    CHECK(none["answer"].is_null());
    CHECK(none["plan"].is_null());
    CHECK(none["infeasible_because"][0]["requirement"] == "fits");
    CHECK(none["infeasible_because"][0]["got"] > 100e9);  // 141 GB of weights on a GPU of 24
}

TEST_CASE("kvplan solve refuses unknown questions and times without a unit", "[solve][cli]") {
    CHECK(test::run_kvplan({"solve", "max-everything", "--model", "llama-3.1-8b", "--gpu", "h100"}).exit_code == 2);
    const test::Ran bare = test::run_kvplan({"solve", "max-concurrency", "--model", "llama-3.1-8b", "--gpu", "h100", "--target-ttft", "2"});
    CHECK(bare.exit_code == 2);
    CHECK(bare.err.find("--target-ttft") != std::string::npos);
    CHECK(test::run_kvplan({"solve", "max-context", "--model", "llama-3.1-8b", "--gpu", "l4"}).out.find("would fail") != std::string::npos);
}
