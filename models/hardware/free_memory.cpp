#include "models/hardware/free_memory.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "models/hardware/random_effects.hpp"

namespace kvplan {
namespace {

/// Readings of one card vary by this much between driver and library versions at least (H100 alone: 0.14 GiB over six
/// sites), so fewer readings that happen to agree do not make a narrower interval.
constexpr double kWithinFloorGib = 0.15;
/// Below this many readings a class speaks less well for a GPU than all classes of its size together.
constexpr std::size_t kLeastReadings = 3;
/// Drivers show 0.93 (B300) to 1.0 of the nominal size in GiB; the middle of the catalogue's cards is 0.995, that of
/// cards with ECC in the same memory 0.94.
constexpr double kNominalLow = 0.93;
constexpr double kNominalExpected = 0.985;

Bytes gib(double value) { return nearest_bytes(value * static_cast<double>(kGiB)); }

/// Cards with the same memory total count as one model: H100 SXM and H800, MI350X and MI355X, both RTX PRO 6000.
std::string group_of(Bytes visible) { return std::to_string(floor_div(visible.count(), kMiB)); }

hardware::Reading reading_of(const FreeMemorySample& sample) {
    return {group_of(sample.visible_total), sample.cost_gib()};
}

std::vector<hardware::Reading> readings_of(std::span<const FreeMemorySample> samples, CommunicatorClass kind) {
    std::vector<hardware::Reading> readings;
    for (const auto& sample : samples) {
        if (sample.kind == kind) readings.push_back(reading_of(sample));
    }
    return readings;
}

/// All readings of the same size of group, whatever the link.
std::vector<hardware::Reading> pooled_readings(std::span<const FreeMemorySample> samples, int world_size) {
    std::vector<hardware::Reading> readings;
    for (const auto& sample : samples) {
        const bool same_size = (sample.world_size > 1) == (world_size > 1);
        if (same_size && sample.kind != CommunicatorClass::unified) readings.push_back(reading_of(sample));
    }
    return readings;
}

hardware::Prediction predict_cost(const GpuSpec& gpu, int world_size, std::span<const FreeMemorySample> samples,
                                  const ProcessMemory& memory, double deviation_gib) {
    auto readings = readings_of(samples, communicator_class(gpu, world_size));
    if (readings.size() < kLeastReadings) {
        auto pooled = pooled_readings(samples, world_size);
        if (pooled.size() > readings.size()) readings = std::move(pooled);
    }
    if (readings.empty()) {
        for (const auto& sample : samples) readings.push_back(reading_of(sample));
    }
    return hardware::predict(readings, group_of(memory.visible), kWithinFloorGib, deviation_gib * deviation_gib);
}

}  // namespace

std::string_view name_of(CommunicatorClass kind) {
    switch (kind) {
        case CommunicatorClass::single: return "single";
        case CommunicatorClass::pcie: return "pcie";
        case CommunicatorClass::nvlink: return "nvlink";
        case CommunicatorClass::infinity_fabric: return "infinity_fabric";
        case CommunicatorClass::unified: return "unified";
        case CommunicatorClass::other: return "other";
    }
    return "other";
}

CommunicatorClass communicator_class(const GpuSpec& gpu, int world_size) {
    if (gpu.unified_memory) return CommunicatorClass::unified;
    if (world_size <= 1) return CommunicatorClass::single;
    switch (gpu.peer_link.kind) {
        case LinkKind::pcie: return CommunicatorClass::pcie;
        case LinkKind::nvlink:
        case LinkKind::nvlink_bridge:
        case LinkKind::nvlink_c2c: return CommunicatorClass::nvlink;
        case LinkKind::infinity_fabric: return CommunicatorClass::infinity_fabric;
        case LinkKind::none:
        case LinkKind::ethernet: return CommunicatorClass::other;
    }
    return CommunicatorClass::other;
}

Bytes driver_reserve(GpuVendor vendor, Bytes visible) {
    if (vendor != GpuVendor::nvidia) return Bytes{0};
    return std::min(visible, gib(kReserveGib + kReservePerGib * in_gib(visible)));
}

ProcessMemory process_memory(const GpuSpec& gpu) {
    ProcessMemory memory;
    const auto set = [&](Bytes total) { memory.total = certain(total, Basis::assumed); };
    if (gpu.unified_memory && gpu.os_visible_memory) {
        memory.visible = gpu.os_visible_memory->value;
        set(memory.visible);
        return memory;
    }
    if (gpu.process_memory) {
        const auto& fact = *gpu.process_memory;
        memory.total = {fact.least(), fact.value, fact.highest(), Basis::assumed};
        memory.visible = gpu.visible_memory ? gpu.visible_memory->value : fact.value;
        if (!fact.verified) memory.deviation_gib = kReserveDeviationGib;
        return memory;
    }
    if (gpu.visible_memory) {
        memory.visible = gpu.visible_memory->value;
        set(memory.visible - driver_reserve(gpu.vendor, memory.visible));
        if (gpu.vendor == GpuVendor::nvidia) memory.deviation_gib = kReserveDeviationGib;
        return memory;
    }
    const double nominal = static_cast<double>(gpu.nominal_gb);
    memory.from_nominal = true;
    memory.visible = gib(nominal * kNominalExpected);
    const Bytes reserve = driver_reserve(gpu.vendor, memory.visible);
    memory.total = {gib(nominal * kNominalLow) - reserve, memory.visible - reserve, gib(nominal) - reserve,
                    Basis::assumed};
    return memory;
}

FreeMemoryEstimate estimate_free_memory(const GpuSpec& gpu, int world_size, std::span<const FreeMemorySample> samples) {
    if (world_size < 1) throw std::invalid_argument("estimate_free_memory: world size below 1");
    if (samples.empty()) throw std::invalid_argument("estimate_free_memory: no samples");
    const ProcessMemory memory = process_memory(gpu);
    const auto alone = predict_cost(gpu, 1, samples, memory, memory.deviation_gib);
    const auto cost = predict_cost(gpu, world_size, samples, memory, memory.deviation_gib);

    // A communicator costs something: several GPUs never leave more free than one alone.
    const double low_cost = std::max({0.0, alone.expected - alone.half_width, cost.expected - cost.half_width});
    const double expected_cost = std::max({low_cost, alone.expected, cost.expected});
    const double high_cost = std::max(alone.expected + alone.half_width, cost.expected + cost.half_width);
    const auto left_of = [](Bytes total, double spent) { return std::max(Bytes{0}, total - gib(spent)); };

    FreeMemoryEstimate result;
    result.free = {left_of(memory.total.low, high_cost), left_of(memory.total.expected, expected_cost),
                   left_of(memory.total.high, low_cost), Basis::assumed};
    result.visible = memory.visible;
    result.reserve = memory.visible - memory.total.expected;
    const Bytes spent = memory.total.expected - result.free.expected;
    result.kind = communicator_class(gpu, world_size);
    const bool split = world_size > 1 && result.kind != CommunicatorClass::unified;
    result.context = split ? std::min(spent, gib(std::max(0.0, alone.expected))) : spent;
    result.communicator = spent - result.context;
    result.readings = static_cast<std::size_t>(cost.readings);
    result.readings_same_card = static_cast<std::size_t>(cost.of_group);
    result.total_from_nominal = memory.from_nominal;
    return result;
}

}  // namespace kvplan
