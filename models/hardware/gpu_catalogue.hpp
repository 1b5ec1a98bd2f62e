#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/gpu_spec.hpp"
#include "models/hardware/name_match.hpp"
#include "units/diagnostic.hpp"

namespace kvplan {

/// What a name stands for. `gpu` lives as long as the catalogue.
/// The day of the last change to the embedded catalogues of GPUs and models.
inline constexpr std::string_view kCatalogueDate = "2026-12-01";

struct GpuMatch {
    MatchKind kind = MatchKind::unknown;
    const GpuSpec* gpu = nullptr;     ///< null when ambiguous or unknown
    std::vector<std::string> others;  ///< variants not taken, candidates, or nearest names: see NameMatch
};

/// The GPUs that the program knows: embedded ones, then those of `directory` (kvplan.gpus/1 documents), where an entry
/// of the same name takes the place of the embedded one.
class GpuCatalogue {
public:
    /// Faults of files are added to `diagnostics`, entries at fault left out: see read_gpu, and
    /// hardware.duplicate-name.
    [[nodiscard]] static GpuCatalogue load(const std::optional<std::string>& directory, Diagnostics& diagnostics);

    [[nodiscard]] const std::vector<GpuSpec>& all() const { return gpus_; }
    /// "h200", "H200 SXM", "rtx-pro-6000-blackwell", "NVIDIA H100 80GB HBM3": see match_name.
    [[nodiscard]] GpuMatch find(std::string_view name) const;
    /// By the full name only.
    [[nodiscard]] const GpuSpec* named(std::string_view name) const;

private:
    void add(GpuSpec gpu);

    std::vector<GpuSpec> gpus_;
    std::vector<NameEntry> names_;
};

/// What to tell about a match: nothing when exact, a note which part was taken (gpu.assumed), or an error
/// (gpu.ambiguous, gpu.unknown). `where` is the flag or JSON pointer that held the name.
[[nodiscard]] std::optional<Diagnostic> diagnostic_for(const GpuMatch& match, std::string_view asked,
                                                       std::string_view where);

}  // namespace kvplan
