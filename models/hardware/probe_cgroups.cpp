#include <algorithm>

#include "models/hardware/probe.hpp"
#include "units/parse.hpp"

namespace kvplan {
namespace {

// "No limit" of cgroup v1 is the largest multiple of a page; anything near it counts as none.
constexpr std::int64_t kUnlimited = std::int64_t{1} << 60;

std::optional<Bytes> limit_in(const std::optional<std::string>& text) {
    if (!text) return std::nullopt;
    std::string_view word = *text;
    while (!word.empty() && (word.back() == '\n' || word.back() == ' ')) word.remove_suffix(1);
    const Parsed<std::int64_t> number = parse_integer(word);
    if (!parse_ok(number) || std::get<std::int64_t>(number) >= kUnlimited || std::get<std::int64_t>(number) < 0) return std::nullopt;  // "max"
    return Bytes{std::get<std::int64_t>(number)};
}

/// The path of this process in the hierarchy whose line holds `controller` ("" for version 2).
std::optional<std::string> path_in(std::string_view text, std::string_view controller) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
        if (second == std::string_view::npos) continue;
        const std::string controllers = "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
        if (controllers.find("," + std::string(controller) + ",") != std::string::npos) return std::string(line.substr(second + 1));
    }
    return std::nullopt;
}

/// "/a/b" -> "/a" -> "".
std::string parent(const std::string& path) { return path.substr(0, path.rfind('/') == std::string::npos ? 0 : path.rfind('/')); }

struct Files {
    std::string base, limit, soft_limit, used, stat_key;
};

/// Every level from `path` up to the root that has a limit. In a container the root of its own view stands at `base`.
std::vector<CgroupLevel> levels(const FileSource& source, const Files& files, std::string path) {
    std::vector<CgroupLevel> found;
    if (path == "/") path.clear();
    for (int depth = 0; depth < 64; ++depth) {
        const std::string directory = files.base + path;
        std::optional<Bytes> limit = limit_in(source.read(directory + "/" + files.limit));
        if (!files.soft_limit.empty()) {  // above memory.high the kernel slows the processes down to a halt
            const std::optional<Bytes> high = limit_in(source.read(directory + "/" + files.soft_limit));
            if (high && (!limit || *high < *limit)) limit = high;
        }
        if (limit) {
            const Bytes used = limit_in(source.read(directory + "/" + files.used)).value_or(Bytes{0});
            const Bytes clean{number_after(source.read(directory + "/memory.stat").value_or(""), files.stat_key).value_or(0)};
            found.push_back({path.empty() ? "/" : path, *limit, std::max(Bytes{0}, used - clean)});
        }
        if (path.empty()) break;
        path = parent(path);
    }
    return found;
}

}  // namespace

void probe_cgroups(const FileSource& source, Machine& machine) {
    const std::string text = source.read("/proc/self/cgroup").value_or("");
    const Files v1{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "", "memory.usage_in_bytes", "total_inactive_file "};
    const Files v2{"/sys/fs/cgroup", "memory.max", "memory.high", "memory.current", "inactive_file "};
    if (const auto path = path_in(text, "memory")) {
        machine.cgroup_version = 1;
        machine.cgroups = levels(source, v1, *path);
    } else if (const auto unified = path_in(text, "")) {
        machine.cgroup_version = 2;
        machine.cgroups = levels(source, v2, *unified);
    } else {
        return;
    }
    const auto least = std::min_element(machine.cgroups.begin(), machine.cgroups.end(), [](const CgroupLevel& a, const CgroupLevel& b) { return a.left() < b.left(); });
    if (least == machine.cgroups.end()) return;
    machine.host.cgroup_limit = least->limit;
    machine.host.cgroup_used = least->used;
}

}  // namespace kvplan
