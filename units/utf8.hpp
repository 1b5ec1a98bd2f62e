// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string_view>

namespace kvplan {

struct CodePoint {
    char32_t value = 0;      ///< the byte itself when invalid
    std::size_t length = 1;  ///< bytes; 1 when invalid
    bool valid = true;
};

/// The code point that begins at `text[position]`; position < text.size().
CodePoint decode_utf8(std::string_view text, std::size_t position);

/// Offset of the first byte that is not part of valid UTF-8, or npos.
std::size_t find_invalid_utf8(std::string_view text);

/// Whether `byte` continues a code point rather than begins one.
constexpr bool is_utf8_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

/// Code points in `text`, an invalid byte counting as one.
std::size_t count_code_points(std::string_view text);

}  // namespace kvplan
