#pragma once

#include <memory>
#include <string>
#include <vector>

#include "planner/sweep/figures.hpp"

namespace kvplan::sweep {

/// A condition on a point: comparisons of figures, numbers, 'strings', true, false and null, joined by && || ! and
/// parentheses. What is null makes a comparison unknown, and unknown points are not kept; `== null` and `!= null` ask.
class Expression {
public:
    struct Node;
    /// Nothing, with a diagnostic that points at the fault, when `text` cannot be read.
    [[nodiscard]] static std::optional<Expression> parse(const std::string& text, const std::vector<Axis>& axes, Diagnostics& diagnostics);

    /// Figures whose cells `holds` is given, in this order.
    [[nodiscard]] const std::vector<Figure>& figures() const { return figures_; }
    [[nodiscard]] bool holds(const std::vector<Cell>& cells) const;

private:
    std::vector<Figure> figures_;
    std::shared_ptr<const Node> root_;
};

}  // namespace kvplan::sweep
