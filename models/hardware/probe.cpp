#include "models/hardware/probe.hpp"

#include <algorithm>

#include "units/parse.hpp"

namespace kvplan {
namespace {

std::vector<std::string> words_of(std::string_view line) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < line.size();) {
        const std::size_t start = line.find_first_not_of(" \t\r\n", at);
        if (start == std::string_view::npos) break;
        at = std::min(line.find_first_of(" \t\r\n", start), line.size());
        words.emplace_back(line.substr(start, at - start));
    }
    return words;
}

template <class Each>
void for_lines(std::string_view text, Each each) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        each(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

std::optional<Bytes> bytes_after(std::string_view text, std::string_view key) {
    const auto number = number_after(text, key);
    return number ? std::optional<Bytes>(Bytes{*number}) : std::nullopt;
}

ContainerKind container_of(const FileSource& source) {
    const std::string environment = source.read("/proc/1/environ").value_or("");
    const std::string mounts = source.read("/proc/self/mountinfo").value_or("");
    const std::string cgroup = source.read("/proc/self/cgroup").value_or("") + source.read("/proc/1/cgroup").value_or("");
    const auto in = [](const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; };
    if (in(environment, "container=lxc") || in(mounts, "lxcfs") || in(cgroup, "/lxc/")) return ContainerKind::lxc;
    if (in(cgroup, "kubepods") || in(mounts, "kubepods") || in(mounts, "/kubelet/pods/") || in(mounts, "/dev/termination-log")) return ContainerKind::kubernetes;
    if (source.read("/.dockerenv") || in(cgroup, "/docker/") || in(mounts, "/docker/containers/")) return ContainerKind::docker;
    if (source.read("/run/.containerenv") || in(environment, "container=") || in(cgroup, "/libpod")) return ContainerKind::other;
    return ContainerKind::none;
}

void probe_limits(const FileSource& source, Machine& machine) {
    for_lines(source.read("/proc/self/limits").value_or(""), [&](std::string_view line) {
        constexpr std::string_view kName = "Max locked memory";
        if (line.substr(0, kName.size()) != kName) return;
        const std::vector<std::string> words = words_of(line.substr(kName.size()));
        if (words.empty()) return;
        MemlockLimit limit;
        const Parsed<std::int64_t> soft = parse_integer(words[0]);
        if (parse_ok(soft)) limit.bytes = Bytes{std::get<std::int64_t>(soft)};
        if (limit.bytes || words[0] == "unlimited") machine.host.memlock = limit;
    });
}

/// `df -B1 /dev/shm`: the second line's second and third word.
void probe_shm(const FileSource& source, Machine& machine) {
    for_lines(source.read("/commands/df-shm.txt").value_or(""), [&](std::string_view line) {
        const std::vector<std::string> words = words_of(line);
        if (words.size() < 4) return;
        const Parsed<std::int64_t> size = parse_integer(words[1]), used = parse_integer(words[2]);
        if (!parse_ok(size) || !parse_ok(used)) return;
        machine.host.shm_size = Bytes{std::get<std::int64_t>(size)};
        machine.shm_used = Bytes{std::get<std::int64_t>(used)};
    });
}

void probe_huge_pages(const FileSource& source, Machine& machine) {
    Bytes total, free;
    bool found = false;
    const std::string base = "/sys/kernel/mm/hugepages";
    const auto pages_in = [&](const std::string& path) -> std::optional<std::int64_t> {
        const auto words = words_of(source.read(path).value_or(""));
        const Parsed<std::int64_t> pages = parse_integer(words.empty() ? "" : words[0]);
        return parse_ok(pages) ? std::optional<std::int64_t>(std::get<std::int64_t>(pages)) : std::nullopt;
    };
    for (const std::string& name : source.list(base)) {
        const auto size = number_after(name, "hugepages-");
        const auto pages = pages_in(base + "/" + name + "/nr_hugepages");
        if (!size || !pages) continue;
        found = true;
        const std::int64_t bytes = checked_mul(*size, kKiB);
        total += Bytes{checked_mul(*pages, bytes)};
        free += Bytes{checked_mul(pages_in(base + "/" + name + "/free_hugepages").value_or(0), bytes)};
    }
    if (!found) {  // only the default size is in /proc/meminfo
        const std::string text = source.read("/proc/meminfo").value_or("");
        const auto pages = number_after(text, "HugePages_Total:"), unused = number_after(text, "HugePages_Free:"), size = number_after(text, "Hugepagesize:");
        if (!pages || !size) return;
        total = Bytes{checked_mul(*pages, *size)};
        free = Bytes{checked_mul(unused.value_or(0), *size)};
    }
    machine.host.hugepages_total = total;
    machine.host.hugepages_free = free;
}

void probe_numa(const FileSource& source, Machine& machine) {
    const std::string base = "/sys/devices/system/node";
    for (const std::string& name : source.list(base)) {
        if (name.compare(0, 4, "node") != 0) continue;
        const Parsed<std::int64_t> id = parse_integer(std::string_view(name).substr(4));
        const std::string text = source.read(base + "/" + name + "/meminfo").value_or("");
        if (!parse_ok(id) || text.empty()) continue;
        const std::string prefix = "Node " + name.substr(4) + " ";
        NumaNode node;
        node.id = static_cast<int>(std::get<std::int64_t>(id));
        node.total = bytes_after(text, prefix + "MemTotal:");
        node.free = bytes_after(text, prefix + "MemFree:");
        machine.host.nodes.push_back(node);
    }
    // A node without memory (a GPU's own, CXL) takes no ranks.
    const auto with_memory = std::count_if(machine.host.nodes.begin(), machine.host.nodes.end(), [](const NumaNode& n) { return n.total && n.total->count() > 0; });
    if (with_memory > 0) machine.host.numa_nodes = static_cast<int>(with_memory);
}

}  // namespace

std::string_view name_of(ContainerKind kind) {
    switch (kind) {
        case ContainerKind::none: return "none";
        case ContainerKind::docker: return "docker";
        case ContainerKind::kubernetes: return "kubernetes";
        case ContainerKind::lxc: return "lxc";
        case ContainerKind::other: return "other";
    }
    return "other";
}

std::optional<std::int64_t> number_after(std::string_view text, std::string_view key) {
    for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
        if (at > 0 && text[at - 1] != '\n') continue;
        std::size_t start = at + key.size();
        while (start < text.size() && (text[start] == ' ' || text[start] == '\t')) ++start;
        std::size_t end = start;
        while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
        const Parsed<std::int64_t> number = parse_integer(text.substr(start, end - start));
        if (!parse_ok(number)) return std::nullopt;
        const bool kilo = text.substr(end, 3) == " kB";
        const std::int64_t value = std::get<std::int64_t>(number);
        if (kilo && value > INT64_MAX / kKiB) return std::nullopt;
        return kilo ? value * kKiB : value;
    }
    return std::nullopt;
}

void probe_memory(const FileSource& source, Machine& machine) {
    const std::string text = source.read("/proc/meminfo").value_or("");
    machine.host.ram_total = bytes_after(text, "MemTotal:");
    machine.host.ram_available = bytes_after(text, "MemAvailable:");
    machine.host.swap_total = machine.memory.swap_total = bytes_after(text, "SwapTotal:");
    machine.memory.swap_free = bytes_after(text, "SwapFree:");
    machine.memory.shmem = bytes_after(text, "Shmem:");
    machine.memory.locked = bytes_after(text, "Mlocked:");
    machine.memory.committed = bytes_after(text, "Committed_AS:");
    machine.memory.commit_limit = bytes_after(text, "CommitLimit:");
    const auto words = words_of(source.read("/proc/sys/vm/overcommit_memory").value_or(""));
    if (words.size() == 1 && words[0].size() == 1 && words[0][0] >= '0' && words[0][0] <= '2') machine.memory.overcommit = words[0][0] - '0';
    probe_limits(source, machine);
    probe_shm(source, machine);
    probe_huge_pages(source, machine);
    probe_numa(source, machine);
}

Machine probe(const FileSource& source) {
    Machine machine;
    machine.container = container_of(source);
    const std::string status = source.read("/proc/self/status").value_or("Uid:\t0");
    machine.root = number_after(status, "Uid:") == 0;
    probe_memory(source, machine);
    probe_cgroups(source, machine);
    probe_gpus(source, machine);
    return machine;
}

}  // namespace kvplan
