#include "models/hardware/gpu_spec.hpp"

namespace kvplan {

std::string_view name_of(GpuVendor vendor) {
    switch (vendor) {
        case GpuVendor::nvidia: return "NVIDIA";
        case GpuVendor::amd: return "AMD";
        case GpuVendor::intel: return "Intel";
        case GpuVendor::other: return "other";
    }
    return "other";
}

std::string_view name_of(LinkKind kind) {
    switch (kind) {
        case LinkKind::none: return "none";
        case LinkKind::pcie: return "pcie";
        case LinkKind::nvlink: return "nvlink";
        case LinkKind::nvlink_bridge: return "nvlink_bridge";
        case LinkKind::nvlink_c2c: return "nvlink_c2c";
        case LinkKind::infinity_fabric: return "infinity_fabric";
        case LinkKind::ethernet: return "ethernet";
    }
    return "none";
}

std::optional<Fact<BytesPerSecond>> host_rate(const GpuSpec& gpu) {
    if (gpu.host_link && gpu.host_link->each_way) return gpu.host_link->each_way;
    if (gpu.pcie) return gpu.pcie->each_way;
    return std::nullopt;
}

}  // namespace kvplan
