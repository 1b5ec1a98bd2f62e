#include "planner/doctor.hpp"

#include <algorithm>

#include "planner/export/finding_text.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;
using namespace kvplan::literals;

namespace {

Machine machine(const std::string& name) { return probe(*saved_source(std::string(KVPLAN_SOURCE_DIR) + "/tests/data/machines/" + name)); }

const Finding* find(const std::vector<Finding>& findings, std::string_view code) {
    const auto found = std::find_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.code == code; });
    return found == findings.end() ? nullptr : &*found;
}

bool has(const Machine& m, std::string_view code) {
    const std::vector<Finding> findings = doctor_findings(m);
    return find(findings, code) != nullptr;
}

bool severe(const Machine& m) {
    const std::vector<Finding> findings = doctor_findings(m);
    return std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.severity != FindingSeverity::note; });
}

}  // namespace

TEST_CASE("Bare metal: all figures are read and nothing is amiss", "[doctor]") {
    const Machine m = machine("bare_metal");
    CHECK(m.container == ContainerKind::none);
    CHECK(m.host.ram_total == Bytes{2'113'929'216LL * 1024});
    CHECK(m.host.ram_available == Bytes{(2'113'929'216LL - 33'554'432) * 1024});
    CHECK(m.cgroup_version == 2);
    CHECK_FALSE(m.host.cgroup_limit);
    CHECK(m.host.numa_nodes == 2);
    CHECK(m.host.memlock->bytes == 8_MiB);
    CHECK(m.gpus.size() == 8);
    CHECK(m.gpus[7].total == mebibytes(143'771));
    CHECK(m.gpus[7].name == "NVIDIA H200");
    CHECK_FALSE(severe(m));
}

TEST_CASE("Docker with cgroup v2: the limit less what is used, clean page cache apart", "[doctor]") {
    const Machine m = machine("docker_cgroup_v2");
    CHECK(m.container == ContainerKind::docker);
    CHECK(m.host.cgroup_limit == 400_GiB);
    CHECK(m.host.cgroup_used == 8_GiB);  // 20 GiB less 12 GiB of inactive file pages
    CHECK(m.host.shm_size == 64_MiB);
    CHECK(has(m, "cgroup_limit_below_ram"));
    CHECK(has(m, "shm_small"));
    CHECK(has(m, "memlock_small"));
}

TEST_CASE("A Kubernetes pod: the level above the container may hold the limit", "[doctor]") {
    const Machine m = machine("kubernetes_pod");
    CHECK(m.container == ContainerKind::kubernetes);
    REQUIRE(m.cgroups.size() == 2);  // the pod's slice and the node's; the container's own has none
    CHECK(m.host.cgroup_limit == 256_GiB);
    CHECK(m.host.cgroup_used == 4_GiB);  // 9 GiB less 5 GiB
    REQUIRE(m.host.memlock);
    CHECK_FALSE(m.host.memlock->bytes);  // unlimited
}

TEST_CASE("An LXC container on Proxmox is known by its mounts", "[doctor]") {
    const Machine m = machine("lxc_proxmox");
    CHECK(m.container == ContainerKind::lxc);
    CHECK(m.host.ram_total == Bytes{438'476'560LL * 1024});
    CHECK(m.host.cgroup_used == 2_GiB);
    CHECK_FALSE(severe(m));
}

TEST_CASE("cgroup v1, strict overcommit, idle huge pages, used swap and a busy GPU", "[doctor]") {
    const Machine m = machine("cgroup_v1");
    CHECK(m.cgroup_version == 1);
    CHECK(m.host.cgroup_limit == 128_GiB);
    CHECK(m.host.cgroup_used == 20_GiB);  // 30 GiB less 10 GiB
    CHECK(m.host.hugepages_total == 32_GiB);
    for (const std::string_view code : {"overcommit_strict", "huge_pages_idle", "swap_in_use", "gpu_memory_in_use", "gpus_unequal_free"}) {
        INFO(code);
        CHECK(has(m, code));
    }
    CHECK_FALSE(has(m, "gpu_memory_held_by_no_process"));
    REQUIRE(m.gpus[0].holders.size() == 1);
    CHECK(m.gpus[0].holders[0].pid == 4711);
}

TEST_CASE("A machine without a GPU", "[doctor]") {
    const Machine m = machine("no_gpu");
    CHECK(m.gpus.empty());
    CHECK_FALSE(m.root);
    CHECK(has(m, "no_gpu"));
    CHECK_FALSE(severe(m));
}

TEST_CASE("Two GPUs of the founding incident are held by no process, and the way out is outside", "[doctor][founding]") {
    const Machine m = machine("stuck_gpus");
    REQUIRE(m.gpus.size() == 8);
    CHECK(m.gpus[0].used == mebibytes(96'413));
    CHECK(m.gpus[2].used == mebibytes(96'417));
    const std::vector<Finding> findings = doctor_findings(m);
    const Finding* stuck = find(findings, "gpu_memory_held_by_no_process");
    REQUIRE(stuck);
    CHECK(stuck->severity == FindingSeverity::error);
    CHECK(findings.front().code == "gpu_memory_held_by_no_process");
    const exporting::FindingText text = exporting::text_of(*stuck);
    CHECK(text.message.find("GPU 0, 2:") != std::string::npos);
    CHECK(text.message.find("94.15 GiB to 94.16 GiB of 95.59 GiB") != std::string::npos);  // 96,413 / 1024 and 96,417 / 1024
    CHECK(text.message.find("Killing more processes here will not free it") != std::string::npos);
    CHECK(text.remedy.find("pct exec") != std::string::npos);
    CHECK(text.remedy.find("not supported inside a container") != std::string::npos);
    CHECK(find(findings, "host_memory_in_use"));  // 318 GB of 449
    CHECK(find(findings, "gpus_unequal_free"));
}

TEST_CASE("A GPU that a process holds is told with the process", "[doctor]") {
    FileTexts texts;
    texts["/proc/self/status"] = "Uid:\t0\n";
    texts["/commands/nvidia-smi-gpus.csv"] = "0, X, 97887, 96413, 1474\n1, X, 97887, 2, 97885\n";
    texts["/commands/fuser.txt"] = "                     USER        PID ACCESS COMMAND\n/dev/nvidia0:        root      81234 F...m python3\n";
    const Machine m = probe(*memory_source(texts));
    REQUIRE(m.gpus.size() == 2);
    CHECK(m.gpus[0].holders.at(0).pid == 81'234);
    CHECK(has(m, "gpu_memory_in_use"));
    CHECK_FALSE(has(m, "gpu_memory_held_by_no_process"));
    texts["/commands/fuser.txt"] = "/dev/nvidia0:        root     kernel mount /dev/nvidia0\n";
    CHECK(has(probe(*memory_source(texts)), "gpu_memory_held_by_no_process"));
    texts["/proc/self/status"] = "Uid:\t1000\n";
    CHECK(has(probe(*memory_source(texts)), "gpu_memory_of_hidden_process"));
}

TEST_CASE("rocm-smi's table is read by its head", "[doctor]") {
    FileTexts texts;
    texts["/commands/rocm-smi.csv"] = "device,VRAM Total Memory (B),VRAM Total Used Memory (B),Card Series\ncard0,206141652992,295698432,AMD Instinct MI300X\n";
    const Machine m = probe(*memory_source(texts));
    REQUIRE(m.gpus.size() == 1);
    CHECK(m.gpus[0].name == "AMD Instinct MI300X");
    CHECK(m.gpus[0].total == Bytes{206'141'652'992});
    CHECK(m.gpus[0].free == Bytes{206'141'652'992 - 295'698'432});
}

TEST_CASE("Huge pages of all sizes are counted", "[doctor]") {
    FileTexts texts;
    texts["/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"] = "1024\n";
    texts["/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"] = "512\n";
    texts["/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"] = "4\n";
    const Machine m = probe(*memory_source(texts));
    CHECK(m.host.hugepages_total == 6_GiB);
    CHECK(m.host.hugepages_free == 1_GiB);
}

TEST_CASE("Broken files leave figures empty and break nothing", "[doctor]") {
    FileTexts texts;
    for (const char* path : {"/proc/meminfo", "/proc/self/cgroup", "/proc/self/limits", "/commands/nvidia-smi-gpus.csv", "/commands/df-shm.txt", "/commands/gpu-holders.txt", "/sys/fs/cgroup/memory.max"})
        texts[path] = std::string("MemTotal: 99999999999999999999 kB\n::::\n0::\xff\n,,,\nMax locked memory\n") + std::string(1, '\0');
    const Machine m = probe(*memory_source(texts));
    CHECK_FALSE(m.host.ram_total);
    (void)doctor_findings(m);
    (void)doctor_findings(probe(*memory_source({})));
}

TEST_CASE("What is read can be saved and read again", "[doctor]") {
    FileTexts texts;
    const auto source = saved_source(std::string(KVPLAN_SOURCE_DIR) + "/tests/data/machines/docker_cgroup_v2");
    const Machine first = probe(*recording(*source, texts));
    const Machine again = probe(*memory_source(texts));
    CHECK(again.host.cgroup_used == first.host.cgroup_used);
    CHECK(again.gpus.size() == first.gpus.size());
    CHECK(doctor_findings(again).size() == doctor_findings(first).size());
}

TEST_CASE("A machine fills in only what a scenario does not say", "[doctor]") {
    Scenario scenario;
    scenario.hardware.gpu_name = "h100";
    scenario.origin["gpu"] = "flag";
    apply_machine(machine("lxc_proxmox"), scenario);
    CHECK(scenario.hardware.gpu_name == "h100");
    CHECK(scenario.hardware.host.ram == Bytes{438'476'560LL * 1024});
    CHECK(scenario.origin.at("host_available") == "probe");
    Scenario described;
    described.origin["host_available"] = "flag";
    described.hardware.host.available = 100_GB;
    apply_machine(machine("stuck_gpus"), described);
    CHECK(described.hardware.host.available == 100_GB);
    CHECK_FALSE(described.hardware.host.ram);
    CHECK(described.hardware.gpus_per_node == 8);
    CHECK(described.hardware.gpu_free == mebibytes(97'887 - 96'417));
}

TEST_CASE("Every finding of the doctor has its sentences", "[doctor][findings]") {
    for (const char* name : {"bare_metal", "docker_cgroup_v2", "kubernetes_pod", "lxc_proxmox", "cgroup_v1", "no_gpu", "stuck_gpus"})
        for (const Finding& finding : doctor_findings(machine(name))) {
            const exporting::FindingText text = exporting::text_of(finding);
            INFO(finding.code << ": " << text.message << " / " << text.remedy);
            CHECK(text.message != finding.code);
            CHECK(text.message.find('?') == std::string::npos);
            CHECK(text.remedy.find('?') == std::string::npos);
        }
}
