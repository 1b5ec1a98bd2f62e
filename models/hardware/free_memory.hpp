// The free memory of a GPU just before the weights load: what SGLang multiplies by mem_fraction_static.
//
//     free = total a process sees - cost            all in GiB
//     total a process sees = driver's total - reserve
//     cost = context + communicator (NCCL or RCCL buffers, custom all-reduce), made before the engine looks
//
// The total is a fact of the catalogue (cudaMemGetInfo). Where only the driver's total is known, an NVIDIA card keeps
// back kReserveGib + kReservePerGib x total: least squares over the verified cards of the catalogue, residual deviation
// kReserveDeviationGib. AMD keeps back nothing (rocm-smi and PyTorch show the same total). Where not even that is
// known, the nominal size is taken, with a wide interval.
//
// The cost is predicted from logged readings (data/free_before_load.json, one vote a deployment) of the same class, by
// random effects over cards (random_effects.hpp); cards with the same memory total are one. Classes: one GPU alone;
// several over PCIe; over NVLink; over Infinity Fabric; unified memory. In the readings the cost steps up from one GPU
// to two and shows no trend in the number of GPUs after that, so the number decides only between one and several.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/gpu_catalogue.hpp"
#include "models/hardware/gpu_spec.hpp"
#include "units/diagnostic.hpp"
#include "units/estimate.hpp"

namespace kvplan {

inline constexpr double kReserveGib = 0.40;
inline constexpr double kReservePerGib = 0.00177;
inline constexpr double kReserveDeviationGib = 0.14;

enum class CommunicatorClass { single, pcie, nvlink, infinity_fabric, unified, other };
[[nodiscard]] std::string_view name_of(CommunicatorClass kind);

/// The class of a GPU in a group of `world_size` >= 1 GPUs that share a communicator (tensor x pipeline parallel).
[[nodiscard]] CommunicatorClass communicator_class(const GpuSpec& gpu, int world_size);

/// One deployment's reading.
struct FreeMemorySample {
    std::string id;
    std::string site;  ///< readings of one site are not independent
    std::string gpu;   ///< as the catalogue names it, if it is there
    std::string engine;
    int tensor_parallel = 1;
    int world_size = 1;
    CommunicatorClass kind = CommunicatorClass::single;
    Bytes visible_total;  ///< the driver's
    Bytes process_total;  ///< of that log, else of the catalogue, else by the reserve
    Bytes free;
    std::vector<std::string> sources;

    [[nodiscard]] double cost_gib() const { return in_gib(process_total) - in_gib(free); }
};

/// The readings built into the program, then those of `directory` (kvplan.free_before_load/1 documents). Faults are
/// added to `diagnostics`, readings at fault left out.
[[nodiscard]] std::vector<FreeMemorySample> load_free_memory_samples(const std::optional<std::string>& directory,
                                                                     const GpuCatalogue& catalogue,
                                                                     Diagnostics& diagnostics);

/// What the driver keeps back of `visible` on a GPU of that maker.
[[nodiscard]] Bytes driver_reserve(GpuVendor vendor, Bytes visible);

/// The memory that a process sees in all.
struct ProcessMemory {
    Bytes visible;               ///< the driver's total; unified memory: the operating system's
    Estimate<Bytes> total;       ///< low and high: the range over driver versions, where it is known
    double deviation_gib = 0.0;  ///< standard deviation of `total` where it is not a verified fact
    bool from_nominal = false;   ///< the catalogue has no measured total of this GPU
};
[[nodiscard]] ProcessMemory process_memory(const GpuSpec& gpu);

struct FreeMemoryEstimate {
    Estimate<Bytes> free;  ///< 95 % interval for one more deployment

    /// The expected parts: visible = reserve + context + communicator + free.expected, to the byte.
    Bytes visible;
    Bytes reserve;
    Bytes context;
    Bytes communicator;

    CommunicatorClass kind = CommunicatorClass::single;
    std::size_t readings = 0;            ///< that the class has
    std::size_t readings_same_card = 0;  ///< of these, of cards with the same memory total
    bool total_from_nominal = false;
};

/// Throws std::invalid_argument for world_size < 1 or without samples.
[[nodiscard]] FreeMemoryEstimate estimate_free_memory(const GpuSpec& gpu, int world_size,
                                                      std::span<const FreeMemorySample> samples);

}  // namespace kvplan
