#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/sweep/rows.hpp"
#include "planner/sweep/shard.hpp"

namespace kvplan::sweep {

/// What one file of a sharded sweep says of itself in its first line, so that parts can be joined and nothing else can.
struct PartHeader {
    std::string fingerprint;                  // of the whole sweep
    Form form = Form::csv;
    PointRange range;
    std::int64_t points = 0;                  // of the whole sweep
    std::int64_t heading_lines = 0;           // of the table, between this line and the rows
};
/// A JSON object in one line, behind "# " where the rows are no JSON.
[[nodiscard]] std::string line_of(const PartHeader& header);
/// Nothing when the line is none.
[[nodiscard]] std::optional<PartHeader> read_part_header(const std::string& line);

/// The last line of a part: how many rows stand before it.
[[nodiscard]] std::string end_of_part(Form form, std::int64_t rows);
[[nodiscard]] std::optional<std::int64_t> read_end_of_part(const std::string& line);

struct Part {
    std::string file;
    PartHeader header;
};
/// Parts in the order of their points. Parts of different sweeps, gaps and overlaps go to `diagnostics`.
[[nodiscard]] std::optional<std::vector<Part>> in_order(std::vector<Part> parts, Diagnostics& diagnostics);

/// Says whether two sweeps give the same rows: of what was asked for, in which form, and of the plans of the first and the
/// last point (so of the rules, the catalogues and the files they came from). 16 hexadecimal digits.
[[nodiscard]] std::string fingerprint(const Points& points, const std::string& asked, Form form);

}  // namespace kvplan::sweep
