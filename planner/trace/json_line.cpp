#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "planner/trace/request_scanner.hpp"
#include "units/ascii.hpp"

namespace kvplan::trace {

namespace {

constexpr int kDeepest = 64;


std::uint64_t hash_text(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a, 64 bits
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return hash;
}

struct Digits {
    std::uint64_t value = 0;
    std::size_t count = 0;
    bool overflow = false;
};

Digits digits_slowly(const char* at, const char* end, Digits digits) {
    for (; at != end && is_digit(*at); ++at, ++digits.count) {
        const auto digit = static_cast<std::uint64_t>(*at - '0');
        digits.overflow |= __builtin_mul_overflow(digits.value, std::uint64_t{10}, &digits.value);
        digits.overflow |= __builtin_add_overflow(digits.value, digit, &digits.value);
    }
    return digits;
}

/// Up to eight digits at once: the bytes that are digits are found by a carry into their top bits, moved to the high end
/// of the word, and summed by three multiplications.
Digits read_digits(const char* at, const char* end) {
    if constexpr (std::endian::native == std::endian::little) {
        if (end - at >= 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, at, 8);
            word ^= 0x3030303030303030U;
            const std::uint64_t others = ((word + 0x7676767676767676U) | word) & 0x8080808080808080U;
            const std::size_t count = others == 0 ? 8 : static_cast<std::size_t>(std::countr_zero(others)) / 8;
            if (count == 0) return {};
            word <<= (8 - count) * 8;
            word = word * 10 + (word >> 8);
            word = ((word & 0x000000ff000000ffU) * 0x000f424000000064U +
                    ((word >> 16) & 0x000000ff000000ffU) * 0x0000271000000001U) >> 32;
            const Digits digits{word & 0xffffffffU, count, false};
            return count < 8 ? digits : digits_slowly(at + 8, end, digits);
        }
    }
    return digits_slowly(at, end, {});
}

}  // namespace

void RawRequest::clear() {
    time.reset();
    time_us.reset();
    input_tokens.reset();
    output_tokens.reset();
    cached_tokens.reset();
    block_tokens.reset();
    has_ids = false;
    bailian = false;
    ids.clear();
}

std::optional<LineFault> JsonLineScanner::scan(std::string_view line) {
    request_.clear();
    start_ = at_ = line.data();
    end_ = at_ + line.size();
    fault_.clear();
    skip_space();
    bool good = object(0);
    if (good) {
        skip_space();
        if (at_ != end_) good = fail("expected the end of the line after the object");
    }
    if (good) return std::nullopt;
    return LineFault{static_cast<std::size_t>(at_ - start_), fault_};
}

bool JsonLineScanner::fail(const char* message) {
    if (fault_.empty()) fault_ = message;
    return false;
}

void JsonLineScanner::skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r')) ++at_;
}

bool JsonLineScanner::object(int depth) {
    if (at_ == end_ || *at_ != '{') return fail("expected an object, {…}");
    ++at_;
    skip_space();
    if (at_ != end_ && *at_ == '}') return ++at_, true;
    for (;;) {
        skip_space();
        const auto key = text();
        if (!key) return fail("expected a name in quotes");
        skip_space();
        if (at_ == end_ || *at_ != ':') return fail("expected : after a name");
        ++at_;
        skip_space();
        if (!member(*key, depth)) return false;
        skip_space();
        if (at_ == end_) return fail("the line ends inside an object");
        const char c = *at_++;
        if (c == '}') return true;
        if (c != ',') return --at_, fail("expected , or } after a value");
    }
}

bool JsonLineScanner::member(std::string_view key, int depth) {
    switch (key.size()) {
        case 4:
            if (key == "turn") request_.bailian = true;
            break;
        case 5:
            if (key == "usage" && at_ != end_ && *at_ == '{' && depth < 2) return object(depth + 1);
            break;
        case 7:
            if (key == "chat_id") request_.bailian = true;
            break;
        case 8:
            if (key == "hash_ids") return ids();
            break;
        case 9:
            if (key == "timestamp") return time();
            if (key == "meta_info" && at_ != end_ && *at_ == '{' && depth < 2) return object(depth + 1);
            break;
        case 10:
            if (key == "block_size") return whole_number(&RawRequest::block_tokens);
            break;
        case 12:
            if (key == "input_length") return whole_number(&RawRequest::input_tokens);
            break;
        case 13:
            if (key == "output_length") return whole_number(&RawRequest::output_tokens);
            if (key == "prompt_tokens") return whole_number(&RawRequest::input_tokens);
            if (key == "cached_tokens") return whole_number(&RawRequest::cached_tokens);
            break;
        case 17:
            if (key == "completion_tokens") return whole_number(&RawRequest::output_tokens);
            break;
        default: break;
    }
    return skip_value();
}

bool JsonLineScanner::ids() {
    if (end_ - at_ >= 4 && std::memcmp(at_, "null", 4) == 0) return at_ += 4, true;
    if (at_ == end_ || *at_ != '[') return fail("expected a list of block ids, […]");
    ++at_;
    request_.has_ids = true;
    request_.ids.clear();
    skip_space();
    if (at_ != end_ && *at_ == ']') return ++at_, true;
    for (;;) {
        while (at_ != end_ && *at_ == ' ') ++at_;
        const Digits digits = read_digits(at_, end_);
        if (digits.count > 0) {
            if (digits.overflow) return fail("a block id is larger than 64 bits");
            at_ += digits.count;
            request_.ids.push_back(digits.value);
        } else if (!id_text()) {
            return false;
        }
        if (at_ != end_ && *at_ == ',') {
            ++at_;
            continue;
        }
        skip_space();
        if (at_ == end_) return fail("the line ends inside the list of block ids");
        if (*at_ == ']') return ++at_, true;
        if (*at_ != ',') return fail("expected , or ] after a block id");
        ++at_;
    }
}

/// Ids that are not plain digits: negative numbers, or text such as a hexadecimal digest.
bool JsonLineScanner::id_text() {
    skip_space();
    if (at_ != end_ && *at_ == '-') {
        const Digits digits = read_digits(at_ + 1, end_);
        if (digits.count == 0 || digits.overflow) return fail("expected a block id");
        at_ += 1 + digits.count;
        request_.ids.push_back(0 - digits.value);
        return true;
    }
    const auto id = text();
    if (!id) return fail("expected a block id: a whole number or a text");
    request_.ids.push_back(hash_text(*id));
    return true;
}

bool JsonLineScanner::whole_number(std::optional<std::int64_t> RawRequest::*field) {
    if (end_ - at_ >= 4 && std::memcmp(at_, "null", 4) == 0) return at_ += 4, true;
    const Digits digits = read_digits(at_, end_);
    if (digits.count == 0) return fail("expected a whole number that is not negative");
    if (digits.overflow || digits.value > static_cast<std::uint64_t>(kLongestLength)) return fail("the number is too large");
    const char* after = at_ + digits.count;
    if (after != end_ && *after == '.') {  // 12.0 is whole, 12.5 is not
        ++after;
        while (after != end_ && *after == '0') ++after;
    }
    if (after != end_ && (is_digit(*after) || *after == 'e' || *after == 'E')) return fail("expected a whole number");
    at_ = after;
    request_.*field = static_cast<std::int64_t>(digits.value);
    return true;
}

bool JsonLineScanner::time() {
    if (at_ != end_ && *at_ == '"') {
        const char* before = at_;
        const auto date = text();
        if (date) request_.time_us = parse_date_us(*date);
        if (request_.time_us) return true;
        at_ = before;
        return fail("expected a number or a date as timestamp");
    }
    if (end_ - at_ >= 4 && std::memcmp(at_, "null", 4) == 0) return at_ += 4, true;
    double value = 0.0;
    const auto [next, error] = std::from_chars(at_, end_, value);
    if (error != std::errc{} || !std::isfinite(value) || std::abs(value) > 4e15)
        return fail("expected a number as timestamp");
    at_ = next;
    request_.time = value;
    return true;
}

/// A text without its quotes, escapes left as they are; nothing, without moving, when there is none.
std::optional<std::string_view> JsonLineScanner::text() {
    if (at_ == end_ || *at_ != '"') return std::nullopt;
    const char* before = at_;
    if (!skip_string()) {
        at_ = before;
        return std::nullopt;
    }
    return std::string_view(before + 1, static_cast<std::size_t>(at_ - before - 2));
}

bool JsonLineScanner::skip_string() {
    for (++at_; at_ != end_; ++at_) {
        const void* quote = std::memchr(at_, '"', static_cast<std::size_t>(end_ - at_));
        if (quote == nullptr) break;
        const char* found = static_cast<const char*>(quote);
        const char* slash = found;
        while (slash != at_ && slash[-1] == '\\') --slash;
        at_ = found;
        if ((found - slash) % 2 == 0) return ++at_, true;
    }
    at_ = end_;
    return fail("the line ends inside a text");
}

/// Any value, checked only for its brackets and quotes.
bool JsonLineScanner::skip_value() {
    char open[kDeepest];
    int depth = 0;
    const char* before = at_;
    for (; at_ != end_; ++at_) {
        const char c = *at_;
        if (c == '"') {
            if (!skip_string()) return false;
            --at_;
        } else if (c == '{' || c == '[') {
            if (depth == kDeepest) return fail("nested too deeply");
            open[depth++] = c == '{' ? '}' : ']';
        } else if (c == '}' || c == ']') {
            if (depth == 0) break;
            if (open[--depth] != c) return fail("a bracket closes another kind of bracket");
        } else if (c == ',' && depth == 0) {
            break;
        }
    }
    if (depth != 0) return fail("the line ends inside a value");
    return std::any_of(before, at_, [](char c) { return c != ' '; }) || fail("expected a value");
}

}  // namespace kvplan::trace
