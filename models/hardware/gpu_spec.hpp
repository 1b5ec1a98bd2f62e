#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "units/bytes.hpp"
#include "units/rates.hpp"

namespace kvplan {

/// A figure of the catalogue with where it comes from.
template <class T>
struct Fact {
    T value{};
    std::optional<T> lowest;           ///< the least that any source gives, where sources differ
    std::optional<T> ceiling;          ///< the most that any source gives, where sources differ
    bool verified = true;              ///< false: a data sheet or a derivation only
    std::vector<std::string> sources;  ///< keys of the data file's table of sources; never empty
    std::string remark;

    /// What an upper bound must use.
    [[nodiscard]] T highest() const { return ceiling && *ceiling > value ? *ceiling : value; }
    [[nodiscard]] T least() const { return lowest && *lowest < value ? *lowest : value; }
};

enum class GpuVendor { nvidia, amd, intel, other };
[[nodiscard]] std::string_view name_of(GpuVendor vendor);

enum class LinkKind { none, pcie, nvlink, nvlink_bridge, nvlink_c2c, infinity_fabric, ethernet };
[[nodiscard]] std::string_view name_of(LinkKind kind);

/// A link of one GPU; rates are one way, before protocol overhead.
struct Link {
    LinkKind kind = LinkKind::none;
    std::optional<int> generation;
    std::optional<Fact<BytesPerSecond>> each_way;
    std::string remark;
};

struct PcieSlot {
    std::optional<int> generation;
    std::optional<int> lanes;
    Fact<BytesPerSecond> each_way;
};

/// CUDA's compute capability: 9.0 is {9, 0}.
struct ComputeCapability {
    int major = 0;
    int minor = 0;

    friend auto operator<=>(const ComputeCapability&, const ComputeCapability&) = default;
};

/// Peak rates without sparsity; empty where the GPU has no such units (or none is known).
struct DenseRates {
    std::optional<Fact<Flops>> bf16;
    std::optional<Fact<Flops>> fp16;  ///< only where it differs from bf16: cards without bf16
    std::optional<Fact<Flops>> fp8;
    std::optional<Fact<Flops>> fp4;
    std::optional<Fact<Flops>> int8;  ///< operations a second

    /// bf16, or fp16 on a card that has no bf16.
    [[nodiscard]] const std::optional<Fact<Flops>>& half() const { return bf16 ? bf16 : fp16; }
};

struct GpuSpec {
    std::string name;
    std::vector<std::string> aliases;       ///< other names of exactly this part
    std::vector<std::string> common_names;  ///< short names that several parts share and usually mean this one
    GpuVendor vendor = GpuVendor::other;
    std::string architecture;
    std::optional<ComputeCapability> sm;  ///< NVIDIA
    std::optional<std::string> isa;       ///< others: "gfx942"
    int gpus_per_node = 8;                ///< as usually built
    bool unified_memory = false;          ///< shares the host's RAM (DGX Spark)

    std::int64_t nominal_gb = 0;                   ///< the figure in the product's name
    std::optional<Fact<Bytes>> visible_memory;     ///< total of nvidia-smi or rocm-smi
    std::optional<Fact<Bytes>> process_memory;     ///< total a process sees (cudaMemGetInfo)
    std::optional<Fact<Bytes>> os_visible_memory;  ///< unified memory: RAM that the operating system sees
    Fact<BytesPerSecond> memory_bandwidth;
    DenseRates dense;

    Link peer_link;  ///< between GPUs of a node
    std::optional<PcieSlot> pcie;
    std::optional<Link> host_link;  ///< where it is not PCIe (Grace)
    std::optional<Fact<std::int64_t>> tdp_watts;
};

/// The rate between host RAM and the GPU, one way: host_link if there is one, else PCIe.
[[nodiscard]] std::optional<Fact<BytesPerSecond>> host_rate(const GpuSpec& gpu);

}  // namespace kvplan
