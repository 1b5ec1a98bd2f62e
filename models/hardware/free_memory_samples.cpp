#include <utility>

#include "models/hardware/data_files.hpp"
#include "models/hardware/free_memory.hpp"

namespace kvplan {
namespace {

constexpr std::string_view kSchema = "kvplan.free_before_load/1";
constexpr std::string_view kEmbedded = "models/hardware/data/free_before_load.json";

/// The class by the sample's own "link", which also serves cards that are not in the catalogue.
CommunicatorClass class_of(std::string_view link, int world_size) {
    if (link == "unified") return CommunicatorClass::unified;
    if (world_size <= 1) return CommunicatorClass::single;
    if (link == "pcie") return CommunicatorClass::pcie;
    if (link == "nvlink" || link == "nvlink_bridge" || link == "nvlink_c2c") return CommunicatorClass::nvlink;
    if (link == "infinity_fabric") return CommunicatorClass::infinity_fabric;
    return CommunicatorClass::other;
}

Bytes gib(double value) { return nearest_bytes(value * static_cast<double>(kGiB)); }

Bytes process_total_of(const FreeMemorySample& sample, std::optional<double> logged_gib,
                       const GpuCatalogue& catalogue) {
    if (logged_gib) return gib(*logged_gib);
    if (const GpuSpec* gpu = catalogue.named(sample.gpu)) return process_memory(*gpu).total.expected;
    return sample.visible_total - driver_reserve(GpuVendor::nvidia, sample.visible_total);
}

std::optional<FreeMemorySample> read_sample(json::Reader& reader, const json::Value& entry, const json::Value& root,
                                            const GpuCatalogue& catalogue) {
    const std::size_t errors_before = reader.diagnostics().error_count();
    constexpr json::IntegerRange ranks{1, 4096};
    FreeMemorySample sample;
    sample.id = reader.required_string(entry, {"id"}).value_or("");
    sample.site = reader.required_string(entry, {"site"}).value_or("");
    sample.gpu = reader.required_string(entry, {"gpu"}).value_or("");
    sample.engine = reader.required_string(entry, {"engine"}).value_or("");
    sample.tensor_parallel = static_cast<int>(reader.required_integer(entry, {"tp"}, ranks).value_or(1));
    sample.world_size = static_cast<int>(reader.required_integer(entry, {"world_size"}, ranks).value_or(1));
    sample.kind = class_of(reader.required_string(entry, {"link"}).value_or(""), sample.world_size);
    sample.visible_total = mebibytes(
        reader.required_integer(entry, {"visible_mib"}, json::IntegerRange{1, std::int64_t{1} << 40}).value_or(1));
    const auto logged = reader.number(entry, {"cuda_gib"}, json::NumberRange{0.0, 1e6, true});
    sample.free = gib(reader.required_number(entry, {"free_gib"}, json::NumberRange{0.0, 1e6, true}).value_or(0.0));
    sample.sources = hardware::read_sources(reader, entry, root);
    sample.process_total = process_total_of(sample, logged, catalogue);
    if (sample.free > sample.visible_total) {
        reader.error(entry["free_gib"], "hardware.memory-order", "more memory free than the driver has",
                     "at most visible_mib");
    }
    if (reader.diagnostics().error_count() != errors_before) return std::nullopt;
    return sample;
}

}  // namespace

std::vector<FreeMemorySample> load_free_memory_samples(const std::optional<std::string>& directory,
                                                       const GpuCatalogue& catalogue, Diagnostics& diagnostics) {
    std::vector<FreeMemorySample> samples;
    for (const auto& document : hardware::data_files(kSchema, kEmbedded, directory, diagnostics)) {
        json::Reader reader(diagnostics);
        const json::Value root = document.root();
        for (const json::Value entry : reader.required_array(root, {"samples"}).elements()) {
            if (auto sample = read_sample(reader, entry, root, catalogue)) samples.push_back(*std::move(sample));
        }
    }
    return samples;
}

}  // namespace kvplan
