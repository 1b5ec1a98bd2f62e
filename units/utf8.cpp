#include "units/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace kvplan {
namespace {

struct LeadByte {
    std::size_t length;  ///< 0 = no code point begins like this
    unsigned char second_min;
    unsigned char second_max;
};

// Table 3-7 of the Unicode standard: the range of the second byte rules out overlong forms, surrogates and > U+10FFFF.
LeadByte classify(unsigned char lead) {
    if (lead < 0x80) return {1, 0, 0};
    if (lead < 0xC2) return {0, 0, 0};
    if (lead < 0xE0) return {2, 0x80, 0xBF};
    if (lead == 0xE0) return {3, 0xA0, 0xBF};
    if (lead == 0xED) return {3, 0x80, 0x9F};
    if (lead < 0xF0) return {3, 0x80, 0xBF};
    if (lead == 0xF0) return {4, 0x90, 0xBF};
    if (lead < 0xF4) return {4, 0x80, 0xBF};
    if (lead == 0xF4) return {4, 0x80, 0x8F};
    return {0, 0, 0};
}

}  // namespace

CodePoint decode_utf8(std::string_view text, std::size_t position) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[position + i]); };
    const LeadByte lead = classify(byte(0));
    const CodePoint broken{byte(0), 1, false};
    if (lead.length == 0 || text.size() - position < lead.length) return broken;
    if (lead.length == 1) return {byte(0), 1, true};
    if (byte(1) < lead.second_min || byte(1) > lead.second_max) return broken;
    char32_t value = byte(0) & (0x7FU >> lead.length);
    for (std::size_t i = 1; i < lead.length; ++i) {
        if (!is_utf8_continuation(text[position + i])) return broken;
        value = (value << 6) | (byte(i) & 0x3FU);
    }
    return {value, lead.length, true};
}

std::size_t find_invalid_utf8(std::string_view text) {
    std::size_t i = 0;
    while (i < text.size()) {
        // Eight ASCII bytes at a time: nearly all of a config.
        while (text.size() - i >= sizeof(std::uint64_t)) {
            std::uint64_t word = 0;
            std::memcpy(&word, text.data() + i, sizeof word);
            if ((word & 0x8080808080808080ULL) != 0) break;
            i += sizeof word;
        }
        if (i == text.size()) break;
        const CodePoint point = decode_utf8(text, i);
        if (!point.valid) return i;
        i += point.length;
    }
    return std::string_view::npos;
}

std::size_t count_code_points(std::string_view text) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < text.size(); i += decode_utf8(text, i).length) ++count;
    return count;
}

}  // namespace kvplan
