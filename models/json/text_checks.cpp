#include "models/json/text_checks.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "units/utf8.hpp"

namespace kvplan::json::detail {
namespace {

constexpr std::size_t kLongestToken = 40;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kGitLfsPointer = "version https://git-lfs.github.com/spec/v1\n";

std::string bytes_text(std::size_t count) { return std::to_string(count) + " bytes"; }

std::optional<Fault> check_size(std::string_view text, const Limits& limits) {
    const std::size_t most = std::min<std::size_t>(limits.max_bytes, std::numeric_limits<std::uint32_t>::max() - 16);
    if (text.size() <= most) return std::nullopt;
    Fault fault = make_fault("json.too-large", "the JSON text is too large", std::string::npos);
    fault.diagnostic.found = bytes_text(text.size());
    fault.diagnostic.expected = "at most " + bytes_text(most);
    return fault;
}

std::optional<Fault> check_encoding(std::string_view text) {
    Fault fault = make_fault("json.encoding", "the text is not UTF-8", 0);
    fault.diagnostic.expected = "JSON in UTF-8";
    const std::string_view start = text.substr(0, 2);
    const bool utf16 = start == "\xFF\xFE" || start == "\xFE\xFF";
    if (utf16) {
        fault.offset = std::string::npos;
        fault.diagnostic.found = "the byte order mark of UTF-16";
        fault.diagnostic.hint = "convert it: iconv -f UTF-16 -t UTF-8";
        return fault;
    }
    if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
        fault.diagnostic.message = "the text holds a zero byte";
        fault.diagnostic.found = "byte 0x00 at offset " + std::to_string(zero);
        fault.diagnostic.hint = "this is a binary file, or text in UTF-16";
        fault.offset = zero;
        return fault;
    }
    const std::size_t broken = find_invalid_utf8(text);
    if (broken == std::string_view::npos) return std::nullopt;
    static constexpr char kHex[] = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(text[broken]);
    fault.diagnostic.found =
        std::string("byte 0x") + kHex[byte >> 4U] + kHex[byte & 0xFU] + " at offset " + std::to_string(broken);
    fault.offset = broken;
    return fault;
}

std::optional<Fault> check_kind(std::string_view text, std::size_t begin) {
    const std::size_t first = text.find_first_not_of(kBlank, begin);
    if (first == std::string_view::npos) {
        Fault fault = make_fault("json.empty", "the file is empty", std::string::npos);
        fault.diagnostic.found = text.size() == begin ? bytes_text(0) : "nothing but white space";
        fault.diagnostic.expected = "a JSON document";
        return fault;
    }
    const std::string_view rest = text.substr(first);
    std::string hint;
    if (rest.compare(0, kGitLfsPointer.size(), kGitLfsPointer) == 0) {
        hint = "this is a Git LFS pointer, not the file itself; fetch it with git lfs pull";
    } else if (rest.front() == '<') {
        hint = "this looks like HTML or XML; was an error page saved under this name?";
    } else {
        return std::nullopt;
    }
    Fault fault = make_fault("json.syntax", "this is not JSON", first);
    fault.diagnostic.found = token_at(text, first);
    fault.diagnostic.expected = "a JSON document";
    fault.diagnostic.hint = std::move(hint);
    return fault;
}

}  // namespace

Fault make_fault(std::string code, std::string message, std::size_t offset) {
    Fault fault;
    fault.diagnostic.code = std::move(code);
    fault.diagnostic.message = std::move(message);
    fault.offset = offset;
    return fault;
}

std::string token_at(std::string_view text, std::size_t offset) {
    if (offset >= text.size()) return "the end of the file";
    const std::string_view rest = text.substr(offset);
    constexpr std::string_view kPunctuation = ",:[]{}";
    if (kPunctuation.find(rest.front()) != std::string_view::npos) return std::string(1, rest.front());
    std::size_t length = std::min(rest.find_first_of(" \t\r\n,:[]{}\"", 1), rest.size());
    if (rest.front() == '"') length = std::min(rest.find_first_of("\"\n", 1), rest.size() - 1) + 1;
    std::size_t end = 0;
    for (std::size_t shown = 0; end < length && shown < kLongestToken; ++shown) end += decode_utf8(rest, end).length;
    return std::string(rest.substr(0, end)) + (end < length ? "..." : "");
}

std::size_t byte_order_mark_length(std::string_view text) {
    return text.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0 ? kByteOrderMark.size() : 0;
}

std::optional<Fault> check_text(std::string_view text, std::size_t begin, const Limits& limits) {
    if (auto fault = check_size(text, limits)) return fault;
    if (auto fault = check_encoding(text)) return fault;
    return check_kind(text, begin);
}

}  // namespace kvplan::json::detail
