// A small regular-expression matcher for patterns that come out of files.
//
// std::regex recurses once a character and takes exponential time on hostile patterns; this one visits each pair of
// (instruction, position) once, so a match costs at most pattern length x text length. It knows what quantization lists
// use: literals, `.`, classes, `\d \w \s \.`, groups, `(?:...)`, `|`, `* + ? {n,m}` (lazy ones too), `^ $`, and lookahead
// `(?=...)`, `(?!...)`. No backreferences.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvplan {

class RegexProgram {
public:
    /// Nothing when the pattern is faulty, uses what is not known, or would take more than 4096 instructions.
    [[nodiscard]] static std::optional<RegexProgram> compile(std::string_view pattern);

    /// Whether some beginning of `text` matches (Python's re.match).
    [[nodiscard]] bool match(std::string_view text) const;

    /// True when a match can begin with anything (the pattern starts with `.*`), so that leading path parts do not matter.
    [[nodiscard]] bool starts_anywhere() const { return starts_anywhere_; }

private:
    friend class RegexCompiler;
    enum class Op : std::uint8_t { character, any, set, split, jump, begin, end, accept, look };
    struct Instruction {
        Op op = Op::accept;
        char character = 0;
        bool negative = false;    ///< look: must not match
        std::int32_t a = 0;       ///< split: first choice; jump; set: index of sets_; look: where it goes on
        std::int32_t b = 0;       ///< split: second choice
    };
    [[nodiscard]] bool run(std::size_t start_instruction, std::string_view text, std::size_t position, int depth) const;

    std::vector<Instruction> code_;
    std::vector<std::bitset<256>> sets_;
    std::string needle_;          ///< when the whole pattern is `.*literal.*`: found by a plain search
    bool starts_anywhere_ = false;
};

}  // namespace kvplan
