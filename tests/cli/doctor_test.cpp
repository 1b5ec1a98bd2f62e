#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/configs.hpp"

using namespace kvplan;
using nlohmann::json;

namespace {
std::string machine(const std::string& name) { return std::string(KVPLAN_SOURCE_DIR) + "/tests/data/machines/" + name; }
}  // namespace

TEST_CASE("doctor --from on the founding machine ends with 1 and says what helps", "[doctor][founding]") {
    const test::Ran ran = test::run_kvplan({"doctor", "--format", "json", "--from", machine("stuck_gpus")});
    CHECK(ran.exit_code == 1);
    const json report = json::parse(ran.out);
    CHECK(report["gpus"].size() == 8);
    CHECK(report["gpus"][0]["used_bytes"] == 96'413LL * 1'048'576);
    CHECK(report["gpus"][0]["holders"].empty());
    CHECK(report["host"]["container"] == "lxc");
    CHECK(report["findings"][0]["code"] == "gpu_memory_held_by_no_process");
    CHECK(report["findings"][0]["remedy"].get<std::string>().find("pct exec") != std::string::npos);
    const test::Ran text = test::run_kvplan({"doctor", "--from", machine("stuck_gpus")});
    CHECK(text.out.find("NOT READY") != std::string::npos);
}

TEST_CASE("doctor on sound machines ends with 0", "[doctor]") {
    for (const char* name : {"bare_metal", "docker_cgroup_v2", "kubernetes_pod", "lxc_proxmox", "cgroup_v1", "no_gpu"}) {
        INFO(name);
        CHECK(test::run_kvplan({"doctor", "--from", machine(name)}).exit_code == 0);
    }
    CHECK(test::run_kvplan({"doctor", "--from", "/no/such/directory"}).exit_code == 2);
}

TEST_CASE("doctor --save writes a copy that gives the same report", "[doctor]") {
    const std::string copy = test::temporary_directory() + "/machine-copy";
    const test::Ran first = test::run_kvplan({"doctor", "--format", "json", "--from", machine("cgroup_v1"), "--save", copy});
    const test::Ran second = test::run_kvplan({"doctor", "--format", "json", "--from", copy});
    CHECK(first.out == second.out);
    CHECK(std::filesystem::exists(copy + "/proc/meminfo"));
}

TEST_CASE("doctor on this machine reads something and changes nothing", "[doctor]") {
    const test::Ran ran = test::run_kvplan({"doctor", "--format", "json"});
    CHECK((ran.exit_code == 0 || ran.exit_code == 1));
    CHECK(json::parse(ran.out)["host"]["ram_total_bytes"].get<double>() > 0);
}

TEST_CASE("The founding incident end to end: the machine, the command, the safe size", "[doctor][check][founding]") {
    const std::string kimi = test::temporary_file("kimi/config.json", test::kimi_k2_config());
    const std::vector<std::string> command = {"--", "python3", "-m", "sglang.launch_server", "--model-path", kimi, "--tp", "8", "--mem-fraction-static", "0.93",
                                              "--enable-hierarchical-cache", "--hicache-size", "300"};
    std::vector<std::string> arguments = {"check", "--format", "json", "--host-from", machine("lxc_proxmox")};
    arguments.insert(arguments.end(), command.begin(), command.end());
    const test::Ran ran = test::run_kvplan(arguments);
    CAPTURE(ran.err);
    REQUIRE(ran.exit_code == 1);
    const json plan = json::parse(ran.out);
    CHECK(plan["scenario"]["gpu"]["from"] == "probe");
    // 433,593,750 kB = 444.0 GB available: (444.0 - 90.74) / 8 = 44.16
    CHECK(plan["host"]["safe_max"]["hicache_size_gb"] == 44);
    CHECK(plan["launch"]["changed"][0]["to"] == "44");
    // on the machine after the crash the GPUs are reported with the plan
    arguments[4] = machine("stuck_gpus");
    CHECK(test::run_kvplan(arguments).err.find("gpu_memory_held_by_no_process") != std::string::npos);
}

TEST_CASE("doctor --from a directory without anything to read is not ready", "[doctor]") {
    const std::string empty = test::temporary_directory() + "/nothing-here";
    std::filesystem::create_directories(empty);
    const test::Ran ran = test::run_kvplan({"doctor", "--from", empty});
    CHECK(ran.exit_code == 1);
    CHECK(ran.out.find("UNKNOWN: nothing could be read") != std::string::npos);
    CHECK(ran.out.find("READY") == std::string::npos);
}
