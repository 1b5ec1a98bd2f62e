#include "models/llm/regex_program.hpp"

#include <cstddef>
#include <utility>

namespace kvplan {

namespace {

constexpr std::size_t kMostInstructions = 4096;
constexpr int kMostNesting = 32;
constexpr int kMostRepeats = 256;
constexpr std::size_t kMostSets = 256;
constexpr std::size_t kMostPattern = 4096;

bool is_word(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/// `\d`, `\w`, `\s` and their negations.
std::optional<std::bitset<256>> escape_class(char c) {
    std::bitset<256> set;
    for (int i = 0; i < 256; ++i) {
        const bool digit = i >= '0' && i <= '9';
        const bool space = i == ' ' || (i >= '\t' && i <= '\r');
        const bool in = (c == 'd' || c == 'D') ? digit : (c == 'w' || c == 'W') ? is_word(i) : space;
        if (in) set.set(static_cast<std::size_t>(i));
    }
    if (c == 'd' || c == 'w' || c == 's') return set;
    if (c == 'D' || c == 'W' || c == 'S') return ~set;
    return std::nullopt;
}

}  // namespace

/// A parsed pattern. Nodes refer to each other by index, so that no depth of nesting is a depth of destructors.
struct RegexNode {
    enum class Kind { empty, character, any, set, begin, end, sequence, choice, repeat, look };
    Kind kind = Kind::empty;
    char character = 0;
    bool negative = false;
    std::size_t set = 0;
    int least = 0, most = 0;  ///< repeat; most -1: no limit
    std::vector<std::size_t> children;
};

struct Repeats {
    int least = 0, most = -1;
};

/// Recursive descent to nodes, then nodes to code: each node is parsed once, whatever stands behind it.
class RegexCompiler {
public:
    explicit RegexCompiler(std::string_view pattern) : pattern_(pattern) {}

    std::optional<RegexProgram> compile() {
        const std::size_t root = choice(0);
        if (failed_ || at_ != pattern_.size()) return std::nullopt;
        generate(root);
        emit({Op::accept, 0, false, 0, 0});
        if (failed_) return std::nullopt;
        program_.needle_ = needle();
        program_.starts_anywhere_ = pattern_.substr(0, 2) == ".*";
        return std::move(program_);
    }

private:
    using Op = RegexProgram::Op;
    using Instruction = RegexProgram::Instruction;
    using Kind = RegexNode::Kind;

    bool done() const { return at_ >= pattern_.size(); }
    char peek() const { return pattern_[at_]; }
    bool take(std::string_view text) {
        if (pattern_.substr(at_, text.size()) != text) return false;
        at_ += text.size();
        return true;
    }
    std::size_t add(RegexNode node) {
        nodes_.push_back(std::move(node));
        return nodes_.size() - 1;
    }
    std::size_t add(Kind kind) {
        RegexNode node;
        node.kind = kind;
        return add(std::move(node));
    }
    std::size_t fail() {
        failed_ = true;
        return add(Kind::empty);
    }

    std::size_t choice(int depth) {
        if (depth > kMostNesting) return fail();
        RegexNode node;
        node.kind = Kind::choice;
        do {
            node.children.push_back(sequence(depth));
        } while (!failed_ && take("|"));
        return add(std::move(node));
    }

    std::size_t sequence(int depth) {
        RegexNode node;
        node.kind = Kind::sequence;
        while (!failed_ && !done() && peek() != '|' && peek() != ')') {
            std::size_t part = atom(depth);
            if (const auto repeats = quantifier()) {
                take("?");  // lazy: the same language
                RegexNode repeat;
                repeat.kind = Kind::repeat;
                repeat.least = repeats->least;
                repeat.most = repeats->most;
                repeat.children = {part};
                part = add(std::move(repeat));
            }
            node.children.push_back(part);
        }
        return add(std::move(node));
    }

    std::optional<Repeats> quantifier() {
        if (take("*")) return Repeats{0, -1};
        if (take("+")) return Repeats{1, -1};
        if (take("?")) return Repeats{0, 1};
        if (!take("{")) return std::nullopt;
        const std::optional<int> low = number();
        Repeats repeats{low.value_or(0), low.value_or(0)};
        std::optional<int> high = low;
        if (take(",")) {
            high = number();
            repeats.most = high.value_or(-1);
        }
        if (!take("}") || (!low && !high) || (repeats.most >= 0 && repeats.most < repeats.least)) failed_ = true;
        return repeats;
    }

    std::optional<int> number() {
        if (done() || peek() < '0' || peek() > '9') return std::nullopt;
        int value = 0;
        while (!done() && peek() >= '0' && peek() <= '9') {
            value = value * 10 + (pattern_[at_++] - '0');
            if (value > kMostRepeats) {
                failed_ = true;
                return value;
            }
        }
        return value;
    }

    std::size_t atom(int depth) {
        const char c = pattern_[at_++];
        switch (c) {
            case '.': return add(Kind::any);
            case '^': return add(Kind::begin);
            case '$': return add(Kind::end);
            case '(': return group(depth);
            case '[': return bracket();
            case '\\': return escape();
            case '*':
            case '+':
            case '?':
            case '{': return fail();
            default: return literal(c);
        }
    }

    std::size_t literal(char c) {
        RegexNode node;
        node.kind = Kind::character;
        node.character = c;
        return add(std::move(node));
    }

    std::size_t group(int depth) {
        const bool ahead = take("?=");
        const bool not_ahead = !ahead && take("?!");
        if (!ahead && !not_ahead && !take("?:") && !done() && peek() == '?') return fail();
        const std::size_t inside = choice(depth + 1);
        if (!take(")")) return fail();
        if (!ahead && !not_ahead) return inside;
        RegexNode node;
        node.kind = Kind::look;
        node.negative = not_ahead;
        node.children = {inside};
        return add(std::move(node));
    }

    std::size_t escape() {
        if (done()) return fail();
        const char c = pattern_[at_++];
        if (const auto set = escape_class(c)) return add_set(*set);
        if (c == 'n') return literal('\n');
        if (c == 't') return literal('\t');
        if (c == 'r') return literal('\r');
        if (c == 'Z' || c == 'z') return add(Kind::end);
        if (is_word(static_cast<unsigned char>(c))) return fail();  // \b, \1 ...
        return literal(c);
    }

    std::size_t add_set(const std::bitset<256>& set) {
        if (program_.sets_.size() >= kMostSets) return fail();
        program_.sets_.push_back(set);
        RegexNode node;
        node.kind = Kind::set;
        node.set = program_.sets_.size() - 1;
        return add(std::move(node));
    }

    std::size_t bracket() {
        std::bitset<256> set;
        const bool negative = take("^");
        bool first = true;
        while (!done() && (peek() != ']' || first)) {
            first = false;
            unsigned char low = static_cast<unsigned char>(pattern_[at_++]);
            if (low == '\\' && !done()) {
                const char c = pattern_[at_++];
                if (const auto inside = escape_class(c)) {
                    set |= *inside;
                    continue;
                }
                low = static_cast<unsigned char>(c);
            }
            unsigned char high = low;
            if (at_ + 1 < pattern_.size() && peek() == '-' && pattern_[at_ + 1] != ']') {
                high = static_cast<unsigned char>(pattern_[at_ + 1]);
                at_ += 2;
            }
            for (unsigned i = low; i <= high; ++i) set.set(i);
        }
        if (!take("]")) return fail();
        return add_set(negative ? ~set : set);
    }

    // ---- code

    std::int32_t here() const { return static_cast<std::int32_t>(program_.code_.size()); }
    /// The index of the new instruction, or of the last one when there is no room (`failed_` is set then).
    std::int32_t emit(Instruction instruction) {
        if (program_.code_.size() >= kMostInstructions) failed_ = true;
        if (!failed_ || program_.code_.empty()) program_.code_.push_back(instruction);
        return here() - 1;
    }
    Instruction& code(std::int32_t i) { return program_.code_[static_cast<std::size_t>(i)]; }

    void generate(std::size_t index) {
        if (failed_) return;
        const RegexNode& node = nodes_[index];
        switch (node.kind) {
            case Kind::empty: break;
            case Kind::character: emit({Op::character, node.character, false, 0, 0}); break;
            case Kind::any: emit({Op::any, 0, false, 0, 0}); break;
            case Kind::begin: emit({Op::begin, 0, false, 0, 0}); break;
            case Kind::end: emit({Op::end, 0, false, 0, 0}); break;
            case Kind::set: emit({Op::set, 0, false, static_cast<std::int32_t>(node.set), 0}); break;
            case Kind::sequence:
                for (const std::size_t child : node.children) generate(child);
                break;
            case Kind::choice: generate_choice(node); break;
            case Kind::repeat: generate_repeat(node); break;
            case Kind::look: {
                const std::int32_t look = emit({Op::look, 0, node.negative, 0, 0});
                generate(node.children.front());
                emit({Op::accept, 0, false, 0, 0});
                code(look).a = here();
                break;
            }
        }
    }

    void generate_choice(const RegexNode& node) {
        // a|b|c: split(a, split(b, c)), each branch jumping to the end.
        std::vector<std::int32_t> jumps;
        for (std::size_t i = 0; i < node.children.size(); ++i) {
            const bool last = i + 1 == node.children.size();
            const std::int32_t split = last ? -1 : emit({Op::split, 0, false, here() + 1, 0});
            generate(node.children[i]);
            if (last) break;
            jumps.push_back(emit({Op::jump, 0, false, 0, 0}));
            code(split).b = here();
        }
        for (const std::int32_t jump : jumps) code(jump).a = here();
    }

    void generate_repeat(const RegexNode& node) {
        const std::size_t child = node.children.front();
        std::vector<std::int32_t> splits;
        // One instruction a turn at least, so that nested repeats of nothing end by the limit too.
        for (int i = 0; i < node.least && !failed_; ++i) {
            emit({Op::jump, 0, false, here() + 1, 0});
            generate(child);
        }
        if (node.most < 0) {
            splits.push_back(emit({Op::split, 0, false, here() + 1, 0}));
            generate(child);
            emit({Op::jump, 0, false, splits.back(), 0});
        }
        for (int i = node.least; i < node.most && !failed_; ++i) {
            splits.push_back(emit({Op::split, 0, false, here() + 1, 0}));
            generate(child);
        }
        for (const std::int32_t split : splits) code(split).b = here();
    }

    /// The literal of `.*literal` or `.*literal.*`, or nothing.
    std::string needle() const {
        std::string_view rest = pattern_;
        if (rest.substr(0, 2) != ".*") return {};
        rest.remove_prefix(2);
        if (rest.size() >= 2 && rest.substr(rest.size() - 2) == ".*" && (rest.size() == 2 || rest[rest.size() - 3] != '\\'))
            rest.remove_suffix(2);
        std::string text;
        for (std::size_t i = 0; i < rest.size(); ++i) {
            if (rest[i] == '\\' && i + 1 < rest.size() && !is_word(static_cast<unsigned char>(rest[i + 1]))) {
                text += rest[++i];
            } else if (is_word(static_cast<unsigned char>(rest[i])) || rest[i] == '-') {
                text += rest[i];
            } else {
                return {};
            }
        }
        return text;
    }

    std::string_view pattern_;
    std::size_t at_ = 0;
    bool failed_ = false;
    std::vector<RegexNode> nodes_;
    RegexProgram program_;
};

std::optional<RegexProgram> RegexProgram::compile(std::string_view pattern) {
    if (pattern.size() > kMostPattern) return std::nullopt;
    return RegexCompiler(pattern).compile();
}

bool RegexProgram::match(std::string_view text) const {
    if (!needle_.empty()) return text.find(needle_) != std::string_view::npos;
    return run(0, text, 0, 0);
}

bool RegexProgram::run(std::size_t start, std::string_view text, std::size_t position, int depth) const {
    if (depth > kMostNesting) return false;
    // Each (instruction, position) is tried once: what failed there once fails there again.
    const std::size_t width = text.size() + 1;
    std::vector<bool> visited(code_.size() * width, false);
    std::vector<std::pair<std::size_t, std::size_t>> todo{{start, position}};
    while (!todo.empty()) {
        const auto [pc, at] = todo.back();
        todo.pop_back();
        if (visited[pc * width + at]) continue;
        visited[pc * width + at] = true;
        const Instruction& instruction = code_[pc];
        const bool more = at < text.size();
        switch (instruction.op) {
            case Op::accept: return true;
            case Op::character:
                if (more && text[at] == instruction.character) todo.emplace_back(pc + 1, at + 1);
                break;
            case Op::any:
                if (more && text[at] != '\n') todo.emplace_back(pc + 1, at + 1);
                break;
            case Op::set:
                if (more && sets_[static_cast<std::size_t>(instruction.a)].test(static_cast<unsigned char>(text[at])))
                    todo.emplace_back(pc + 1, at + 1);
                break;
            case Op::split:
                todo.emplace_back(static_cast<std::size_t>(instruction.b), at);
                todo.emplace_back(static_cast<std::size_t>(instruction.a), at);
                break;
            case Op::jump: todo.emplace_back(static_cast<std::size_t>(instruction.a), at); break;
            case Op::begin:
                if (at == 0) todo.emplace_back(pc + 1, at);
                break;
            case Op::end:
                if (!more) todo.emplace_back(pc + 1, at);
                break;
            case Op::look:
                if (run(pc + 1, text, at, depth + 1) != instruction.negative)
                    todo.emplace_back(static_cast<std::size_t>(instruction.a), at);
                break;
        }
    }
    return false;
}

}  // namespace kvplan
