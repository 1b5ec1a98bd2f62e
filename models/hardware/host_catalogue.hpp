#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/host_spec.hpp"
#include "models/hardware/name_match.hpp"
#include "units/diagnostic.hpp"

namespace kvplan {

struct HostMatch {
    MatchKind kind = MatchKind::unknown;
    const HostSpec* host = nullptr;   ///< null when ambiguous or unknown
    std::vector<std::string> others;  ///< see NameMatch
};

/// Machines of public fleets as presets, and those of `directory` (kvplan.hosts/1 documents). Of a preset only what
/// jobs may take is known (ram_available), not what is installed.
class HostCatalogue {
public:
    [[nodiscard]] static HostCatalogue load(const std::optional<std::string>& directory, Diagnostics& diagnostics);

    [[nodiscard]] const std::vector<HostSpec>& all() const { return hosts_; }
    [[nodiscard]] HostMatch find(std::string_view name) const;

private:
    std::vector<HostSpec> hosts_;
};

}  // namespace kvplan
