// The answer of `kvplan trace` for a deployment, from the trace's file to the size that a plan then finds safe and useful.
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/app.hpp"
#include "tests/planner/trace/support.hpp"

using namespace kvplan;
using kvplan::trace::test::line;
using kvplan::trace::test::TemporaryFile;

namespace {

// 50 conversations of 20 blocks of 512 tokens take turns four times. Before a conversation's turn all 1,000 blocks of all
// of them were used since: nothing hits below 1,000 blocks (512,000 tokens), and three rounds of four hit from there on.
std::string round_robin() {
    std::string text;
    for (int turn = 0; turn < 200; ++turn) {
        std::vector<std::int64_t> ids;
        for (int block = 0; block < 20; ++block) ids.push_back(turn % 50 * 100 + block);
        text += line(turn * 100, 20 * 512, 1, ids);
    }
    return text;
}

struct Outcome {
    int code = 0;
    nlohmann::json json;
};

Outcome run_json(std::vector<std::string> arguments) {
    for (const char* more : {"--model", "llama-3.1-8b", "--tp", "1", "--max-total-tokens", "100000", "--format", "json"}) arguments.emplace_back(more);
    arguments.insert(arguments.begin(), "kvplan");
    std::vector<const char*> argv;
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    std::ostringstream out, err;
    const int code = cli::run(static_cast<int>(argv.size()), argv.data(), out, err);
    INFO(err.str());
    return {code, nlohmann::json::parse(out.str(), nullptr, false)};
}

nlohmann::json recommendation(const std::string& trace, const std::string& host_ram) {
    return run_json({"trace", trace, "--gpu", "h100", "--host-ram", host_ram}).json["recommendation"];
}

}  // namespace

TEST_CASE("The recommended host cache is the smallest that holds what the trace repeats, and a plan agrees", "[cli][trace]") {
    const TemporaryFile trace(round_robin());
    const nlohmann::json r = recommendation(trace.path(), "512GB");
    REQUIRE(r["reason"] == "recommended");
    // 32 layers x 8 KV heads x 128 x 2 (K, V) x 2 B = 131,072 B a token; 512,000 tokens are 67.109 GB.
    CHECK(r["hicache_size_gb"] == 68);
    CHECK(r["hit_rate"].get<double>() == Approx(0.75));
    CHECK(r["device_hit_rate"] == 0.0);
    CHECK(r["knee_tokens"] == 512'000);
    CHECK(r["unlimited_hit_rate"].get<double>() == Approx(0.75));
    CHECK(r["largest_safe"]["hicache_size_gb"].get<int>() >= 68);
    for (const auto& size : r["sizes"]) {
        CHECK(size["hit_rate"].get<double>() == Approx(size["hicache_size_gb"].get<int>() >= 68 ? 0.75 : 0.0));
        // A prompt of 10,240 tokens, three times in four found on the host.
        if (size["hicache_size_gb"].get<int>() >= 68) CHECK(size["loaded_bytes_per_rank_and_request"].get<double>() == Approx(0.75 * 10'240 * 131'072));
    }
    const auto with = [&](const char* size) {
        return run_json({"plan", "--gpu", "h100", "--host-ram", "512GB", "--workload-from", trace.path(), "--enable-hierarchical-cache", "--hicache-size", size});
    };
    const Outcome enough = with("68"), less = with("67");
    CHECK(enough.code == 0);
    CHECK(enough.json["safe"] == true);
    CHECK(enough.json["hicache"]["tokens"].get<std::int64_t>() >= 512'000);
    CHECK(less.json["hicache"]["tokens"].get<std::int64_t>() < 512'000);
}

TEST_CASE("A host cache that cannot pay is not recommended, and the reason is told", "[cli][trace]") {
    const TemporaryFile trace(round_robin());
    // 80 GB of RAM cannot hold a pool of 68 GB beside the reserve and the server; 30 GB not even one of 100,000 tokens (13.1 GB).
    CHECK(recommendation(trace.path(), "80GB")["reason"] == "small_gain");
    CHECK(recommendation(trace.path(), "80GB")["hicache_size_gb"].is_null());
    CHECK(recommendation(trace.path(), "30GB")["reason"] == "no_room");
    CHECK(run_json({"trace", trace.path(), "--gpu", "h100"}).json["recommendation"]["reason"] == "host_unknown");
    // A prompt that everyone shares is always on the GPU: nothing is left to gain.
    std::string shared;
    for (int i = 0; i < 200; ++i) shared += line(i * 100, 4 * 512, 1, {0, 1, 2, 3});
    const TemporaryFile common(shared);
    const nlohmann::json r = recommendation(common.path(), "512GB");
    CHECK(r["reason"] == "no_gain");
    CHECK(r["device_hit_rate"].get<double>() == Approx(199.0 / 200.0));
}
