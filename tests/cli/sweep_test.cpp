#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "planner/sweep/grid.hpp"
#include "planner/sweep/select.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"

using namespace kvplan;
using nlohmann::json;

namespace {

const std::vector<std::string> kLlama{"--model", "llama-3.1-70b", "--gpu", "h100"};

test::Ran swept(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"sweep"});
    arguments.insert(arguments.end(), kLlama.begin(), kLlama.end());
    return test::run_kvplan(arguments);
}

std::vector<json> rows(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--format", "json"});
    const test::Ran ran = swept(std::move(arguments));
    CAPTURE(ran.err);
    REQUIRE(ran.exit_code == 0);
    std::vector<json> found;
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) found.push_back(json::parse(line));
    return found;
}

sweep::Axis axis(const std::string& text) {
    Diagnostics diagnostics;
    auto parsed = sweep::parse_axis(text, diagnostics);
    REQUIRE(parsed.has_value());
    return *parsed;
}

sweep::Row row_of(std::int64_t point, double a, double b) {
    sweep::Row row;
    row.point = point;
    row.cells = {{sweep::CellKind::number, a, ""}, {sweep::CellKind::number, b, ""}};
    return row;
}

}  // namespace

TEST_CASE("A range is counted in decimals and includes a stop that lies on the grid", "[sweep]") {
    // Added up in doubles, 0.80 + 15 * 0.01 would pass or miss 0.95; counted, there are exactly 16.
    const sweep::Axis fraction = axis("mem_fraction_static=0.80:0.95:0.01");
    CHECK(fraction.size() == 16);
    CHECK(fraction.value(0) == "0.80");
    CHECK(fraction.value(15) == "0.95");
    CHECK(axis("tp=1:8:3").size() == 3);  // 1, 4, 7: 8 does not lie on it
    CHECK(axis("tp=8:2:-2").value(3) == "2");
    CHECK(axis("host_ram=400GB:500GB:50GB").value(1) == "450GB");
    CHECK(axis("mem_fraction_static=0.05:0.15:0.05").value(1) == "0.10");
    CHECK(axis("context_length=1:100000000:1").size() == 100000000);
    CHECK(axis("input_tokens=lognormal:3500:2,4000:9000").value(1) == "4000:9000");
}

TEST_CASE("The last field varies fastest, and a zip goes through all fields together", "[sweep]") {
    sweep::Grid grid;
    grid.axes = {axis("tp=2,4"), axis("page_size=1,16,64")};
    REQUIRE(grid.points() == 6);
    CHECK(grid.indices(0) == std::vector<std::int64_t>{0, 0});
    CHECK(grid.indices(2) == std::vector<std::int64_t>{0, 2});
    CHECK(grid.indices(3) == std::vector<std::int64_t>{1, 0});
    grid.zip = true;
    Diagnostics unequal;
    CHECK_FALSE(check(grid, unequal));
    grid.axes[0] = axis("tp=2,4,8");
    Diagnostics equal;
    CHECK(check(grid, equal));
    CHECK(grid.points() == 3);
    CHECK(grid.indices(2) == std::vector<std::int64_t>{2, 2});
}

TEST_CASE("A random sample draws no point twice, and its seed decides which", "[sweep]") {
    sweep::Grid grid;
    grid.axes = {axis("context_length=1:37:1"), axis("tp=1,2,4")};
    grid.random = 111;  // all of 37 x 3: a permutation
    std::set<std::vector<std::int64_t>> drawn;
    for (std::int64_t i = 0; i < 111; ++i) drawn.insert(grid.indices(i));
    CHECK(drawn.size() == 111);
    sweep::Grid other = grid;
    other.seed = 1;
    int same = 0;
    for (std::int64_t i = 0; i < 111; ++i) same += grid.indices(i) == other.indices(i) ? 1 : 0;
    CHECK(same < 20);  // 1 on average
    grid.random = 112;
    Diagnostics diagnostics;
    CHECK_FALSE(check(grid, diagnostics));
}

TEST_CASE("Top and Pareto keep what no other row beats", "[sweep]") {
    // Large a, small b. (3,3) is beaten by (3,2); (1,1) and (5,4) stay; (5,5) is beaten by (5,4).
    const std::vector<sweep::Row> all{row_of(0, 3, 3), row_of(1, 1, 1), row_of(2, 5, 5), row_of(3, 3, 2), row_of(4, 5, 4)};
    sweep::Pareto pareto({{0, false}, {1, true}});
    sweep::Top top(2, {0, false});
    for (const sweep::Row& row : all) pareto.add(row), top.add(row);
    std::vector<std::int64_t> front, best;
    for (const sweep::Row& row : pareto.rows()) front.push_back(row.point);
    for (const sweep::Row& row : top.rows()) best.push_back(row.point);
    CHECK(front == std::vector<std::int64_t>{1, 3, 4});
    CHECK(best == std::vector<std::int64_t>{2, 4});  // both 5; the earlier first
}

TEST_CASE("Each point of a sweep is the plan of the same flags", "[sweep][cli]") {
    for (const json& row : rows({"--set", "tp=4,8", "--set", "mem_fraction_static=0.85,0.9", "--columns", "fits,max_total_num_tokens,gpu.mem_fraction.value"})) {
        const test::Ran single = test::run_kvplan({"plan", "--model", "llama-3.1-70b", "--gpu", "h100", "--tp", std::to_string(row["tp_size"].get<int>()), "--mem-fraction-static", std::to_string(row["mem_fraction_static"].get<double>()), "--format", "json"});
        const json plan = json::parse(single.out);
        CHECK(row["fits"] == plan["fits"]);
        CHECK(row["capacity.max_total_num_tokens"] == plan["capacity"]["max_total_num_tokens"]["expected"]);
        CHECK(row["gpu.mem_fraction.value"] == row["mem_fraction_static"]);
    }
}

TEST_CASE("GPUs and models can be swept", "[sweep][cli]") {
    const auto found = rows({"--set", "model=llama-3.1-8b,llama-3.1-70b", "--set", "gpu=h100,h200", "--columns", "total_params,gpu.total_bytes"});
    REQUIRE(found.size() == 4);
    CHECK(found[0]["weights.total_params"] == found[1]["weights.total_params"]);
    CHECK(found[0]["weights.total_params"] < 9e9);
    CHECK(found[2]["weights.total_params"] > 69e9);
    CHECK(found[0]["gpu.total_bytes"] < found[1]["gpu.total_bytes"]);
}

TEST_CASE("The bytes of a sweep do not depend on the number of threads", "[sweep][cli]") {
    for (const std::string format : {"csv", "json", "text", "markdown"}) {
        const auto with = [&](const std::string& threads) {
            return swept({"--tp", "4", "--set", "context_length=1000:9000:25", "--where", "fits", "--format", format, "--threads", threads}).out;
        };
        const std::string one = with("1");
        CHECK(std::count(one.begin(), one.end(), '\n') >= 321);  // (9000 - 1000) / 25 + 1
        CHECK(with("5") == one);
    }
}

TEST_CASE("A condition keeps points; what is null is unknown", "[sweep][cli]") {
    CHECK(rows({"--set", "tp=1,2,4,8", "--where", "!(tp < 4) && fits == true"}).size() == 2);
    CHECK(rows({"--set", "tp=1,2,4,8", "--where", "tp_size == 1 || tp == 8.0"}).size() == 2);
    CHECK(rows({"--set", "tp=4,8", "--where", "ttft_seconds < 100"}).empty());  // no workload is given
    CHECK(rows({"--set", "tp=4,8", "--where", "latency.ttft_seconds == null"}).size() == 2);
    CHECK(rows({"--set", "gpu=h100,h200", "--where", "gpu == 'h200'"}).size() == 1);
}

TEST_CASE("A point that cannot be planned says why", "[sweep][cli]") {
    const auto found = rows({"--set", "tp=3,4"});
    REQUIRE(found.size() == 2);
    CHECK(found[0]["fits"].is_null());
    CHECK(found[0]["invalid"].is_string());
    CHECK(found[1]["invalid"].is_null());
}

TEST_CASE("A sweep into a file leaves the whole file and no part", "[sweep][cli]") {
    const std::string file = test::temporary_directory() + "/sweep.csv";
    REQUIRE(swept({"--set", "tp=4,8", "--format", "csv", "--output", file}).exit_code == 0);
    std::ifstream in(file);
    CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == swept({"--set", "tp=4,8", "--format", "csv"}).out);
    CHECK_FALSE(std::ifstream(file + ".part").good());
}

TEST_CASE("Faults of a sweep are usage errors that name the flag", "[sweep][cli]") {
    const auto fault = [](std::vector<std::string> arguments, const std::string& names) {
        const test::Ran ran = swept(std::move(arguments));
        CHECK(ran.exit_code == 2);
        CHECK(ran.out.empty());
        CHECK(ran.err.find(names) != std::string::npos);
    };
    fault({"--set", "tpp=3"}, "tpp");
    fault({"--set", "tp=1:8:0"}, "never reaches");
    fault({"--set", "host_ram=1GB:2GiB:1GB"}, "one unit");
    fault({"--set", "tp=2,x"}, "--set tp=2,x");
    fault({"--set", "tp=2", "--set", "tp=4"}, "twice");
    fault({"--set", "tp=2,4", "--zip", "--set", "page_size=1"}, "--zip");
    fault({"--set", "tp=2", "--where", "fits &&& safe"}, "--where");
    fault({"--set", "tp=2", "--where", "(fits"}, "--where");
    fault({"--set", "tp=2", "--columns", "tokens_per_second_of_output"}, "--columns");
    fault({"--set", "tp=2", "--columns", "bytes_per_rank"}, "several");
    fault({"--set", "tp=2", "--top", "3"}, "--by");
    fault({"--set", "gpu=h100,h9000"}, "h9000");
}
