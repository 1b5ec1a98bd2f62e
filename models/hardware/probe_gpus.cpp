#include <algorithm>

#include "models/hardware/probe.hpp"
#include "units/parse.hpp"

namespace kvplan {
namespace {

using Row = std::vector<std::string>;

constexpr int kNoGpu = -1, kAllGpus = -2;

std::string trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t' || text.front() == '"')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r' || text.back() == '"')) text.remove_suffix(1);
    return std::string(text);
}

std::vector<Row> rows_of(std::string_view text) {
    std::vector<Row> rows;
    while (!text.empty() && rows.size() < 4096) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        Row row;
        while (line.find(',') != std::string_view::npos) {
            row.push_back(trimmed(line.substr(0, line.find(','))));
            line.remove_prefix(line.find(',') + 1);
        }
        row.push_back(trimmed(line));
        if (row.size() > 1) rows.push_back(std::move(row));
    }
    return rows;
}

/// The column whose head begins with `name` ("memory.total [MiB]"), or nothing.
std::optional<std::size_t> column(const Row& head, std::string_view name) {
    for (std::size_t i = 0; i < head.size(); ++i)
        if (std::string_view(head[i]).substr(0, name.size()) == name) return i;
    return std::nullopt;
}

std::string cell(const Row& row, const std::optional<std::size_t>& at) { return at && *at < row.size() ? row[*at] : std::string(); }

/// "97887 MiB", or a bare number in `unit`.
std::optional<Bytes> size_of(std::string text, std::int64_t unit) {
    if (text.size() > 4 && text.substr(text.size() - 4) == " MiB") {
        text.resize(text.size() - 4);
        unit = kMiB;
    }
    const Parsed<std::int64_t> number = parse_integer(text);
    if (!parse_ok(number) || std::get<std::int64_t>(number) < 0 || std::get<std::int64_t>(number) > INT64_MAX / unit) return std::nullopt;
    return Bytes{std::get<std::int64_t>(number) * unit};
}

void read_nvidia(const std::string& text, Machine& machine) {
    const std::vector<Row> rows = rows_of(text);
    if (rows.empty()) return;
    Row head = {"index", "name", "memory.total", "memory.used", "memory.free", "pci.bus_id"};
    const bool named = column(rows[0], "memory.total").has_value();
    if (named) head = rows[0];
    const auto index = column(head, "index"), name = column(head, "name"), total = column(head, "memory.total"), used = column(head, "memory.used"),
               free = column(head, "memory.free"), bus = column(head, "pci.bus_id");
    for (std::size_t i = named ? 1 : 0; i < rows.size(); ++i) {
        GpuReading gpu;
        gpu.total = size_of(cell(rows[i], total), kMiB);
        if (!gpu.total) continue;
        const Parsed<std::int64_t> number = parse_integer(cell(rows[i], index));
        gpu.index = parse_ok(number) ? static_cast<int>(std::get<std::int64_t>(number)) : static_cast<int>(machine.gpus.size());
        gpu.name = cell(rows[i], name);
        gpu.used = size_of(cell(rows[i], used), kMiB);
        gpu.free = size_of(cell(rows[i], free), kMiB);
        gpu.bus_id = cell(rows[i], bus);
        machine.gpus.push_back(std::move(gpu));
    }
}

void read_rocm(const std::string& text, Machine& machine) {
    const std::vector<Row> rows = rows_of(text);
    if (rows.empty()) return;
    const Row& head = rows[0];
    const auto total = column(head, "VRAM Total Memory"), used = column(head, "VRAM Total Used Memory");
    auto name = column(head, "Card Series");
    if (!name) name = column(head, "Card series");
    for (std::size_t i = 1; i < rows.size(); ++i) {
        GpuReading gpu;
        gpu.index = static_cast<int>(machine.gpus.size());
        gpu.name = cell(rows[i], name);
        gpu.total = size_of(cell(rows[i], total), 1);
        gpu.used = size_of(cell(rows[i], used), 1);
        if (!gpu.total) continue;
        if (gpu.used) gpu.free = *gpu.total - *gpu.used;
        machine.gpus.push_back(std::move(gpu));
    }
}

void add_holder(Machine& machine, int index, GpuHolder holder) {
    if (index == kAllGpus) return machine.unplaced_holders.push_back(std::move(holder));
    for (GpuReading& gpu : machine.gpus) {
        if (gpu.index != index) continue;
        const bool known = std::any_of(gpu.holders.begin(), gpu.holders.end(), [&](const GpuHolder& h) { return h.pid == holder.pid; });
        if (!known) gpu.holders.push_back(std::move(holder));
        return;
    }
}

/// "/dev/nvidia3" -> 3; kNoGpu for control devices, kAllGpus for AMD's, which name no single GPU.
int device_index(std::string_view device) {
    if (device == "/dev/kfd" || device.substr(0, 8) == "/dev/dri") return kAllGpus;
    constexpr std::string_view kPrefix = "/dev/nvidia";
    if (device.substr(0, kPrefix.size()) != kPrefix) return kNoGpu;
    const Parsed<std::int64_t> number = parse_integer(device.substr(kPrefix.size()));
    return parse_ok(number) ? static_cast<int>(std::get<std::int64_t>(number)) : kNoGpu;
}

/// "PID DEVICE COMMAND" a line.
void read_holders(const std::string& text, Machine& machine) {
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        const std::size_t first = line.find(' '), second = line.find(' ', first + 1);
        if (first == std::string_view::npos) continue;
        const Parsed<std::int64_t> pid = parse_integer(line.substr(0, first));
        if (parse_ok(pid)) add_holder(machine, device_index(line.substr(first + 1, second - first - 1)), {std::get<std::int64_t>(pid), second == std::string_view::npos ? "" : std::string(line.substr(second + 1))});
    }
}

/// The table of `fuser -v`: a live holder has a PID, a context that is stuck in the kernel has "kernel mount" and none.
void read_fuser(const std::string& text, Machine& machine) {
    int device = kNoGpu;
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (line.substr(0, 5) == "/dev/") {
            const std::size_t colon = std::min(line.find(':'), line.size());
            device = device_index(line.substr(0, colon));
            line.remove_prefix(std::min(colon + 1, line.size()));
        }
        Row words;
        for (std::size_t at = 0; at < line.size();) {
            const std::size_t start = line.find_first_not_of(" \t\r", at);
            if (start == std::string_view::npos) break;
            at = std::min(line.find_first_of(" \t\r", start), line.size());
            words.emplace_back(line.substr(start, at - start));
        }
        if (words.size() < 3) continue;
        const Parsed<std::int64_t> pid = parse_integer(words[1]);
        if (parse_ok(pid)) add_holder(machine, device, {std::get<std::int64_t>(pid), words.back()});
    }
}

void read_apps(const std::string& text, Machine& machine) {
    const std::vector<Row> rows = rows_of(text);
    if (rows.empty()) return;
    const auto bus = column(rows[0], "gpu_bus_id"), pid = column(rows[0], "pid"), name = column(rows[0], "process_name");
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const Parsed<std::int64_t> number = parse_integer(cell(rows[i], pid));
        if (!parse_ok(number)) continue;
        for (const GpuReading& gpu : machine.gpus)
            if (!gpu.bus_id.empty() && gpu.bus_id == cell(rows[i], bus)) {
                add_holder(machine, gpu.index, {std::get<std::int64_t>(number), cell(rows[i], name)});
                break;
            }
    }
}

/// The first of several names that is there: a copy that was saved by hand may name the output after its command.
std::optional<std::string> first_of(const FileSource& source, std::initializer_list<const char*> paths) {
    for (const char* path : paths)
        if (auto text = source.read(path)) return text;
    return std::nullopt;
}

}  // namespace

void probe_gpus(const FileSource& source, Machine& machine) {
    if (const auto text = first_of(source, {"/commands/nvidia-smi-gpus.csv", "/commands/nvidia-smi.csv", "/nvidia-smi.csv", "/commands/nvidia-smi"})) read_nvidia(*text, machine);
    if (machine.gpus.empty())
        if (const auto text = first_of(source, {"/commands/rocm-smi.csv", "/rocm-smi.csv", "/commands/rocm-smi"})) read_rocm(*text, machine);
    if (machine.gpus.empty()) return;
    if (const auto text = source.read("/commands/gpu-holders.txt")) {
        machine.holders_known = true;
        read_holders(*text, machine);
    }
    if (const auto text = first_of(source, {"/commands/fuser.txt", "/fuser.txt", "/commands/fuser"})) {
        machine.holders_known = true;
        read_fuser(*text, machine);
    }
    if (const auto text = source.read("/commands/nvidia-smi-apps.csv")) read_apps(*text, machine);
}

}  // namespace kvplan
