#include "models/hardware/gpu_reader.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "models/hardware/data_files.hpp"

namespace kvplan::hardware {
namespace {

using json::Reader;
using json::Value;

/// Reads the facts of one entry; all share the table of sources of the document.
class FactReader {
public:
    FactReader(Reader& reader, const Value& root) : reader_(reader), root_(root) {}

    template <class T, class Make>
    std::optional<Fact<T>> fact(const Value& parent, std::string_view key, Make make) {
        const Value node = parent[key];
        if (!node.has_value()) return std::nullopt;
        if (!node.is_object()) {
            reader_.error(node, "value.type", "a fact is an object", "an object with \"value\" and \"sources\"");
            return std::nullopt;
        }
        const auto value = reader_.required_number(node, {"value"}, json::kPositiveNumber);
        Fact<T> fact;
        fact.sources = read_sources(reader_, node, root_);
        fact.verified = reader_.boolean(node, {"verified"}).value_or(true);
        fact.remark = reader_.string(node, {"remark"}).value_or("");
        if (const auto lowest = reader_.number(node, {"lowest"}, json::kPositiveNumber)) fact.lowest = make(*lowest);
        if (const auto ceiling = reader_.number(node, {"ceiling"}, json::kPositiveNumber))
            fact.ceiling = make(*ceiling);
        if (!value) return std::nullopt;
        fact.value = make(*value);
        return fact;
    }

    std::optional<Fact<Bytes>> mebibytes_fact(const Value& parent, std::string_view key) {
        return fact<Bytes>(parent, key, [](double mib) { return nearest_bytes(mib * static_cast<double>(kMiB)); });
    }
    std::optional<Fact<Bytes>> gibibytes_fact(const Value& parent, std::string_view key) {
        return fact<Bytes>(parent, key, [](double gib) { return nearest_bytes(gib * static_cast<double>(kGiB)); });
    }
    std::optional<Fact<BytesPerSecond>> rate_fact(const Value& parent, std::string_view key) {
        return fact<BytesPerSecond>(parent, key, [](double rate) { return BytesPerSecond{rate}; });
    }
    std::optional<Fact<Flops>> tflops_fact(const Value& parent, std::string_view key) {
        return fact<Flops>(parent, key, [](double tflops) { return Flops{tflops * 1e12}; });
    }

private:
    Reader& reader_;
    const Value& root_;
};

GpuVendor read_vendor(Reader& reader, const Value& entry) {
    const auto text = reader.required_string(entry, {"vendor"});
    if (!text) return GpuVendor::other;
    for (const auto vendor : {GpuVendor::nvidia, GpuVendor::amd, GpuVendor::intel}) {
        if (*text == name_of(vendor)) return vendor;
    }
    return GpuVendor::other;
}

std::optional<int> small_integer(Reader& reader, const Value& parent, std::string_view key) {
    const auto value = reader.integer(parent, {key}, json::IntegerRange{0, 1024});
    if (!value) return std::nullopt;
    return static_cast<int>(*value);
}

std::optional<Link> read_link(Reader& reader, FactReader& facts, const Value& entry, std::string_view key) {
    const Value node = reader.object(entry, {key});
    if (!node.has_value()) return std::nullopt;
    Link link;
    const auto kind = reader.required_string(node, {"kind"});
    constexpr std::array kinds{LinkKind::none,          LinkKind::pcie,       LinkKind::nvlink,
                               LinkKind::nvlink_bridge, LinkKind::nvlink_c2c, LinkKind::infinity_fabric,
                               LinkKind::ethernet};
    bool known = false;
    for (const LinkKind candidate : kinds) {
        if (!kind || *kind != name_of(candidate)) continue;
        link.kind = candidate;
        known = true;
    }
    if (kind && !known) {
        reader.error(node["kind"], "value.choice", "an unknown kind of link",
                     "none, pcie, nvlink, nvlink_bridge, nvlink_c2c, infinity_fabric or ethernet");
    }
    link.generation = small_integer(reader, node, "generation");
    link.each_way = facts.rate_fact(node, "bytes_per_s_each_way");
    link.remark = reader.string(node, {"remark"}).value_or("");
    return link;
}

std::optional<PcieSlot> read_pcie(Reader& reader, FactReader& facts, const Value& entry) {
    const Value node = reader.object(entry, {"pcie"});
    if (!node.has_value()) return std::nullopt;
    auto each_way = facts.rate_fact(node, "bytes_per_s_each_way");
    if (!each_way) {
        reader.error(node, "value.missing", "PCIe without a rate", "\"bytes_per_s_each_way\"");
        return std::nullopt;
    }
    return PcieSlot{small_integer(reader, node, "generation"), small_integer(reader, node, "lanes"),
                    *std::move(each_way)};
}

void read_memory(Reader& reader, FactReader& facts, const Value& entry, GpuSpec& gpu) {
    const Value memory = reader.required_object(entry, {"memory"});
    if (!memory.has_value()) return;
    gpu.nominal_gb = reader.required_integer(memory, {"nominal_gb"}, json::IntegerRange{1, 1'000'000}).value_or(0);
    gpu.visible_memory = facts.mebibytes_fact(memory, "visible_mib");
    gpu.process_memory = facts.gibibytes_fact(memory, "cuda_gib");
    gpu.os_visible_memory = facts.mebibytes_fact(memory, "os_visible_mib");
    if (auto bandwidth = facts.rate_fact(memory, "bandwidth_bytes_per_s")) {
        gpu.memory_bandwidth = *std::move(bandwidth);
    } else {
        reader.error(memory, "value.missing", "a GPU without a memory bandwidth", "\"bandwidth_bytes_per_s\"");
    }
    if (gpu.visible_memory && gpu.process_memory && gpu.visible_memory->value < gpu.process_memory->value) {
        reader.error(memory["cuda_gib"], "hardware.memory-order", "a process sees more memory than the driver has",
                     "at most visible_mib");
    }
}

std::optional<ComputeCapability> read_sm(Reader& reader, const Value& entry) {
    const Value node = reader.object(entry, {"sm"});
    if (!node.has_value()) return std::nullopt;
    const auto major = small_integer(reader, node, "major");
    const auto minor = small_integer(reader, node, "minor");
    if (!major || !minor) return std::nullopt;
    return ComputeCapability{*major, *minor};
}

}  // namespace

std::optional<GpuSpec> read_gpu(Reader& reader, const Value& entry, const Value& root) {
    const std::size_t errors_before = reader.diagnostics().error_count();
    FactReader facts(reader, root);
    GpuSpec gpu;
    gpu.name = reader.required_string(entry, {"name"}).value_or("");
    gpu.aliases = reader.string_list(entry, {"aliases"}).value_or(std::vector<std::string>{});
    gpu.common_names = reader.string_list(entry, {"common_names"}).value_or(std::vector<std::string>{});
    gpu.vendor = read_vendor(reader, entry);
    gpu.architecture = reader.string(entry, {"architecture"}).value_or("");
    gpu.sm = read_sm(reader, entry);
    gpu.isa = reader.string(entry, {"gfx", "target"});
    gpu.gpus_per_node = small_integer(reader, entry, "gpus_per_node").value_or(8);
    gpu.unified_memory = reader.boolean(entry, {"unified_memory"}).value_or(false);
    read_memory(reader, facts, entry, gpu);
    const Value rates = reader.object(entry, {"dense_tflops"});
    gpu.dense = {facts.tflops_fact(rates, "bf16"), facts.tflops_fact(rates, "fp16"), facts.tflops_fact(rates, "fp8"),
                 facts.tflops_fact(rates, "fp4"), facts.tflops_fact(rates, "int8")};
    if (auto link = read_link(reader, facts, entry, "peer_link")) gpu.peer_link = *std::move(link);
    gpu.host_link = read_link(reader, facts, entry, "host_link");
    gpu.pcie = read_pcie(reader, facts, entry);
    gpu.tdp_watts = facts.fact<std::int64_t>(entry, "tdp_w", [](double watts) { return std::llround(watts); });
    if (reader.diagnostics().error_count() != errors_before) return std::nullopt;
    return gpu;
}

}  // namespace kvplan::hardware
