#include "planner/export/doctor_report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "planner/export/finding_text.hpp"
#include "units/format.hpp"

namespace kvplan::exporting {
namespace {

using Json = nlohmann::ordered_json;

Json of(const std::optional<Bytes>& bytes) { return bytes ? Json(bytes->count()) : Json(); }

template <class T>
Json of(const std::optional<T>& value) {
    return value ? Json(*value) : Json();
}

Json cgroup_json(const Machine& machine) {
    Json levels = Json::array();
    for (const CgroupLevel& level : machine.cgroups) levels.push_back({{"path", level.path}, {"limit_bytes", level.limit.count()}, {"used_bytes", level.used.count()}});
    return {{"version", machine.cgroup_version == 0 ? Json() : Json(machine.cgroup_version)}, {"levels", levels}};
}

Json host_json(const Machine& machine) {
    const HostSpec& host = machine.host;
    Json nodes = Json::array();
    for (const NumaNode& node : host.nodes) nodes.push_back({{"id", node.id}, {"total_bytes", of(node.total)}, {"free_bytes", of(node.free)}});
    const bool unlimited = host.memlock && !host.memlock->bytes;
    return {{"container", name_of(machine.container)},
            {"ram_total_bytes", of(host.ram_total)},
            {"ram_available_bytes", of(host.ram_available)},
            {"cgroup_limit_bytes", of(host.cgroup_limit)},
            {"cgroup_used_bytes", of(host.cgroup_used)},
            {"cgroup", cgroup_json(machine)},
            {"shm_size_bytes", of(host.shm_size)},
            {"shm_used_bytes", of(machine.shm_used)},
            {"shared_memory_bytes", of(machine.memory.shmem)},
            {"locked_bytes", of(machine.memory.locked)},
            {"huge_pages_total_bytes", of(host.hugepages_total)},
            {"huge_pages_free_bytes", of(host.hugepages_free)},
            {"memlock_bytes", host.memlock ? of(host.memlock->bytes) : Json()},
            {"memlock_unlimited", host.memlock ? Json(unlimited) : Json()},
            {"swap_total_bytes", of(machine.memory.swap_total)},
            {"swap_free_bytes", of(machine.memory.swap_free)},
            {"overcommit_memory", of(machine.memory.overcommit)},
            {"committed_bytes", of(machine.memory.committed)},
            {"commit_limit_bytes", of(machine.memory.commit_limit)},
            {"numa_nodes", of(host.numa_nodes)},
            {"nodes", nodes}};
}

Json gpus_json(const Machine& machine) {
    Json gpus = Json::array();
    for (const GpuReading& gpu : machine.gpus) {
        Json holders = Json::array();
        for (const GpuHolder& holder : gpu.holders) holders.push_back({{"pid", holder.pid}, {"command", holder.command}});
        gpus.push_back({{"index", gpu.index}, {"name", gpu.name}, {"bus_id", gpu.bus_id}, {"total_bytes", of(gpu.total)}, {"used_bytes", of(gpu.used)},
                        {"free_bytes", of(gpu.free)}, {"holders", machine.holders_known ? holders : Json()}});
    }
    return gpus;
}

void add_row(ReportTable& table, const char* name, const std::optional<Bytes>& bytes, int level = 0) {
    if (bytes) table.rows.push_back({{name, fixed(in_gb(*bytes), 2), fixed(in_gib(*bytes), 2)}, level, false});
}

ReportSection host_section(const Machine& machine) {
    ReportSection section{"Host", {{"", "GB", "GiB"}, {}}, {}};
    ReportTable& table = section.table;
    const HostSpec& host = machine.host;
    add_row(table, "RAM", host.ram_total);
    add_row(table, "available", host.ram_available, 1);
    add_row(table, "shared memory in use", machine.memory.shmem, 1);
    add_row(table, "container's limit", host.cgroup_limit);
    add_row(table, "used of it", host.cgroup_used, 1);
    add_row(table, "/dev/shm", host.shm_size);
    add_row(table, "huge pages", host.hugepages_total);
    add_row(table, "swap", machine.memory.swap_total);
    if (host.memlock && host.memlock->bytes) add_row(table, "ulimit -l", host.memlock->bytes);
    if (host.memlock && !host.memlock->bytes) section.sentences.push_back("ulimit -l is unlimited.");
    if (machine.container != ContainerKind::none) section.sentences.push_back("This is a container (" + std::string(name_of(machine.container)) + ").");
    if (host.numa_nodes) section.sentences.push_back(std::to_string(*host.numa_nodes) + (*host.numa_nodes == 1 ? " NUMA node." : " NUMA nodes."));
    return section;
}

ReportSection gpu_section(const Machine& machine) {
    ReportSection section{"GPUs, GiB", {{"", "total", "used", "free", "held by"}, {}}, {}};
    const auto gib = [](const std::optional<Bytes>& bytes) { return bytes ? fixed(in_gib(*bytes), 2) : std::string("?"); };
    for (const GpuReading& gpu : machine.gpus) {
        std::string holders;
        for (const GpuHolder& holder : gpu.holders) holders += (holders.empty() ? "" : ", ") + std::to_string(holder.pid) + " " + holder.command;
        section.table.rows.push_back({{std::to_string(gpu.index) + " " + gpu.name, gib(gpu.total), gib(gpu.used), gib(gpu.free), holders}, 0, false});
    }
    return section;
}

ReportSection findings_section(const std::vector<Finding>& findings) {
    ReportSection section{"Findings", {}, {}};
    for (const Finding& finding : findings) {
        const FindingText text = text_of(finding);
        section.sentences.push_back(std::string(name_of(finding.severity)) + " [" + std::string(finding.code) + "] " + text.message + (text.remedy.empty() ? "" : " -> " + text.remedy));
    }
    return section;
}

}  // namespace

Json doctor_json(const Machine& machine, const std::vector<Finding>& findings) {
    Json list = Json::array();
    for (const Finding& finding : findings) {
        const FindingText text = text_of(finding);
        list.push_back({{"code", finding.code}, {"severity", name_of(finding.severity)}, {"message", text.message}, {"remedy", text.remedy}, {"fields", finding.fields}});
    }
    return {{"schema_version", 1}, {"host", host_json(machine)}, {"gpus", gpus_json(machine)}, {"findings", list}};
}

Report doctor_report(const Machine& machine, const std::vector<Finding>& findings) {
    Report report;
    report.title = "This machine before a launch";
    const auto errors = std::count_if(findings.begin(), findings.end(), [](const Finding& f) { return f.severity == FindingSeverity::error; });
    const auto warnings = std::count_if(findings.begin(), findings.end(), [](const Finding& f) { return f.severity == FindingSeverity::warning; });
    report.tone = errors > 0 ? Tone::bad : warnings > 0 ? Tone::unsure : Tone::good;
    report.verdict = errors > 0 ? "NOT READY: see the errors below" : warnings > 0 ? "READY, WITH WARNINGS" : "READY";
    if (errors > 0 && findings.front().code == "nothing_read") report.verdict = "UNKNOWN: nothing could be read";
    report.sections.push_back(host_section(machine));
    if (!machine.gpus.empty()) report.sections.push_back(gpu_section(machine));
    if (!findings.empty()) report.sections.push_back(findings_section(findings));
    return report;
}

}  // namespace kvplan::exporting
