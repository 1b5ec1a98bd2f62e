#include "planner/host/memory.hpp"

#include <algorithm>
#include <memory>

#include "models/hardware/gpu_spec.hpp"
#include "planner/export/finding_text.hpp"
#include "planner/host/findings.hpp"
#include "planner/startup.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;
using namespace kvplan::literals;

namespace {

constexpr std::int64_t kKimiBytesPerToken = 61 * (512 + 64) * 2;  // 70,272

/// A model with one pool of `bytes_per_token` and `device` tokens, and the newest SGLang's rules.
struct Case {
    Scenario scenario;
    Plan plan;
    HostRules rules;
    std::int64_t bytes_per_token = kKimiBytesPerToken;
    std::int64_t page = 64;
    std::int64_t pinned_to_power_of_two = false;

    Case(std::int64_t ranks, std::int64_t device) {
        scenario.engine.tp = ranks;
        scenario.engine.hicache.enabled = true;
        plan.parallelism = parallelism(scenario);
        plan.capacity.max_total_num_tokens = certain(Tokens{device});
        plan.kv_cache.latent = true;
        rules.size_flag = HostRules::SizeFlag::hicache_size;
        rules.ratio_flag = true;
        rules.check_reserve = 10_GiB;
    }

    [[nodiscard]] HicachePlan pools(const EngineOptions& options) const {
        const std::int64_t device = plan.capacity.max_total_num_tokens.expected.count();
        std::int64_t tokens = options.hicache.size_gb ? *options.hicache.size_gb * kGB / bytes_per_token
                                                      : static_cast<std::int64_t>(static_cast<double>(device) * options.hicache.ratio.value_or(2.0));
        tokens = (tokens / page + 1) * page;
        std::int64_t bytes = tokens * bytes_per_token;
        if (pinned_to_power_of_two) {
            std::int64_t power = 1;
            while (power < bytes) power *= 2;
            bytes = power;
        }
        HicachePlan result;
        result.enabled = options.hicache.enabled;
        result.tokens = result.distinct_tokens = Tokens{tokens};
        result.bytes_per_rank = Bytes{bytes};
        result.bytes_per_node = Bytes{bytes} * plan.parallelism.ranks_per_node;
        result.pools = {{"kv", Bytes{bytes}, Tokens{tokens}}};
        result.replication = plan.parallelism.ranks_per_node;
        return result;
    }

    HostPlan run() {
        plan.parallelism = parallelism(scenario);
        if (scenario.engine.hicache.enabled) plan.hicache = pools(scenario.engine);
        plan.host = plan_host_memory(scenario, plan, rules, [this](const EngineOptions& options) { return pools(options); });
        return plan.host;
    }

    [[nodiscard]] std::vector<Finding> findings() const { return host_findings(scenario, plan, rules); }
};

const Finding* find(const std::vector<Finding>& findings, std::string_view code) {
    const auto found = std::find_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.code == code; });
    return found == findings.end() ? nullptr : &*found;
}

bool has(const std::vector<Finding>& findings, std::string_view code) { return find(findings, code) != nullptr; }

/// 8 x RTX PRO 6000, Kimi-K2.5 at 0.93: a device pool of about 16 GB, 449 GB of RAM of which 408 GB are available.
Case founding() {
    Case c(8, 230'016);
    c.scenario.hardware.host.ram = 449_GB;
    c.scenario.hardware.host.available = 408_GB;
    c.scenario.engine.hicache.size_gb = 300;
    return c;
}

}  // namespace

TEST_CASE("The founding launch asks 2.4 TB of 408 GB and 39 GB a rank would have been safe", "[host_memory]") {
    Case c = founding();
    const HostPlan host = c.run();
    // 300e9 // 70,272 = 4,269,125 tokens, one page more than whole pages of 64: 4,269,184, 300.004 GB, times 8
    REQUIRE(c.plan.hicache.tokens == Tokens{4'269'184});
    REQUIRE(host.required_bytes == Bytes{8 * 4'269'184 * kKimiBytesPerToken} + 10_GiB + 60_GB);
    REQUIRE(host.safe == false);
    REQUIRE(host.shortfall_bytes == host.required_bytes - 408_GB);
    // 408 - 10.737 - 8 x 10 = 317.26 GB for the pools, 39.66 GB a rank
    REQUIRE(host.safe_max);
    REQUIRE(host.safe_max->hicache_size_gb == 39);
    REQUIRE(host.safe_max->limited_by == HostLimit::available);
    // 39e9 // 70,272 = 554,986 -> 8,672 pages of 64
    REQUIRE(host.safe_max->bytes_per_rank == Bytes{8'672 * 64 * kKimiBytesPerToken});
    // 230,016 x 70,272 = 16.16 GB: 17 is the smallest whole size that holds more
    REQUIRE(host.min_useful);
    REQUIRE(host.min_useful->hicache_size_gb == 17);
    REQUIRE(host.min_useful->reason == "write_through_inclusive");
    // each of the eight ranks tests 300 <= 408 - 10.74 alone
    REQUIRE(host.engine_check_catches == false);
}

TEST_CASE("Without the processes the founding host would seem to take 49 GB a rank, and 43 when its figure is GiB", "[host_memory]") {
    // (408 GiB - 10.737 - 80) / 8 = (438.09 - 90.74) / 8 = 43.42
    Case gib = founding();
    gib.scenario.hardware.host.available = 408_GiB;
    REQUIRE(gib.run().safe_max->hicache_size_gb == 43);
    // a reserve that gives the processes' 80 GB back: (408 + 69.26 - 80) / 8 = 49.66
    Case forgotten = founding();
    forgotten.scenario.hardware.host.available = 488_GB;
    REQUIRE(forgotten.run().safe_max->hicache_size_gb == 49);
}

TEST_CASE("The safe size fits and the next one does not, whatever the host", "[host_memory]") {
    Case c = founding();
    for (const std::int64_t gb : {20, 91, 92, 100, 171, 250, 408, 1000, 3000}) {
        c.scenario.hardware.host.available = gigabytes(gb);
        c.scenario.engine.hicache.size_gb = 300;
        const std::int64_t size = *c.run().safe_max->hicache_size_gb;
        c.scenario.engine.hicache.size_gb = size + 1;
        REQUIRE(c.run().safe == false);
        if (size == 0) continue;
        c.scenario.engine.hicache.size_gb = size;
        REQUIRE(c.run().safe == true);
    }
}

TEST_CASE("The safe ratio fits and a hundredth more does not", "[host_memory]") {
    Case c = founding();
    // 317.26 GB over 8 ranks hold 564,346 tokens; of a device pool of 230,016 that is 2.45
    const double ratio = *c.run().safe_max->hicache_ratio;
    REQUIRE(ratio == Approx(2.45));
    c.scenario.engine.hicache.size_gb.reset();
    c.scenario.engine.hicache.ratio = ratio;
    REQUIRE(c.run().safe == true);
    c.scenario.engine.hicache.ratio = ratio + 0.01;
    REQUIRE(c.run().safe == false);
}

TEST_CASE("More RAM never lowers the safe size", "[host_memory]") {
    Case c = founding();
    std::int64_t last = 0;
    for (std::int64_t gb = 0; gb <= 1200; gb += 37) {
        c.scenario.hardware.host.available = gigabytes(gb);
        const std::int64_t size = *c.run().safe_max->hicache_size_gb;
        REQUIRE(size >= last);
        last = size;
    }
}

TEST_CASE("Pinned blocks of a power of two make 30 GB a rank fit where 40 does not", "[host_memory]") {
    // Issue 14282: four ranks, 256 GB. 40 GB take 2^36 = 68.72 GB each, 274.9 together; 30 GB take 34.36, 137.4 together.
    Case c(4, 1'000);
    c.pinned_to_power_of_two = true;
    c.rules.pins_power_of_two = true;
    c.scenario.hardware.host.available = 256_GB;
    c.scenario.engine.hicache.size_gb = 40;
    REQUIRE(c.run().safe == false);
    REQUIRE(c.plan.hicache.bytes_per_node == Bytes{4 * (std::int64_t{1} << 36)});
    // the next step, 2^36, is too much, so the last size that rounds up to 2^35 = 34.36 GB is the safe one
    REQUIRE(c.run().safe_max->hicache_size_gb == 34);
    c.scenario.engine.hicache.size_gb = 30;
    REQUIRE(c.run().safe == true);
    REQUIRE(has(c.findings(), "hicache_power_of_two"));
}

TEST_CASE("The least of the machine, the container, huge pages, NUMA and lock limits counts", "[host_memory]") {
    Case c = founding();
    HostOptions& host = c.scenario.hardware.host;
    SECTION("a container's limit less what it uses") {
        host.cgroup_limit = 300_GB;
        host.cgroup_used = 50_GB;
        const HostPlan plan = c.run();
        REQUIRE(plan.available_bytes == 250_GB);
        REQUIRE(plan.safe_max->limited_by == HostLimit::cgroup);
        REQUIRE(plan.safe_max->hicache_size_gb == 19);  // (250 - 90.74) / 8 = 19.9
        REQUIRE(has(c.findings(), "cgroup_limit_unseen"));
    }
    SECTION("a container's limit above the machine's figure does not count") {
        host.cgroup_limit = 449_GB;
        REQUIRE(c.run().available_bytes == 408_GB);
    }
    SECTION("huge pages are no part of a total") {
        host.available.reset();
        host.huge_pages_reserved = 200_GB;
        const HostPlan plan = c.run();
        REQUIRE(plan.available_bytes == Bytes{449'000'000'000 - 44'900'000'000} - 200_GB);
        REQUIRE(plan.limited_by == HostLimit::huge_pages);
        REQUIRE(plan.available_basis == Basis::assumed);
    }
    SECTION("four of eight GPUs sit on the first of two NUMA nodes, so half of the RAM is all they get") {
        c.scenario.engine.tp = 4;
        host.numa_nodes = 2;
        c.rules.binds_numa = true;
        const HostPlan plan = c.run();
        REQUIRE(plan.available_bytes == 204_GB);
        REQUIRE(plan.safe_max->limited_by == HostLimit::numa);
        REQUIRE(plan.safe_max->hicache_size_gb == 38);  // (204 - 10.74 - 40) / 4 = 38.3
    }
    SECTION("eight of eight GPUs use both nodes") {
        host.numa_nodes = 2;
        c.rules.binds_numa = true;
        REQUIRE(c.run().available_bytes == 408_GB);
    }
    SECTION("a lock limit that was given bounds each process") {
        host.memlock = 20_GB;
        const HostPlan plan = c.run();
        REQUIRE(plan.safe_max->hicache_size_gb == 19);  // one page more than 20 GB would pass it
        REQUIRE(plan.safe_max->limited_by == HostLimit::memlock);
        REQUIRE(has(c.findings(), "hicache_exceeds_lock_limit"));
    }
    SECTION("a lock limit that was probed only gives a note") {
        host.memlock = 8_MiB;
        c.scenario.origin["memlock"] = "probe";
        REQUIRE(c.run().safe_max->hicache_size_gb == 39);
        REQUIRE(has(c.findings(), "memlock_probed"));
    }
    SECTION("others on the host") {
        host.used = 100_GB;
        REQUIRE(c.run().safe_max->hicache_size_gb == 27);  // (308 - 90.74) / 8 = 27.2
    }
}

TEST_CASE("ROCm's page-lock ceiling bounds a rank below the size that was seen to fail", "[host_memory]") {
    Case c(2, 230'016);
    c.scenario.hardware.host.available = 3'000_GB;
    c.scenario.engine.hicache.size_gb = 100;
    auto gpu = std::make_shared<GpuSpec>();
    gpu->vendor = GpuVendor::amd;
    c.scenario.gpu = gpu;
    const HostPlan host = c.run();
    REQUIRE(host.safe == true);
    REQUIRE(host.safe_max->hicache_size_gb == 531);
    REQUIRE(host.safe_max->limited_by == HostLimit::page_lock_ceiling);
}

TEST_CASE("Only the total is known: a labelled assumption stands for what the system uses", "[host_memory]") {
    Case c = founding();
    c.scenario.hardware.host.available.reset();
    const HostPlan host = c.run();
    REQUIRE(host.available_bytes == Bytes{404'100'000'000});  // 449 GB less a tenth
    REQUIRE(host.available_basis == Basis::assumed);
    REQUIRE(host.safe_max->hicache_size_gb == 39);  // (404.1 - 90.74) / 8 = 39.17
    REQUIRE(has(c.findings(), "host_available_assumed"));
}

TEST_CASE("Nothing is known of the host: no verdict, but a warning", "[host_memory]") {
    Case c = founding();
    c.scenario.hardware.host = {};
    const HostPlan host = c.run();
    REQUIRE_FALSE(host.available_bytes);
    REQUIRE_FALSE(host.safe);
    REQUIRE_FALSE(host.safe_max);
    REQUIRE(host.min_useful);
    REQUIRE(has(c.findings(), "host_memory_unknown"));
}

TEST_CASE("Servers and replicas on one host share its RAM", "[host_memory]") {
    Case c(2, 230'016);
    c.scenario.hardware.host.available = 408_GB;
    c.scenario.engine.hicache.size_gb = 100;
    REQUIRE(c.run().safe == true);  // 200 + 20 + 10.74
    SECTION("two servers of two ranks") { c.scenario.hardware.host.instances_per_node = 2; }
    SECTION("two replicas in one server") { c.scenario.engine.dp = 2; }
    const HostPlan host = c.run();
    REQUIRE(host.ranks_per_node == 4);
    REQUIRE(host.safe == false);  // 400 + 40 + 10.74
    REQUIRE(host.safe_max->hicache_size_gb == 89);  // (408 - 50.74) / 4 = 89.3
    REQUIRE(has(c.findings(), "engine_counts_one_server"));
}

TEST_CASE("Plain data parallelism is no share of the tensor parallel group: DP attention keeps the ranks", "[host_memory]") {
    Case c(8, 230'016);
    c.scenario.hardware.host.available = 408_GB;
    c.scenario.engine.dp = 8;
    c.scenario.engine.enable_dp_attention = true;
    REQUIRE(c.run().ranks_per_node == 8);
}

TEST_CASE("The check of the engine by version", "[host_memory]") {
    Case c = founding();
    SECTION("an equal share of each rank catches 300: (408 - 10.74) / 8 = 49.66") {
        c.rules.check_divides_by_ranks = true;
        REQUIRE(c.run().engine_check_catches == true);
    }
    SECTION("but not 45, which the processes make too much") {
        c.rules.check_divides_by_ranks = true;
        c.scenario.engine.hicache.size_gb = 45;
        REQUIRE(c.run().safe == false);
        REQUIRE(c.plan.host.engine_check_catches == false);
    }
    SECTION("a size above the whole machine is caught by any check") {
        c.scenario.engine.hicache.size_gb = 398;
        REQUIRE(c.run().engine_check_catches == true);
    }
    SECTION("397 is not: 397 <= 397.26") {
        c.scenario.engine.hicache.size_gb = 397;
        REQUIRE(c.run().engine_check_catches == false);
    }
    SECTION("an engine without a check") {
        c.rules.check_reserve.reset();
        REQUIRE(c.run().engine_check_catches == false);
    }
    SECTION("nothing to catch") {
        c.scenario.engine.hicache.size_gb = 30;
        REQUIRE_FALSE(c.run().engine_check_catches);
    }
}

TEST_CASE("The window between useful and safe closes for 8 ranks with 772,800 tokens of MLA on 449 GB", "[host_memory]") {
    // 772,800 x 70,272 = 54.31 GB a rank; safe (449 - 90.74) / 8 = 44.8
    Case c(8, 772'800);
    c.scenario.hardware.host.available = 449_GB;
    c.scenario.engine.hicache.size_gb = 54;
    c.rules.refuses_smaller_than_device = true;
    const HostPlan host = c.run();
    REQUIRE(host.safe_max->hicache_size_gb == 44);
    REQUIRE(host.min_useful->hicache_size_gb == 55);
    REQUIRE(host.min_useful->reason == "engine_refuses_smaller");
    const std::vector<Finding> found = c.findings();
    const Finding* window = find(found, "hicache_window_empty");
    REQUIRE(window);
    REQUIRE(window->remedy.size() == 2);
    REQUIRE(window->remedy[0].field == "max_total_tokens");
    // ratio 0.82 x 772,800 / 2 = 316,848
    REQUIRE(window->remedy[0].value == "316000");
    REQUIRE(has(found, "hicache_refused_by_engine"));  // 54 GB hold 768,448 tokens
    // the remedy opens the window
    c.plan.capacity.max_total_num_tokens = certain(Tokens{316'000});
    c.scenario.engine.hicache.size_gb = 44;
    REQUIRE(c.run().safe == true);
    REQUIRE(host.safe_max->hicache_size_gb >= c.plan.host.min_useful->hicache_size_gb);
    REQUIRE_FALSE(has(c.findings(), "hicache_window_empty"));
}

TEST_CASE("A write-back host cache is of use at any size", "[host_memory]") {
    Case c(8, 772'800);
    c.scenario.hardware.host.available = 449_GB;
    c.scenario.engine.hicache.size_gb = 40;
    c.scenario.engine.hicache.write_policy = "write_back";
    REQUIRE_FALSE(c.run().min_useful);
    REQUIRE_FALSE(has(c.findings(), "hicache_not_larger_than_device"));
}

TEST_CASE("The founding launch is explained by its findings", "[host_memory][findings]") {
    Case c = founding();
    c.run();
    const std::vector<Finding> found = c.findings();
    const Finding* lack = find(found, "hicache_exceeds_host_ram");
    REQUIRE(lack);
    REQUIRE(lack->severity == FindingSeverity::error);
    REQUIRE(lack->remedy.size() == 1);
    REQUIRE(lack->remedy[0].field == "hicache_size");
    REQUIRE(lack->remedy[0].value == "39");
    const Finding* total = find(found, "hicache_size_is_per_rank");
    REQUIRE(total);
    REQUIRE(total->values[3].number == 37);  // 300 / 8
    REQUIRE(has(found, "engine_check_blind"));
    REQUIRE(has(found, "host_cache_no_concurrency"));
    REQUIRE(has(found, "hicache_replicated_copies"));
    // most severe first
    REQUIRE(std::is_sorted(found.begin(), found.end(), [](const Finding& a, const Finding& b) { return a.severity < b.severity; }));
}

TEST_CASE("Sentences of host findings hold all their figures", "[host_memory][findings]") {
    Case c = founding();
    c.run();
    for (const Finding& finding : c.findings()) {
        const exporting::FindingText text = exporting::text_of(finding);
        INFO(finding.code << ": " << text.message << " / " << text.remedy);
        REQUIRE(text.message != finding.code);
        REQUIRE(text.message.find('?') == std::string::npos);
        REQUIRE(text.remedy.find('?') == std::string::npos);
    }
    const std::vector<Finding> found = c.findings();
    REQUIRE(exporting::text_of(*find(found, "hicache_exceeds_host_ram")).remedy.find("--hicache-size 39 (") != std::string::npos);
}

TEST_CASE("A sound host cache gives notes only", "[host_memory][findings]") {
    Case c = founding();
    c.scenario.engine.hicache.size_gb = 35;
    c.run();
    for (const Finding& finding : c.findings()) {
        INFO(finding.code);
        REQUIRE(finding.severity == FindingSeverity::note);
    }
}

TEST_CASE("A launch that only the high end of the processes breaks is unsafe with a warning", "[host_memory][findings]") {
    Case c = founding();
    c.scenario.engine.hicache.size_gb = 41;  // 328 + 10.74 + 60 = 398.7 < 408 < 328 + 10.74 + 80
    REQUIRE(c.run().safe == false);
    REQUIRE(c.plan.host.shortfall_bytes == Bytes{0});
    REQUIRE(has(c.findings(), "host_memory_tight"));
    REQUIRE_FALSE(has(c.findings(), "hicache_exceeds_host_ram"));
}

TEST_CASE("The start is as long as loading and pinning take", "[host_memory][startup]") {
    Case c = founding();
    c.run();
    c.plan.weights.checkpoint_bytes = 600_GB;
    c.plan.weights.bytes_per_rank = certain(76_GB);
    // expected: 600 / 2 + 300.004 / 3.2 + 60 = 453.8 s; high: 600 / 0.5 + 300.004 + 240 = 1740 s
    const Estimate<double> seconds = startup_seconds(c.scenario, c.plan);
    REQUIRE(seconds.expected == Approx(453.8).margin(0.1));
    REQUIRE(seconds.high == Approx(1740.0).margin(0.1));
    REQUIRE(has(c.findings(), "startup_may_exceed_watchdog"));
    c.scenario.hardware.host.startup_limit_seconds = 300.0;
    REQUIRE(has(c.findings(), "startup_exceeds_watchdog"));
}

TEST_CASE("A ratio is judged at the high end of the device pool", "[host_memory]") {
    Case c(8, 230'016);
    c.scenario.hardware.host.available = 408_GB;
    c.scenario.engine.hicache.ratio = 2.38;
    c.plan.capacity.max_total_num_tokens = {Tokens{214'272}, Tokens{230'016}, Tokens{245'739}, Basis::assumed};
    c.plan.parallelism = parallelism(c.scenario);
    c.plan.hicache = c.pools(c.scenario.engine);
    const auto at = [&](const EngineOptions& options) {
        Case high = c;
        high.plan.capacity.max_total_num_tokens = certain(c.plan.capacity.max_total_num_tokens.high);
        return high.pools(options);
    };
    const HostPlan host = plan_host_memory(c.scenario, c.plan, c.rules, at);
    // 2.38 x 230,016 = 547,438 -> 8,554 pages = 38.47 GB x 8 + 90.74 = 398.5 GB; 2.38 x 245,739 = 584,858 -> 9,139 pages
    // = 41.10 GB x 8 + 90.74 = 419.6 GB
    REQUIRE(host.required_bytes < 408_GB);
    REQUIRE(host.required_high_bytes == Bytes{8 * 9'139 * 64 * kKimiBytesPerToken} + 10_GiB + 80_GB);
    REQUIRE(host.safe == false);
    // (408 - 90.74) / 8 = 39.658 GB = 564,345 tokens = 8,817 pages; less one page: 564,288 / 245,739 = 2.296
    REQUIRE(*host.safe_max->hicache_ratio == Approx(2.29));
    REQUIRE(*host.safe_max->hicache_size_gb == 39);
}

TEST_CASE("A pool in /dev/shm that is too small for it is unsafe", "[host_memory]") {
    Case c = founding();
    c.scenario.hardware.host.available = 4'000_GB;
    REQUIRE(c.run().safe == true);
    c.rules.pool_in_shm = true;
    c.scenario.hardware.host.shm_size = 64_MiB;
    REQUIRE(c.run().safe == false);  // 2.4 TB into 67 MB
    REQUIRE(has(c.findings(), "host_pool_exceeds_shm"));
    REQUIRE_FALSE(has(c.findings(), "engine_check_blind"));  // the RAM is there
    c.scenario.hardware.host.shm_size = 3'000_GB;
    REQUIRE(c.run().safe == true);
}

TEST_CASE("A lock limit of a manifest counts as one that was given", "[host_memory]") {
    Case c = founding();
    c.scenario.hardware.host.available = 4'000_GB;
    c.scenario.hardware.host.memlock = 50_GB;
    for (const char* origin : {"flag", "manifest"}) {
        c.scenario.origin["memlock"] = origin;
        REQUIRE(c.run().safe == false);  // 300 GB a rank of 50
        REQUIRE(has(c.findings(), "hicache_exceeds_lock_limit"));
        REQUIRE_FALSE(has(c.findings(), "engine_check_blind"));  // a failed pin is an error, not a hang
    }
    c.scenario.origin["memlock"] = "probe";
    REQUIRE(c.run().safe == true);
}

TEST_CASE("One memory for GPU and host holds weights, KV and host pools", "[host_memory]") {
    Case c(1, 100'032);
    auto gpu = std::make_shared<GpuSpec>();
    gpu->unified_memory = true;
    c.scenario.gpu = gpu;
    c.scenario.hardware.host.available = 115_GB;
    c.scenario.engine.hicache.size_gb = 20;
    c.plan.gpu.weights_bytes = 14_GB;
    c.plan.gpu.kv_pool_bytes = 80_GB;
    // 14 + 80 + 20.0 + 10.74 + 10 = 134.7 GB of 115
    REQUIRE(c.run().safe == false);
    REQUIRE(c.plan.host.device_bytes == 94_GB);
    gpu->unified_memory = false;
    REQUIRE(c.run().safe == true);  // 40.7 of 115
}

TEST_CASE("What the engine refuses is not advised", "[host_memory]") {
    // Device 42 GB, safe at most (408 - 90.74) / 8 = 39.66 GB: no size is safe and larger than the device pool
    Case c(8, 597'696);
    c.scenario.hardware.host.available = 408_GB;
    c.scenario.engine.hicache.ratio = 2.0;
    c.rules.refuses_smaller_than_device = true;
    REQUIRE(c.run().safe == false);
    const Finding* lack = nullptr;
    const std::vector<Finding> found = c.findings();
    lack = find(found, "hicache_exceeds_host_ram");
    REQUIRE(lack != nullptr);
    const std::string remedy = exporting::text_of(*lack).remedy;
    REQUIRE(remedy.find("Take at most") == std::string::npos);
    REQUIRE(remedy.find("cap the device pool") != std::string::npos);
}
