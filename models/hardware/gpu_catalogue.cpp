#include "models/hardware/gpu_catalogue.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "models/hardware/data_files.hpp"
#include "models/hardware/gpu_reader.hpp"

namespace kvplan {
namespace {

constexpr std::string_view kSchema = "kvplan.gpus/1";
constexpr std::string_view kEmbedded = "models/hardware/data/gpus.json";

NameEntry name_entry(const GpuSpec& gpu) {
    const std::string size = std::to_string(gpu.nominal_gb);
    return {gpu.name, gpu.aliases, gpu.common_names, {size + "gb", size + "g"}};
}

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
        text += names[i];
    }
    return text;
}

void report_duplicates(const std::vector<NameEntry>& entries, Diagnostics& diagnostics) {
    std::map<std::string, std::string> owner;
    const auto claim = [&](const std::string& name, const std::string& gpu) {
        const auto [place, fresh] = owner.emplace(squeezed(name), gpu);
        if (fresh || place->second == gpu) return;
        Diagnostic diagnostic;
        diagnostic.code = "hardware.duplicate-name";
        diagnostic.found = name;
        diagnostic.expected = "names and aliases that belong to one GPU";
        diagnostic.message = "two GPUs share a name: " + place->second + " and " + gpu;
        diagnostics.add(std::move(diagnostic));
    };
    for (const auto& entry : entries) {
        claim(entry.name, entry.name);
        for (const auto& alias : entry.aliases) claim(alias, entry.name);
        for (const auto& name : entry.common_names) claim(name, entry.name);
    }
}

}  // namespace

GpuCatalogue GpuCatalogue::load(const std::optional<std::string>& directory, Diagnostics& diagnostics) {
    GpuCatalogue catalogue;
    for (const auto& document : hardware::data_files(kSchema, kEmbedded, directory, diagnostics)) {
        json::Reader reader(diagnostics);
        const json::Value root = document.root();
        for (const json::Value entry : reader.required_array(root, {"gpus"}).elements()) {
            if (auto gpu = hardware::read_gpu(reader, entry, root)) catalogue.add(*std::move(gpu));
        }
    }
    report_duplicates(catalogue.names_, diagnostics);
    return catalogue;
}

void GpuCatalogue::add(GpuSpec gpu) {
    const std::string key = squeezed(gpu.name);
    const auto same =
        std::find_if(gpus_.begin(), gpus_.end(), [&](const GpuSpec& g) { return squeezed(g.name) == key; });
    if (same != gpus_.end()) {
        names_[static_cast<std::size_t>(same - gpus_.begin())] = name_entry(gpu);
        *same = std::move(gpu);
        return;
    }
    names_.push_back(name_entry(gpu));
    gpus_.push_back(std::move(gpu));
}

GpuMatch GpuCatalogue::find(std::string_view name) const {
    NameMatch match = match_name(name, names_);
    return {match.kind, match.found() ? &gpus_[match.index] : nullptr, std::move(match.others)};
}

const GpuSpec* GpuCatalogue::named(std::string_view name) const {
    const auto found = std::find_if(gpus_.begin(), gpus_.end(), [&](const GpuSpec& gpu) { return gpu.name == name; });
    return found == gpus_.end() ? nullptr : &*found;
}

std::optional<Diagnostic> diagnostic_for(const GpuMatch& match, std::string_view asked, std::string_view where) {
    if (match.kind == MatchKind::exact) return std::nullopt;
    Diagnostic diagnostic;
    diagnostic.pointer = where;
    diagnostic.found = asked;
    if (match.gpu != nullptr) {
        diagnostic.severity = Severity::note;
        diagnostic.code = "gpu.assumed";
        diagnostic.message = "taken as " + match.gpu->name;
        if (!match.others.empty()) diagnostic.hint = "the others are " + listed(match.others);
        return diagnostic;
    }
    if (match.kind == MatchKind::ambiguous) {
        diagnostic.code = "gpu.ambiguous";
        diagnostic.message = "the name fits several GPUs";
        diagnostic.expected = listed(match.others);
        return diagnostic;
    }
    diagnostic.code = "gpu.unknown";
    diagnostic.message = "no GPU of that name is known";
    diagnostic.expected = "a name that `kvplan gpus list` shows";
    diagnostic.hint = did_you_mean(match.others);
    return diagnostic;
}

}  // namespace kvplan
