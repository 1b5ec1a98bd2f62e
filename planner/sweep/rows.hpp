#pragma once

#include <string>
#include <vector>

#include "planner/sweep/points.hpp"

namespace kvplan::sweep {

enum class Form { text, csv, json_lines, markdown };

/// How rows are written: swept fields, then the first `columns` figures. Every row is one line, so rows can be streamed.
class RowWriter {
public:
    /// `sample`: rows whose widths the columns of a text table take.
    RowWriter(Form form, const Request& request, std::size_t columns, const std::vector<Row>& sample);

    [[nodiscard]] std::string header() const;
    [[nodiscard]] std::string line(const Row& row) const;

private:
    [[nodiscard]] std::vector<Cell> shown(const Row& row) const;
    [[nodiscard]] std::string table_line(const std::vector<std::string>& cells) const;

    Form form_;
    std::size_t columns_;
    std::vector<std::string> names_;
    std::vector<std::size_t> widths_;
};

/// Up to `count` rows spread over the whole sweep, for the widths of its columns.
[[nodiscard]] std::vector<Row> sample_rows(const Points& points, std::int64_t count);

}  // namespace kvplan::sweep
