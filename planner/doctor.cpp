#include "planner/doctor.hpp"

#include <algorithm>

#include "planner/fields/fields.hpp"

namespace kvplan {
namespace {

constexpr Bytes kIdleGpu = gibibytes(1);       // a driver without processes holds far less
constexpr Bytes kUnequal = gibibytes(1);
constexpr Bytes kReserve = gibibytes(10);      // what SGLang's check keeps free
constexpr double kFreeShare = 0.6;             // less of the RAM free than this is worth a word

FindingValue bytes(std::string_view name, Bytes value) { return {name, "decimal_bytes", static_cast<double>(value.count()), {}}; }
FindingValue gpu_bytes(std::string_view name, Bytes value) { return {name, "binary_bytes", static_cast<double>(value.count()), {}}; }
FindingValue count(std::string_view name, std::size_t value) { return {name, "count", static_cast<double>(value), {}}; }
FindingValue text(std::string_view name, std::string value) { return {name, "text", 0.0, std::move(value)}; }

std::string listed(const std::vector<const GpuReading*>& gpus) {
    std::string list;
    for (const GpuReading* gpu : gpus) list += (list.empty() ? "" : ", ") + std::to_string(gpu->index);
    return list;
}

/// Who can end a process that cannot be seen from here.
std::string from_outside(ContainerKind kind) {
    switch (kind) {
        case ContainerKind::lxc: return "on the container's host (Proxmox: pct exec ID -- kill …, or pct stop ID)";
        case ContainerKind::docker: return "on the Docker host (docker ps, docker kill, or kill by the host's PID)";
        case ContainerKind::kubernetes: return "on the node (kubectl delete pod of the holder, or kill by the node's PID)";
        case ContainerKind::other: return "on the container's host";
        case ContainerKind::none: break;
    }
    return "as root (fuser -v /dev/nvidia*), in every container of this host";
}

class Doctor {
public:
    explicit Doctor(const Machine& machine) : m_(machine) {}

    std::vector<Finding> all() {
        if (!m_.host.ram_total && !m_.host.ram_available && !m_.host.cgroup_limit && m_.gpus.empty()) {
            add("nothing_read", FindingSeverity::error, {});
            return std::move(found_);
        }
        gpus();
        ram();
        container();
        limits();
        std::stable_sort(found_.begin(), found_.end(), [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
        return std::move(found_);
    }

private:
    void add(std::string_view code, FindingSeverity severity, std::vector<FindingValue> values, std::vector<std::string_view> fields = {}) {
        found_.push_back({code, severity, std::move(values), std::move(fields), {}});
    }

    [[nodiscard]] static bool busy(const GpuReading& gpu) { return gpu.used && *gpu.used > kIdleGpu; }

    void gpus() {
        if (m_.gpus.empty()) return add("no_gpu", FindingSeverity::note, {});
        std::vector<const GpuReading*> held, orphaned;
        for (const GpuReading& gpu : m_.gpus) {
            if (!busy(gpu)) continue;
            const bool seen = !gpu.holders.empty() || !m_.unplaced_holders.empty();
            (seen || !m_.holders_known ? held : orphaned).push_back(&gpu);
        }
        orphans(orphaned);
        if (!held.empty()) in_use(held);
        unequal();
    }

    void orphans(const std::vector<const GpuReading*>& gpus) {
        if (gpus.empty()) return;
        const auto less = [](const GpuReading* a, const GpuReading* b) { return *a->used < *b->used; };
        std::vector<FindingValue> values = {text("gpus", listed(gpus)), count("count", gpus.size()), gpu_bytes("least", *(*std::min_element(gpus.begin(), gpus.end(), less))->used),
                                            gpu_bytes("most", *(*std::max_element(gpus.begin(), gpus.end(), less))->used), gpu_bytes("total", *gpus[0]->total),
                                            text("outside", from_outside(m_.container)),
                                            text("reset", m_.container == ContainerKind::none ? "nvidia-smi --gpu-reset -i N works as root once nothing holds the GPU"
                                                                                              : "nvidia-smi --gpu-reset is not supported inside a container; it needs the host")};
        if (m_.root) add("gpu_memory_held_by_no_process", FindingSeverity::error, std::move(values), {"gpu_free"});
        else add("gpu_memory_of_hidden_process", FindingSeverity::warning, std::move(values), {"gpu_free"});
    }

    void in_use(const std::vector<const GpuReading*>& gpus) {
        std::string holders;
        Bytes most;
        for (const GpuReading* gpu : gpus) {
            most = std::max(most, *gpu->used);
            for (const GpuHolder& holder : gpu->holders) {
                const std::string name = std::to_string(holder.pid) + " (" + holder.command + ")";
                if (holders.find(name) == std::string::npos && holders.size() < 200) holders += (holders.empty() ? "" : ", ") + name;
            }
        }
        add("gpu_memory_in_use", FindingSeverity::warning, {text("gpus", listed(gpus)), gpu_bytes("most", most), text("holders", holders.empty() ? "not known" : holders)}, {"gpu_free"});
    }

    void unequal() {
        const GpuReading* least = nullptr;
        const GpuReading* most = nullptr;
        for (const GpuReading& gpu : m_.gpus) {
            if (!gpu.free) continue;
            if (least == nullptr || *gpu.free < *least->free) least = &gpu;
            if (most == nullptr || *gpu.free > *most->free) most = &gpu;
        }
        if (least == nullptr || *most->free - *least->free <= kUnequal) return;
        add("gpus_unequal_free", FindingSeverity::warning,
            {count("gpu", static_cast<std::size_t>(least->index)), gpu_bytes("least", *least->free), count("other", static_cast<std::size_t>(most->index)), gpu_bytes("most", *most->free)}, {"gpu_free"});
    }

    void ram() {
        const auto& total = m_.host.ram_total;
        const auto& available = m_.host.ram_available;
        if (total && available) {
            const Bytes used = *total - *available;
            const std::vector<FindingValue> values = {bytes("used", used), bytes("total", *total), bytes("available", *available), bytes("shmem", m_.memory.shmem.value_or(Bytes{0}))};
            if (*available < kReserve) add("host_memory_exhausted", FindingSeverity::error, values, {"host_available"});
            else if (static_cast<double>(available->count()) < kFreeShare * static_cast<double>(total->count())) add("host_memory_in_use", FindingSeverity::warning, values, {"host_available"});
        }
        const Bytes swap = m_.memory.swap_total.value_or(Bytes{0});
        const Bytes swapped = swap - m_.memory.swap_free.value_or(swap);
        if (swapped > gibibytes(1)) add("swap_in_use", FindingSeverity::note, {bytes("used", swapped), bytes("total", swap)});
        else if (swap.count() > 0) add("swap_on", FindingSeverity::note, {bytes("total", swap)});
        if (m_.memory.overcommit == 2 && m_.memory.commit_limit)
            add("overcommit_strict", FindingSeverity::warning, {bytes("limit", *m_.memory.commit_limit), bytes("committed", m_.memory.committed.value_or(Bytes{0}))});
        const Bytes idle = m_.host.hugepages_free.value_or(Bytes{0});
        if (idle >= gibibytes(1)) add("huge_pages_idle", FindingSeverity::note, {bytes("idle", idle), bytes("total", m_.host.hugepages_total.value_or(idle))}, {"huge_pages_reserved"});
        if (m_.host.numa_nodes.value_or(1) > 1) add("numa_nodes", FindingSeverity::note, {count("nodes", static_cast<std::size_t>(*m_.host.numa_nodes))}, {"numa_nodes"});
    }

    void container() {
        if (m_.host.cgroup_limit) {
            const Bytes left = *m_.host.cgroup_limit - m_.host.cgroup_used.value_or(Bytes{0});
            if (!m_.host.ram_available || left < *m_.host.ram_available)
                add("cgroup_limit_below_ram", FindingSeverity::note,
                    {bytes("left", left), bytes("limit", *m_.host.cgroup_limit), bytes("available", m_.host.ram_available.value_or(Bytes{0}))}, {"cgroup_limit"});
            return;
        }
        // An LXC container sees figures of its own (lxcfs), the others see the host's.
        if (m_.container == ContainerKind::none || m_.container == ContainerKind::lxc) return;
        add("container_without_limit", FindingSeverity::note, {text("container", std::string(name_of(m_.container))), bytes("available", m_.host.ram_available.value_or(Bytes{0}))}, {"cgroup_limit"});
    }

    void limits() {
        if (m_.host.shm_size && *m_.host.shm_size < gibibytes(1) && m_.gpus.size() > 1)
            add("shm_small", FindingSeverity::warning, {bytes("shm", *m_.host.shm_size), count("ranks", m_.gpus.size())}, {"shm_size"});
        if (m_.host.memlock && m_.host.memlock->bytes && *m_.host.memlock->bytes < gibibytes(1) && !m_.gpus.empty())
            add("memlock_small", FindingSeverity::note, {bytes("memlock", *m_.host.memlock->bytes)}, {"memlock"});
    }

    const Machine& m_;
    std::vector<Finding> found_;
};

}  // namespace

std::vector<Finding> doctor_findings(const Machine& machine) { return Doctor(machine).all(); }

void apply_machine(const Machine& machine, Scenario& scenario) {
    const auto set = [&](std::string_view name, const std::string& value) {
        const FieldSpec* field = find_field(name);
        const bool given = scenario.origin.count(std::string(name)) > 0;
        if (field != nullptr && !given && !value.empty()) (void)set_field(scenario, *field, value, "probe");
    };
    const auto size = [&](std::string_view name, const std::optional<Bytes>& value) {
        if (value) set(name, std::to_string(value->count()) + "B");
    };
    const HostSpec& host = machine.host;
    // A host that was described by hand is another machine's: a measured figure here would contradict it.
    const bool described = scenario.origin.count("host_ram") > 0 || scenario.origin.count("host_available") > 0;
    if (!described) {
        size("host_ram", host.ram_total);
        size("host_available", host.ram_available);
        size("cgroup_limit", host.cgroup_limit);
        size("cgroup_used", host.cgroup_used);
        if (host.hugepages_total && host.hugepages_total->count() > 0) size("huge_pages_reserved", host.hugepages_total);
        size("shm_size", host.shm_size);
        if (host.memlock) size("memlock", host.memlock->bytes);
        if (host.numa_nodes) set("numa_nodes", std::to_string(*host.numa_nodes));
    }
    if (machine.gpus.empty() || scenario.origin.count("gpu") > 0) return;
    set("gpu", machine.gpus[0].name);
    size("gpu_memory", machine.gpus[0].total);
    set("gpus_per_node", std::to_string(machine.gpus.size()));
    std::optional<Bytes> free;
    for (const GpuReading& gpu : machine.gpus)
        if (gpu.used && gpu.free && *gpu.used > kIdleGpu && (!free || *gpu.free < *free)) free = gpu.free;
    size("gpu_free", free);
}

}  // namespace kvplan
