#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/log/line_rules.hpp"
#include "planner/log/record.hpp"

namespace kvplan::logs {

// Readers of lines whose figures have no fixed key.

/// "Allocating 354.94 GB host memory for hierarchical KV cache." and its forms for other pools.
[[nodiscard]] std::optional<HostPoolLine> read_host_pool(std::string_view text);

/// Name of the graphs, and whether the line begins or ends their capture: "Capture draft extend cuda graph end. …".
struct GraphLine {
    std::string name;
    bool ends = false;
};
[[nodiscard]] GraphLine read_graph_line(std::string_view text);

/// vLLM's accounts: "Free memory on device (a/b GiB) …", "Initial free memory: …", "Total non KV cache memory: …".
void read_memory_summary(std::string_view text, RankRecord& rank);

/// A size with MiB or GiB behind it, in GiB, after `key`.
[[nodiscard]] Reading size_after(std::string_view text, std::string_view key);

/// What was asked, the card's capacity and what was free, of an out-of-memory message, all in GiB.
[[nodiscard]] std::vector<std::pair<Figure, double>> allocation_figures(std::string_view text);

/// Figures of failures that stand before their unit: "(37.62 GiB KV cache is needed", "(1.2/79.2 GiB) on startup …".
[[nodiscard]] std::vector<std::pair<Figure, double>> fault_figures(const LineRule& rule, std::string_view text);

}  // namespace kvplan::logs
