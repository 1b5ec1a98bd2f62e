// Public reports of host memory, by the numbers of the reports in the project's issue text. Not here: 27 (a question without
// figures: host_cache_no_concurrency answers it), 28 (another engine's fork; its figures do not multiply out).
#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"

using namespace kvplan;
using nlohmann::json;
using Strings = std::vector<std::string>;

namespace {

struct Answer {
    int exit_code = 0;
    json plan;

    [[nodiscard]] bool has(std::string_view code) const {
        for (const json& finding : plan["findings"])
            if (finding["code"] == code) return true;
        return false;
    }
    [[nodiscard]] double node_gb() const { return plan["hicache"]["bytes_per_node"].get<double>() / 1e9; }
    [[nodiscard]] double rank_gb() const { return plan["hicache"]["bytes_per_rank"].get<double>() / 1e9; }
};

Answer ask(Strings arguments) {
    arguments.insert(arguments.begin(), {"plan", "--format", "json"});
    const test::Ran ran = test::run_kvplan(arguments);
    CAPTURE(ran.err);
    REQUIRE(ran.exit_code < 2);
    return {ran.exit_code, json::parse(ran.out)};
}

Answer sglang(const std::string& model, const std::string& gpu, const std::string& tp, const std::string& version, const Strings& more) {
    Strings arguments = {"--model", model, "--gpu", gpu, "--tp", tp, "--engine", "sglang@" + version, "--enable-hierarchical-cache"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return ask(arguments);
}

}  // namespace

TEST_CASE("Report 14: 500 GB x 8 ranks hang a node with 4 TB; 250 are safe there, 200 on 2 TB", "[hicache_cases]") {
    const Answer hang = sglang("deepseek-r1", "b300", "8", "2026-06-20", {"--hicache-size", "500", "--host-ram", "4TB"});
    CHECK(hang.exit_code == 1);
    CHECK(hang.node_gb() == Approx(4'000).epsilon(0.001));
    CHECK(hang.has("engine_check_blind"));  // 500 <= 3,600 - 10.74 for each rank
    CHECK(sglang("deepseek-r1", "b300", "8", "2026-06-20", {"--hicache-size", "250", "--host-ram", "4TB"}).exit_code == 0);
    CHECK(sglang("deepseek-r1", "b300", "8", "2026-06-20", {"--hicache-size", "200", "--host-ram", "2TB"}).exit_code == 0);
}

TEST_CASE("Report 17: 40 GB are refused with 44.87 GB free, because 10.74 GB are kept back", "[hicache_cases]") {
    const Answer a = sglang("qwen3-32b", "h200", "1", "2025-12-11", {"--hicache-size", "40", "--host-available", "44.87GB"});
    CHECK(a.exit_code == 1);
    CHECK(a.has("engine_check_refuses"));
}

TEST_CASE("Report 18: before 2026-08-19 eight ranks pass the check together, since then none", "[hicache_cases]") {
    const Strings host = {"--hicache-size", "100", "--host-available", "500GB"};
    CHECK(sglang("deepseek-r1", "h200", "8", "2026-08-18", host).has("engine_check_blind"));
    CHECK(sglang("deepseek-r1", "h200", "8", "2026-08-19", host).has("engine_check_refuses"));  // (500 - 10.74) / 8 = 61.2
}

TEST_CASE("Report 20: a container's limit is not what the engine's check reads", "[hicache_cases]") {
    const Answer a = sglang("qwen3-32b", "h200", "1", "2026-09-01", {"--hicache-size", "100", "--host-available", "1000GB", "--cgroup-limit", "100GB"});
    CHECK(a.exit_code == 1);
    CHECK(a.has("engine_check_blind"));
    CHECK(a.has("cgroup_limit_unseen"));
    CHECK(a.plan["host"]["safe_max"]["limited_by"] == "cgroup");
}

TEST_CASE("Report 21: reserved huge pages leave 2.04 GB above the reserve, and 7.05 GB are refused", "[hicache_cases]") {
    const Answer a = sglang("qwen3-32b", "h200", "1", "2026-07-15", {"--hicache-size", "7", "--host-available", "12.78GB", "--huge-pages-reserved", "100GiB"});
    CHECK(a.exit_code == 1);
    CHECK(a.has("engine_check_refuses"));
    CHECK(a.has("huge_pages_set_aside"));
}

TEST_CASE("Reports 24 and 25: a ratio of 2 or more passes 3 TB where 0.75 fits", "[hicache_cases]") {
    // 0.75 x pool x 8 = 1.0 TB; 2.0: 2.7 TB and the index keys; of 3 TB 2.7 are taken to be free
    const auto at = [](const char* ratio) {
        return sglang("glm-5.2", "b300", "8", "2026-07-15", {"--weights-per-gpu", "60GiB", "--max-total-tokens", "3000000", "--kv-cache-dtype", "fp8_e4m3", "--hicache-ratio", ratio, "--host-ram", "3TB"});
    };
    CHECK(at("0.75").exit_code == 0);
    CHECK(at("2").exit_code == 1);
    CHECK(at("2.5").exit_code == 1);
    CHECK(at("2").node_gb() == Approx(at("0.75").node_gb() * 2 / 0.75).epsilon(0.001));
}

TEST_CASE("Reports 111 and 112: four pools of 40 GB take 274.9 GB before exact pinning; a hybrid model doubles its size", "[hicache_cases]") {
    const Answer old = sglang("qwen3-32b", "h200", "4", "0.5.3", {"--hicache-size", "40", "--host-available", "256GB"});
    CHECK(old.node_gb() == Approx(274.88).epsilon(0.001));  // 4 x 2^36
    CHECK(old.exit_code == 1);
    CHECK(old.has("hicache_power_of_two"));
    // the report's ranks all started with 30 GB: 4 x 2^35 = 137.4 GB
    CHECK(sglang("qwen3-32b", "h200", "4", "0.5.3", {"--hicache-size", "30", "--host-available", "256GB"}).node_gb() == Approx(137.44).epsilon(0.001));
    const Answer hybrid = sglang("qwen3-next-80b-a3b-instruct", "h200", "4", "2026-06-20", {"--hicache-size", "20", "--host-available", "512GB"});
    CHECK(hybrid.rank_gb() == Approx(40.02).epsilon(0.005));
    CHECK(hybrid.has("hicache_size_per_pool"));
}

TEST_CASE("hc11: Qwen3.5-397B takes the size 31/15 times with a draft of its own", "[hicache_cases]") {
    // KV 1, Mamba 1, draft 1/15: 60 x 31/15 = 124
    const Answer a = sglang("qwen3.5-397b-a17b", "b300", "8", "2026-06-20", {"--hicache-size", "60", "--speculative-algorithm", "NEXTN", "--speculative-num-steps", "3", "--host-available", "3TB"});
    CHECK(a.rank_gb() == Approx(124).epsilon(0.005));
}

TEST_CASE("Reports 47 and 48: LMCache's size is per worker, so 200 do not fit four workers on 768 GB and 100 do", "[hicache_cases]") {
    const auto at = [](const char* size) {
        return ask({"--model", "qwen2.5-72b-instruct", "--gpu", "h100", "--tp", "4", "--engine", "vllm", "--lmcache-max-local-cpu-size", size, "--host-available", "768GB"});
    };
    CHECK(at("200").exit_code == 1);
    CHECK(at("200").has("hicache_exceeds_host_ram"));
    CHECK(at("100").exit_code == 0);
    const json safe = at("200").plan["host"]["safe_max"];
    CHECK(safe["lmcache_size_gb"].get<int>() > 100);
    CHECK(safe["lmcache_size_gb"].get<int>() < 200);
    CHECK(at(std::to_string(safe["lmcache_size_gb"].get<int>()).c_str()).exit_code == 0);
    CHECK(at(std::to_string(safe["lmcache_size_gb"].get<int>() + 1).c_str()).exit_code == 1);
}

TEST_CASE("hc20 and hc22: sizes are per rank, whatever the pod is given", "[hicache_cases]") {
    // 64 x 2 = 128 GB of a pod with 256Gi; 135 GB a rank do not fit a pod of 135 GB
    const Answer fits = sglang("qwen3-32b", "h200", "2", "2026-07-15", {"--hicache-size", "64", "--cgroup-limit", "256GiB"});
    CHECK(fits.exit_code == 0);
    CHECK(fits.node_gb() == Approx(128).epsilon(0.001));
    CHECK(sglang("qwen3-32b", "h200", "2", "2026-07-15", {"--hicache-size", "135", "--cgroup-limit", "135GB"}).exit_code == 1);
}
