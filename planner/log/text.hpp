#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "units/ascii.hpp"

namespace kvplan::logs {

[[nodiscard]] constexpr bool is_word(char c) { return is_digit(c) || is_letter(c) || c == '_'; }

/// A number as engines print it, at the beginning of a text: "137.29", "178,880", "-561981", "1.5e-05". Commas count only
/// between groups of three digits.
struct FoundNumber {
    double value = 0.0;
    std::size_t length = 0;   // characters it takes
};
[[nodiscard]] std::optional<FoundNumber> number_at_start(std::string_view text);

/// The number after the first `key` in `text`. With a `suffix` it counts only when that follows, and without one only when
/// something follows or `complete` (the line was not cut): "#tokens: 464768" cut to "#tokens: 4647" must not be read.
[[nodiscard]] std::optional<double> number_after(std::string_view text, std::string_view key, std::string_view suffix, bool complete);

/// What stands between the first `key` and the first of `ends` after it (or the end); empty when there is no `key`.
[[nodiscard]] std::string_view text_after(std::string_view text, std::string_view key, std::string_view ends);

}  // namespace kvplan::logs
