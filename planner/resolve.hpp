#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "planner/scenario.hpp"
#include "units/diagnostic.hpp"

namespace kvplan {

/// Where names are looked up: the embedded catalogues, extended or overridden by directories.
struct CatalogueOptions {
    std::optional<std::string> models_dir;
    std::optional<std::string> hardware_dir;
    std::string assume_family;        // for an unknown model_type
};

/// Looks up the scenario's model, drafter and GPU and fills in what follows from them (GPUs per node, free memory by
/// group). Reads files, but not again for what is set already; everything later is pure. False when a thing was not found.
[[nodiscard]] bool look_up(Scenario& scenario, const CatalogueOptions& options, Diagnostics& diagnostics);

/// Whether `--quantization` with this word names an engine's method of loading, not a checkpoint's format.
[[nodiscard]] bool names_loading_method(std::string_view quantization);

/// look_up() and check_scenario(). Faults go to `diagnostics`; false when the scenario cannot be planned.
[[nodiscard]] bool resolve(Scenario& scenario, const CatalogueOptions& options, Diagnostics& diagnostics);

/// Members of a scenario document by field name, set in `scenario`; unknown members and wrong values are diagnosed, all
/// of them. `document_text` is JSON.
[[nodiscard]] bool read_scenario(std::string document_text, const std::string& source_name, Scenario& scenario, Diagnostics& diagnostics);

/// Contradictions that make a scenario meaningless (a fraction outside (0, 1), tp that does not divide the heads, …).
[[nodiscard]] bool check_scenario(const Scenario& scenario, Diagnostics& diagnostics);

}  // namespace kvplan
