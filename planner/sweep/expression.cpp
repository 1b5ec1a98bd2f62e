#include "planner/sweep/expression.hpp"

#include <algorithm>

#include "units/ascii.hpp"
#include "units/parse.hpp"

namespace kvplan::sweep {

struct Expression::Node {
    enum class Kind { constant, figure, negation, conjunction, disjunction, comparison } kind = Kind::constant;
    Cell value;
    std::size_t slot = 0;
    std::string op;
    std::shared_ptr<const Node> left, right;
};

namespace {

using Node = Expression::Node;
using NodePtr = std::shared_ptr<const Node>;
constexpr int kDeepest = 64;

Cell truth(std::optional<bool> value) {
    if (!value) return {};
    return {CellKind::boolean, *value ? 1.0 : 0.0, *value ? "true" : "false"};
}

std::optional<bool> as_bool(const Cell& cell) {
    if (cell.kind == CellKind::boolean || cell.kind == CellKind::number) return cell.number != 0.0;
    return std::nullopt;
}

template <class T>
bool compared(const std::string& op, const T& a, const T& b) {
    if (op == "==") return a == b;
    if (op == "!=") return a != b;
    if (op == "<") return a < b;
    if (op == "<=") return a <= b;
    return op == ">" ? a > b : a >= b;
}

Cell compare(const Node& node, const Cell& a, const Cell& b) {
    const auto is_null = [](const NodePtr& side) { return side->kind == Node::Kind::constant && side->value.kind == CellKind::null; };
    const bool equality = node.op == "==" || node.op == "!=";
    if (equality && (is_null(node.left) || is_null(node.right))) return truth((a.kind == b.kind) == (node.op == "=="));
    if (a.kind == CellKind::null || b.kind == CellKind::null) return {};
    if (a.kind == CellKind::text && b.kind == CellKind::text) return truth(compared(node.op, a.text, b.text));
    if (a.kind == b.kind) return truth(compared(node.op, a.number, b.number));
    // Of different kinds: never equal, and no order.
    return equality ? truth(node.op == "!=") : Cell{};
}

Cell evaluate(const Node& node, const std::vector<Cell>& cells) {
    switch (node.kind) {
        case Node::Kind::constant: return node.value;
        case Node::Kind::figure: return cells[node.slot];
        case Node::Kind::comparison: return compare(node, evaluate(*node.left, cells), evaluate(*node.right, cells));
        case Node::Kind::negation: {
            const auto value = as_bool(evaluate(*node.left, cells));
            return value ? truth(!*value) : Cell{};
        }
        case Node::Kind::conjunction:
        case Node::Kind::disjunction: {
            const bool decides = node.kind == Node::Kind::disjunction;
            const auto left = as_bool(evaluate(*node.left, cells));
            if (left == decides) return truth(decides);
            const auto right = as_bool(evaluate(*node.right, cells));
            if (right == decides) return truth(decides);
            return left && right ? truth(!decides) : Cell{};
        }
    }
    return {};
}

/// Recursive descent: or, and, not, comparison, operand.
class Parser {
public:
    Parser(const std::string& text, const std::vector<Axis>& axes, Diagnostics& diagnostics) : text_(text), axes_(axes), diagnostics_(diagnostics) {}

    NodePtr parse() {
        NodePtr node = either(0);
        skip();
        if (node != nullptr && at_ < text_.size()) return fail("&&, ||, a comparison or the end");
        return node;
    }
    std::vector<Figure> figures;

private:
    void skip() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
    }
    bool take(std::string_view token) {
        skip();
        if (text_.compare(at_, token.size(), token) != 0) return false;
        at_ += token.size();
        return true;
    }
    NodePtr fail(std::string expected) {
        Diagnostic diagnostic;
        diagnostic.code = "sweep.where";
        diagnostic.pointer = "--where";
        diagnostic.message = "the condition cannot be read";
        diagnostic.found = at_ < text_.size() ? text_.substr(at_, 20) : "the end";
        diagnostic.expected = std::move(expected);
        diagnostics_.add(with_place(std::move(diagnostic), text_, at_));
        return nullptr;
    }
    static NodePtr join(Node::Kind kind, NodePtr left, NodePtr right, std::string op = {}) {
        Node node;
        node.kind = kind;
        node.op = std::move(op);
        node.left = std::move(left);
        node.right = std::move(right);
        return std::make_shared<const Node>(std::move(node));
    }
    NodePtr either(int depth) {
        NodePtr left = both(depth);
        while (left != nullptr && take("||")) {
            NodePtr right = both(depth);
            if (right == nullptr) return nullptr;
            left = join(Node::Kind::disjunction, left, right);
        }
        return left;
    }
    NodePtr both(int depth) {
        NodePtr left = unary(depth);
        while (left != nullptr && take("&&")) {
            NodePtr right = unary(depth);
            if (right == nullptr) return nullptr;
            left = join(Node::Kind::conjunction, left, right);
        }
        return left;
    }
    NodePtr unary(int depth) {
        if (depth > kDeepest) return fail("fewer levels of parentheses");
        skip();
        const bool negated = at_ < text_.size() && text_[at_] == '!' && text_.compare(at_, 2, "!=") != 0;
        if (!negated) return comparison(depth);
        ++at_;
        NodePtr inner = unary(depth + 1);
        return inner == nullptr ? nullptr : join(Node::Kind::negation, inner, nullptr);
    }
    NodePtr comparison(int depth) {
        NodePtr left = operand(depth);
        if (left == nullptr) return nullptr;
        for (const char* op : {"==", "!=", "<=", ">=", "<", ">"}) {
            if (!take(op)) continue;
            NodePtr right = operand(depth);
            return right == nullptr ? nullptr : join(Node::Kind::comparison, left, right, op);
        }
        return left;
    }
    NodePtr constant(Cell value) {
        Node node;
        node.value = std::move(value);
        return std::make_shared<const Node>(std::move(node));
    }
    NodePtr operand(int depth) {
        if (take("(")) {
            NodePtr inner = either(depth + 1);
            if (inner != nullptr && !take(")")) return fail(")");
            return inner;
        }
        skip();
        const char c = at_ < text_.size() ? text_[at_] : '\0';
        if (c == '\'' || c == '"') return string(c);
        const auto word_char = [](char x) { return is_alnum(x) || x == '_' || x == '.'; };
        std::size_t end = at_ + (c == '-' || c == '+' ? 1 : 0);
        while (end < text_.size() && (word_char(text_[end]) || ((text_[end] == '-' || text_[end] == '+') && is_number_start(c) && (text_[end - 1] == 'e' || text_[end - 1] == 'E')))) ++end;
        const std::string word = text_.substr(at_, end - at_);
        if (word.empty() || word == "-" || word == "+") return fail("a figure, a number, a string, true, false, null, ! or (");
        if (is_number_start(c)) {
            const auto number = parse_real(word);
            if (!parse_ok(number)) return fail("a number");
            at_ = end;
            return constant({CellKind::number, std::get<double>(number), word});
        }
        at_ = end;
        if (word == "true" || word == "false") return constant(truth(word == "true"));
        if (word == "null") return constant({});
        return figure(word);
    }
    static bool is_number_start(char c) { return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.'; }
    NodePtr string(char quote) {
        const std::size_t end = text_.find(quote, at_ + 1);
        if (end == std::string::npos) return fail("the closing quote");
        Cell cell{CellKind::text, 0.0, text_.substr(at_ + 1, end - at_ - 1)};
        at_ = end + 1;
        return constant(std::move(cell));
    }
    NodePtr figure(const std::string& word) {
        auto found = find_figure(word, axes_, "--where", diagnostics_);
        if (!found) return nullptr;
        Node node;
        node.kind = Node::Kind::figure;
        node.slot = figures.size();
        figures.push_back(std::move(*found));
        return std::make_shared<const Node>(std::move(node));
    }

    const std::string& text_;
    const std::vector<Axis>& axes_;
    Diagnostics& diagnostics_;
    std::size_t at_ = 0;
};

}  // namespace

std::optional<Expression> Expression::parse(const std::string& text, const std::vector<Axis>& axes, Diagnostics& diagnostics) {
    Parser parser(text, axes, diagnostics);
    Expression expression;
    expression.root_ = parser.parse();
    if (expression.root_ == nullptr) return std::nullopt;
    expression.figures_ = std::move(parser.figures);
    return expression;
}

bool Expression::holds(const std::vector<Cell>& cells) const { return as_bool(evaluate(*root_, cells)).value_or(false); }

}  // namespace kvplan::sweep
