#include "gui/catalogue.hpp"

#include <algorithm>
#include <sstream>

#include "models/hardware/gpu_catalogue.hpp"
#include "models/llm/catalogue.hpp"
#include "units/ascii.hpp"
#include "units/format.hpp"

namespace kvplan::gui {

namespace {

// Letters and digits in lower case, all else a blank: "RTX-PRO 6000" is found by "rtx pro".
std::string plain(std::string_view text) {
    std::string out;
    for (const char c : text) out += is_alnum(c) || c == '.' ? lower(c) : ' ';
    return out;
}

}  // namespace

Catalogue read_catalogue(const CatalogueOptions& options) {
    Catalogue catalogue;
    Diagnostics ignored;  // told when a scenario is looked up
    const ModelCatalogue models = ModelCatalogue::load(options.models_dir, ignored);
    for (const ModelPreset& preset : models.all()) {
        Choice choice{preset.name, preset.hf_id, plain(preset.name + " " + preset.hf_id)};
        for (const std::string& alias : preset.aliases) choice.searched += " " + plain(alias);
        catalogue.models.push_back(std::move(choice));
    }
    const GpuCatalogue gpus = GpuCatalogue::load(options.hardware_dir, ignored);
    for (const GpuSpec& gpu : gpus.all()) {
        Choice choice{gpu.name, std::to_string(gpu.nominal_gb) + " GB", plain(gpu.name)};
        for (const std::string& alias : gpu.aliases) choice.searched += " " + plain(alias);
        for (const std::string& alias : gpu.common_names) choice.searched += " " + plain(alias);
        catalogue.gpus.push_back(std::move(choice));
    }
    return catalogue;
}

std::vector<std::size_t> matching(const std::vector<Choice>& choices, const std::string& typed) {
    std::istringstream words(plain(typed));
    std::vector<std::string> wanted;
    for (std::string word; words >> word;) wanted.push_back(word);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < choices.size(); ++i)
        if (std::all_of(wanted.begin(), wanted.end(), [&](const std::string& word) { return choices[i].searched.find(word) != std::string::npos; })) found.push_back(i);
    return found;
}

}  // namespace kvplan::gui
