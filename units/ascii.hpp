// Letters and digits of ASCII, independent of the locale. Bytes above 0x7f are none of them and stay as they are.
#pragma once

#include <string>
#include <string_view>

namespace kvplan {

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
[[nodiscard]] constexpr bool is_alnum(char c) { return is_letter(c) || is_digit(c); }
[[nodiscard]] constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

[[nodiscard]] inline std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = lower(c);
    return result;
}

/// A field's name as it is read by people: "max_total_num_tokens" -> "max total num tokens".
[[nodiscard]] inline std::string as_words(std::string_view name) {
    std::string text(name);
    for (char& c : text)
        if (c == '_') c = ' ';
    return text;
}

}  // namespace kvplan
