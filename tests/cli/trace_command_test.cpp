#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/app.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;

namespace {

struct Outcome {
    int code = 0;
    std::string out, err;
};

Outcome run_kvplan(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "kvplan");
    std::vector<const char*> argv;
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    std::ostringstream out, err;
    const int code = cli::run(static_cast<int>(argv.size()), argv.data(), out, err);
    return {code, out.str(), err.str()};
}

class File {
public:
    explicit File(const std::string& text = "") {
        static int count = 0;
        path_ = (std::filesystem::temp_directory_path() / ("kvplan-cli-" + std::to_string(::getpid()) + "-" + std::to_string(count++))).string();
        std::ofstream(path_) << text;
    }
    ~File() { std::filesystem::remove(path_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

// Blocks of 512: 1 2 3 (1,200 tokens, the last block holds 176), 1 4 (1,024), 1 2 3 again: as in the hand-worked curve.
const char* const kTrace =
    "{\"timestamp\": 0, \"input_length\": 1200, \"output_length\": 10, \"hash_ids\": [1, 2, 3]}\n"
    "{\"timestamp\": 500, \"input_length\": 1024, \"output_length\": 20, \"hash_ids\": [1, 4]}\n"
    "{\"timestamp\": 2000, \"input_length\": 1200, \"output_length\": 30, \"hash_ids\": [1, 2, 3]}\n";

}  // namespace

TEST_CASE("kvplan trace answers the capacities asked for as JSON", "[cli][trace]") {
    const File trace(kTrace);
    const Outcome run = run_kvplan({"trace", trace.path(), "--capacities", "512,1600,inf", "--format", "json"});
    REQUIRE(run.code == 0);
    const auto json = nlohmann::json::parse(run.out);
    REQUIRE(json["requests"] == 3);
    REQUIRE(json["span_seconds"] == 2.0);
    REQUIRE(json["input_tokens"] == 3424);
    REQUIRE(json["output_tokens"] == 60);
    REQUIRE(json["block_tokens"] == 512);
    REQUIRE(json["distinct_blocks"] == 4);
    REQUIRE(json["curve"].size() == 3);
    // Capacity 1: block 1 twice; 3 (1,600 / 512): 2 as well; no limit: 3 too, its 176 tokens.
    REQUIRE(json["curve"][0]["hit_tokens"] == 1024);
    REQUIRE(json["curve"][1]["capacity_blocks"] == 3);
    REQUIRE(json["curve"][1]["hit_tokens"] == 1536);
    REQUIRE(json["curve"][2]["capacity_tokens"].is_null());
    REQUIRE(json["curve"][2]["hit_tokens"] == 1712);
    REQUIRE(json["curve"][2]["hit_blocks"] == 4);
    REQUIRE(json["curve"][2]["hit_rate"].get<double>() == Approx(0.5));
    REQUIRE(json["recommendation"]["reason"] == "no_scenario");
    REQUIRE(json["workload"]["output_tokens"]["mean"] == 20.0);
}

// 30 conversations of 4 blocks of 512 tokens take turns, five rounds. Between two turns of one, 29 x 4 = 116 others come,
// so its blocks hit from 117, 118, 119 and 120 blocks on; the first round never hits. Rates: 0 to 116 blocks, 0.6 at 119,
// 4/5 at 120 = 61,440 tokens. Llama 3.1 8B in bf16 has 2 x 32 layers x 8 heads x 128 x 2 B = 131,072 B a token, so
// whole GB hold: 7 -> 53,405 tokens = 104 blocks, 8 -> 61,035 = 119 blocks, 9 -> 68,664 = 134 blocks.
TEST_CASE("kvplan trace recommends the smallest safe host cache that gains what the largest gains", "[cli][trace]") {
    std::string text;
    for (int turn = 0; turn < 150; ++turn) {
        const std::string first = std::to_string(turn % 30 * 4), ids = first + ", " + std::to_string(turn % 30 * 4 + 1) + ", " + std::to_string(turn % 30 * 4 + 2) + ", " + std::to_string(turn % 30 * 4 + 3);
        text += "{\"timestamp\": " + std::to_string(turn) + ", \"input_length\": 2048, \"output_length\": 100, \"hash_ids\": [" + ids + "]}\n";
    }
    const File trace(text);
    const auto recommended = [&](const std::vector<std::string>& host) {
        std::vector<std::string> words{"trace", trace.path(), "--model", "llama-3.1-8b", "--gpu", "h100", "--engine", "sglang", "--max-total-tokens", "20000", "--format", "json"};
        words.insert(words.end(), host.begin(), host.end());
        const Outcome outcome = run_kvplan(words);
        INFO(outcome.err);
        REQUIRE(outcome.code == 0);
        return nlohmann::json::parse(outcome.out).at("recommendation");
    };
    const auto roomy = recommended({"--host-available", "500GB"});
    CHECK(roomy.at("reason") == "recommended");
    CHECK(roomy.at("hicache_size_gb") == 9);
    CHECK(roomy.at("hit_rate") == Approx(0.8));
    CHECK(roomy.at("device_hit_rate") == 0.0);
    CHECK(roomy.at("unlimited_hit_rate") == Approx(0.8));
    CHECK(roomy.at("knee_tokens") == 61'440);
    CHECK(roomy.at("largest_safe").at("prefill_saved_tokens_per_request") == Approx(0.8 * 2048));
    CHECK(roomy.at("largest_safe").at("loaded_bytes_per_rank_and_request") == Approx(0.8 * 2048 * 131'072));
    CHECK(recommended({}).at("reason") == "host_unknown");

    bool whole = false, part = false, none = false;
    for (int ram = 24; ram <= 32; ++ram) {
        const auto answer = recommended({"--host-available", std::to_string(ram) + "GB"});
        INFO(ram << " GB: " << answer.dump());
        const auto& largest = answer.at("largest_safe");
        const int safe = largest.is_null() ? 0 : largest.at("hicache_size_gb").get<int>();
        if (safe >= 8) {
            CHECK(answer.at("reason") == "recommended");
            CHECK(answer.at("hicache_size_gb") == std::min(safe, 9));
            CHECK(answer.at("hit_rate") == Approx(safe == 8 ? 0.6 : 0.8));
            (safe == 8 ? part : whole) = true;
        } else {
            CHECK(answer.at("reason") == (safe < 3 ? "no_room" : "small_gain"));
            CHECK(answer.at("hicache_size_gb").is_null());
            none = true;
        }
    }
    CHECK((whole && part && none));
}

TEST_CASE("kvplan trace names the line at fault, and stops there when strict", "[cli][trace]") {
    const File trace(std::string(kTrace) + "{\"timestamp\": 3, \"input_length\": x}\n");
    const Outcome lenient = run_kvplan({"trace", trace.path()});
    REQUIRE(lenient.code == 0);
    REQUIRE(lenient.err.find(":4:") != std::string::npos);
    REQUIRE(lenient.out.find("3 requests") != std::string::npos);
    const Outcome strict = run_kvplan({"trace", trace.path(), "--strict"});
    REQUIRE(strict.code == 2);
    REQUIRE(strict.out.empty());
    REQUIRE(strict.err.find(":4:") != std::string::npos);
}

TEST_CASE("kvplan trace refuses what it cannot use", "[cli][trace]") {
    const File trace(kTrace);
    REQUIRE(run_kvplan({"trace", "/nonexistent/file"}).code == 2);
    REQUIRE(run_kvplan({"trace", trace.path(), "--capacities", "12x"}).code == 2);
    REQUIRE(run_kvplan({"trace", trace.path(), "--warmup", "1"}).code == 2);
    REQUIRE(run_kvplan({"trace", trace.path(), "--policy", "sometimes"}).code == 2);
    REQUIRE(run_kvplan({"trace", trace.path(), "--page-size", "1000"}).code == 2);
    REQUIRE(run_kvplan({"trace"}).code == 2);
}

TEST_CASE("kvplan trace writes its curve as CSV and its tiers as a table", "[cli][trace]") {
    const File trace(kTrace);
    const Outcome csv = run_kvplan({"trace", trace.path(), "--capacities", "inf", "--format", "csv"});
    REQUIRE(csv.out.substr(0, csv.out.find('\n') + 1) == "capacity_tokens,capacity_blocks,hit_tokens,hit_blocks,hit_rate,block_hit_rate,request_hit_rate\n");
    REQUIRE(csv.out.find("\n,,1712,4,0.5,0.5,") != std::string::npos);
    const Outcome tiers = run_kvplan({"trace", trace.path(), "--device-tokens", "512", "--policy", "write_back", "--format", "json", "--capacities", "5000"});
    const auto json = nlohmann::json::parse(tiers.out);
    REQUIRE(json["tiers"]["policy"] == "write_back");
    REQUIRE(json["tiers"]["points"][0]["device_hit_tokens"] == 1024);
    REQUIRE(json["tiers"]["points"][0]["hit_rate"].get<double>() == Approx(0.5));
}

TEST_CASE("kvplan simulate reports concurrency of distributions", "[cli][simulate]") {
    const Outcome run = run_kvplan({"simulate", "--pool-tokens", "116000", "--input-tokens", "500", "--output-tokens", "3500", "--admission", "full", "--requests", "2000", "--format", "json"});
    REQUIRE(run.code == 0);
    const auto json = nlohmann::json::parse(run.out);
    REQUIRE(json["concurrency"]["mean"].get<double>() == Approx(28.0));
    REQUIRE(json["concurrency"]["p99"] == 28.0);
    REQUIRE(json["retractions_per_request"] == 0.0);
    REQUIRE(json["formulas"]["full_length"] == 28.0);
    REQUIRE(json["latency"].is_null());
    REQUIRE(json["hit_rate"].is_null());
}

TEST_CASE("kvplan simulate runs a trace through the prefix cache and writes its timeline", "[cli][simulate]") {
    const File trace(kTrace), timeline;
    const Outcome run = run_kvplan({"simulate", trace.path(), "--pool-tokens", "8192", "--step-times", "1000:10:0:5", "--warmup", "0", "--timeline", timeline.path(), "--format", "json"});
    REQUIRE(run.code == 0);
    const auto json = nlohmann::json::parse(run.out);
    REQUIRE(json["requests"] == 3);
    // The second finds block 1, the third all 1,200 tokens but the last one.
    REQUIRE(json["hit_rate"]["device_hit_tokens"] == 512 + 1199);
    REQUIRE(json["latency"]["basis"] == "given");
    std::ifstream file(timeline.path());
    std::string header;
    std::getline(file, header);
    REQUIRE(header == "step,time_seconds,running,queued,used_tokens,token_usage");
}

TEST_CASE("Curves and timelines are written as pictures by the ending of the name", "[cli][trace][simulate]") {
    const auto read = [](const std::string& path) {
        std::ifstream in(path, std::ios::binary);
        std::ostringstream text;
        text << in.rdbuf();
        return text.str();
    };
    const File trace(kTrace), place;
    const std::string curve = place.path() + ".svg", time = place.path() + ".png";
    CHECK(run_kvplan({"trace", trace.path(), "--plot", curve}).code == 0);
    CHECK(read(curve).rfind("<svg", 0) == 0);
    CHECK(read(curve).find("share of prompt tokens") != std::string::npos);
    CHECK(run_kvplan({"simulate", "--pool-tokens", "100000", "--input-tokens", "500", "--output-tokens", "100", "--requests", "500", "--timeline", time}).code == 0);
    CHECK(read(time).substr(1, 3) == "PNG");
    CHECK(run_kvplan({"trace", trace.path(), "--plot", "curve.jpg"}).code == 2);
    std::filesystem::remove(curve);
    std::filesystem::remove(time);
}

TEST_CASE("Moments of a timeline lie evenly over a long simulation", "[cli][simulate]") {
    const File timeline;
    CHECK(run_kvplan({"simulate", "--pool-tokens", "116000", "--input-tokens", "500", "--output-tokens", "exp:3500", "--requests", "6000", "--timeline", timeline.path()}).code == 0);
    std::ifstream in(timeline.path());
    std::string line;
    std::getline(in, line);
    std::vector<double> steps;
    while (std::getline(in, line)) steps.push_back(std::stod(line));
    REQUIRE(steps.size() > 500);
    CHECK(steps[steps.size() / 2] > 0.3 * steps.back());  // half of the moments lie in about half of the time
    CHECK(steps[steps.size() / 2] < 0.7 * steps.back());
}

TEST_CASE("kvplan simulate says what it does not measure", "[cli][simulate]") {
    const std::vector<std::string> arguments{"simulate", "--pool-tokens", "116000", "--input-tokens", "500", "--output-tokens", "3500", "--admission", "full", "--requests", "2000"};
    const Outcome text = run_kvplan(arguments);
    CHECK(text.out.find("requests fill the pool and are not measured") != std::string::npos);
    auto with = arguments;
    for (const char* more : {"--warmup", "0.25", "--format", "json"}) with.emplace_back(more);
    const auto json = nlohmann::json::parse(run_kvplan(with).out);
    // Requests finish 28 at a time: the first moment at which a quarter of 2,000 has finished is 504 (18 x 28).
    CHECK(json["warmup_requests"] == 504);
    with[with.size() - 3] = "0";
    const auto all = nlohmann::json::parse(run_kvplan(with).out);
    CHECK(all["warmup_requests"] == 0);
}

TEST_CASE("kvplan simulate of a deployment takes step times at the trace's own lengths, of one pool of several", "[cli][simulate]") {
    std::string text;
    for (int i = 0; i < 400; ++i)
        text += "{\"timestamp\": " + std::to_string(i * 50) + ", \"input_length\": 1000, \"output_length\": 100, \"hash_ids\": [" + std::to_string(2 * i) + ", " + std::to_string(2 * i + 1) + "]}\n";
    const File trace(text);
    const auto run = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments{"simulate", trace.path(), "--model", "llama-3.1-8b", "--gpu", "h100", "--tp", "1", "--format", "json"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Outcome outcome = run_kvplan(arguments);
        INFO(outcome.err);
        REQUIRE(outcome.code == 0);
        return nlohmann::json::parse(outcome.out);
    };
    const auto one = run({});
    CHECK(one["latency"]["basis"] == "ceilings");
    CHECK(one["pools"] == 1);
    // Two replicas: each has half of the requests.
    const auto two = run({"--dp", "2"});
    CHECK(two["pools"] == 2);
    CHECK(two["requests"].get<int>() + two["warmup_requests"].get<int>() == 200);
    CHECK(two["pool_tokens"] == one["pool_tokens"]);
    CHECK(two["goodput"]["requests_per_second"].get<double>() == Approx(one["goodput"]["requests_per_second"].get<double>() / 2.0).epsilon(0.1));
    // With the same requests at once on each, a replica is as fast as one alone.
    const auto eight = run({"--concurrency", "8"}), sixteen = run({"--concurrency", "16", "--dp", "2"});
    CHECK(sixteen["concurrency"]["mean"].get<double>() == Approx(eight["concurrency"]["mean"].get<double>()).epsilon(0.05));
    CHECK(sixteen["latency"]["itl_seconds"]["p50"].get<double>() == Approx(eight["latency"]["itl_seconds"]["p50"].get<double>()).epsilon(0.05));
    CHECK(sixteen["goodput"]["output_tokens_per_second"].get<double>() == Approx(eight["goodput"]["output_tokens_per_second"].get<double>()).epsilon(0.05));
    // A fault of the flags is told before the trace is read.
    const Outcome fault = run_kvplan({"simulate", "/nonexistent", "--model", "llama-3.1-8b", "--gpu", "h100", "--warmup", "2"});
    CHECK(fault.code == 2);
    CHECK(fault.err.find("--warmup") != std::string::npos);
}

TEST_CASE("kvplan simulate refuses what it cannot use", "[cli][simulate]") {
    REQUIRE(run_kvplan({"simulate"}).code == 2);
    REQUIRE(run_kvplan({"simulate", "--pool-tokens", "1000"}).code == 2);
    REQUIRE(run_kvplan({"simulate", "--pool-tokens", "1000", "--input-tokens", "10", "--output-tokens", "10", "--admission", "never"}).code == 2);
    REQUIRE(run_kvplan({"simulate", "--pool-tokens", "1000", "--input-tokens", "10", "--output-tokens", "10", "--step-times", "1:2"}).code == 2);
    REQUIRE(run_kvplan({"simulate", "--pool-tokens", "0", "--input-tokens", "10", "--output-tokens", "10"}).code == 2);
}
