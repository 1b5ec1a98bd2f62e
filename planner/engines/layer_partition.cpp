#include "planner/engines/layer_partition.hpp"

#include <algorithm>
#include <numeric>

#include "units/parse.hpp"

namespace kvplan {

std::vector<std::int64_t> layer_partition(std::string_view text) {
    std::vector<std::int64_t> counts;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const auto count = parse_integer(text.substr(0, comma));
        if (!parse_ok(count) || std::get<std::int64_t>(count) <= 0) return {};
        counts.push_back(std::get<std::int64_t>(count));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return counts;
}

std::vector<StageLayers> stages_of(const std::vector<std::int64_t>& counts) {
    std::vector<StageLayers> result;
    std::int64_t first = 0;
    for (const std::int64_t count : counts) {
        result.push_back({first, count});
        first += count;
    }
    return result;
}

std::vector<std::int64_t> given_partition(std::string_view text, std::int64_t stages, std::int64_t layers) {
    std::vector<std::int64_t> counts = layer_partition(text);
    const bool fits = static_cast<std::int64_t>(counts.size()) == stages && std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) == layers;
    if (!fits) counts.clear();
    return counts;
}

}  // namespace kvplan
