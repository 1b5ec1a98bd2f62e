#include "models/hardware/host_catalogue.hpp"

#include <algorithm>
#include <utility>

#include "models/hardware/data_files.hpp"

namespace kvplan {
namespace {

constexpr std::string_view kSchema = "kvplan.hosts/1";
constexpr std::string_view kEmbedded = "models/hardware/data/hosts.json";
constexpr json::IntegerRange kMemoryMib{1, std::int64_t{1} << 40};

std::optional<Bytes> read_mib(json::Reader& reader, const json::Value& entry, std::string_view key) {
    const auto mib = reader.integer(entry, {key}, kMemoryMib);
    if (!mib) return std::nullopt;
    return mebibytes(*mib);
}

std::optional<int> read_small(json::Reader& reader, const json::Value& entry, std::string_view key) {
    const auto value = reader.integer(entry, {key}, json::IntegerRange{1, 4096});
    if (!value) return std::nullopt;
    return static_cast<int>(*value);
}

std::optional<HostSpec> read_host(json::Reader& reader, const json::Value& entry, const json::Value& root) {
    const std::size_t errors_before = reader.diagnostics().error_count();
    HostSpec host;
    host.name = reader.required_string(entry, {"name"}).value_or("");
    host.gpu = reader.string(entry, {"gpu"});
    host.gpus = read_small(reader, entry, "gpus_per_node");
    host.ram_total = read_mib(reader, entry, "ram_total_mib");
    host.ram_available = read_mib(reader, entry, "allocatable_mib");
    host.sockets = read_small(reader, entry, "sockets");
    host.numa_nodes = read_small(reader, entry, "numa_nodes");
    host.sources = hardware::read_sources(reader, entry, root);
    if (reader.diagnostics().error_count() != errors_before) return std::nullopt;
    return host;
}

}  // namespace

HostCatalogue HostCatalogue::load(const std::optional<std::string>& directory, Diagnostics& diagnostics) {
    HostCatalogue catalogue;
    for (const auto& document : hardware::data_files(kSchema, kEmbedded, directory, diagnostics)) {
        json::Reader reader(diagnostics);
        const json::Value root = document.root();
        for (const json::Value entry : reader.required_array(root, {"hosts"}).elements()) {
            auto host = read_host(reader, entry, root);
            if (!host) continue;
            const auto same =
                std::find_if(catalogue.hosts_.begin(), catalogue.hosts_.end(),
                             [&](const HostSpec& known) { return squeezed(known.name) == squeezed(host->name); });
            if (same != catalogue.hosts_.end()) {
                *same = *std::move(host);
            } else {
                catalogue.hosts_.push_back(*std::move(host));
            }
        }
    }
    return catalogue;
}

HostMatch HostCatalogue::find(std::string_view name) const {
    std::vector<NameEntry> names;
    for (const auto& host : hosts_) names.push_back({host.name, {}, {}, {}});
    NameMatch match = match_name(name, names);
    return {match.kind, match.found() ? &hosts_[match.index] : nullptr, std::move(match.others)};
}

}  // namespace kvplan
