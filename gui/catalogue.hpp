#pragma once

#include <string>
#include <vector>

#include "planner/resolve.hpp"

namespace kvplan::gui {

/// One name that can be chosen, with all that a search looks in.
struct Choice {
    std::string name;
    std::string detail;        // shown beside: Hugging Face id, memory
    std::string searched;      // lower case
};

/// The names of the catalogues, read once.
struct Catalogue {
    std::vector<Choice> models, gpus;
};
[[nodiscard]] Catalogue read_catalogue(const CatalogueOptions& options);

/// Indices of the choices in which all words of `typed` occur, in order; all for an empty text.
[[nodiscard]] std::vector<std::size_t> matching(const std::vector<Choice>& choices, const std::string& typed);

}  // namespace kvplan::gui
