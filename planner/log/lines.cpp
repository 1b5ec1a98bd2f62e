#include "planner/log/lines.hpp"

#include <algorithm>

#include "planner/log/text.hpp"

namespace kvplan::logs {

void LineSplitter::keep(std::string_view piece) {
    const std::size_t room = kMostLineBytes - std::min(kMostLineBytes, tail_.size());
    if (piece.size() > room) cut_ = true;
    tail_.append(piece.substr(0, room));
}

namespace {

constexpr std::string_view kDockerStart = "{\"log\":\"";

// ESC [ … letter (colours, cursor), ESC ] … BEL (titles), and lone ESC with one character.
std::string_view without_escapes(std::string_view line, std::string& buffer) {
    std::string plain;
    plain.reserve(line.size());
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] != '\x1b') {
            plain += line[i];
            continue;
        }
        if (i + 1 >= line.size()) break;
        const char kind = line[++i];
        if (kind == '[') {
            while (i + 1 < line.size() && !(line[i + 1] >= '@' && line[i + 1] <= '~')) ++i;
            ++i;
        } else if (kind == ']') {
            while (i + 1 < line.size() && line[i + 1] != '\a') ++i;
            ++i;
        }
    }
    buffer = std::move(plain);
    return buffer;
}

void append_code_point(std::string& text, unsigned code) {
    if (code < 0x80) text += static_cast<char>(code);
    else if (code < 0x800) {
        text += static_cast<char>(0xC0 | code >> 6);
        text += static_cast<char>(0x80 | (code & 0x3F));
    } else {
        text += static_cast<char>(0xE0 | code >> 12);
        text += static_cast<char>(0x80 | (code >> 6 & 0x3F));
        text += static_cast<char>(0x80 | (code & 0x3F));
    }
}

// The string of Docker's "log" member. A line that was cut inside it keeps what is there.
std::string_view without_docker(std::string_view line, std::string& buffer) {
    std::string text;
    for (std::size_t i = kDockerStart.size(); i < line.size() && line[i] != '"'; ++i) {
        if (line[i] != '\\' || i + 1 >= line.size()) {
            text += line[i];
            continue;
        }
        switch (line[++i]) {
            case 'n': case 'r': break;
            case 't': text += '\t'; break;
            case 'u': {
                unsigned code = 0;
                const std::string_view digits = line.substr(i + 1, 4);
                for (const char c : digits) code = code * 16 + static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
                append_code_point(text, code & 0xFFFF);
                i += digits.size();
                break;
            }
            default: text += line[i];
        }
    }
    buffer = std::move(text);
    return buffer;
}

}  // namespace

std::string_view unwrapped(std::string_view line, std::string& buffer) {
    if (line.size() > kDockerStart.size() && line[0] == '{' && line.substr(0, kDockerStart.size()) == kDockerStart) line = without_docker(line, buffer);
    if (line.find('\x1b') != std::string_view::npos) line = without_escapes(std::string(line), buffer);
    return line;
}

namespace {

int number_at(std::string_view text, std::size_t at, std::size_t digits) {
    int value = 0;
    for (std::size_t i = at; i < at + digits; ++i) {
        if (i >= text.size() || !is_digit(text[i])) return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

bool digit_at(std::string_view text, std::size_t at) { return at < text.size() && is_digit(text[at]); }
bool char_at(std::string_view text, std::size_t at, char c) { return at < text.size() && text[at] == c; }

// "HH:MM:SS" at `at`.
std::optional<std::int64_t> clock_at(std::string_view text, std::size_t at) {
    const int h = number_at(text, at, 2), m = number_at(text, at + 3, 2), s = number_at(text, at + 6, 2);
    if (h < 0 || m < 0 || s < 0 || !char_at(text, at + 2, ':') || !char_at(text, at + 5, ':') || digit_at(text, at + 8)) return std::nullopt;
    if (h > 23 || m > 59 || s > 60) return std::nullopt;
    return h * 3600 + m * 60 + s;
}

bool plausible(int month, int day) { return month >= 1 && month <= 12 && day >= 1 && day <= 31; }

// "YYYY-MM-DD", "MM-DD" or "MM/DD" that ends just before `clock` (one character between).
int day_before(std::string_view text, std::size_t clock) {
    if (clock >= 11) {
        const int y = number_at(text, clock - 11, 4), m = number_at(text, clock - 6, 2), d = number_at(text, clock - 3, 2);
        if (y >= 2000 && plausible(m, d) && text[clock - 7] == '-' && text[clock - 4] == '-') return y * 10000 + m * 100 + d;
    }
    if (clock >= 6) {
        const int m = number_at(text, clock - 6, 2), d = number_at(text, clock - 3, 2);
        if (plausible(m, d) && (text[clock - 4] == '-' || text[clock - 4] == '/')) return m * 100 + d;
    }
    return 0;
}

void read_rank(std::string_view text, std::size_t at, char first, RankTag& rank) {
    int value = 0;
    std::size_t i = at;
    for (; digit_at(text, i) && i < at + 6; ++i) value = value * 10 + (text[i] - '0');
    if (i == at || (i < text.size() && is_word(text[i]) && text[i] != '_')) return;
    (first == 'T' ? rank.tp : first == 'D' ? rank.dp : first == 'P' ? rank.pp : rank.ep) = value;
}

}  // namespace

LinePrefix read_prefix(std::string_view prefix) {
    LinePrefix result;
    if (prefix.size() > 512) prefix.remove_prefix(prefix.size() - 512);
    for (std::size_t i = 0; i + 1 < prefix.size(); ++i) {
        const char c = prefix[i];
        if (c == ':' && i >= 2) {
            // The middle of a time is found once, at its first colon.
            if (const auto seconds = clock_at(prefix, i - 2); seconds && (i < 3 || !digit_at(prefix, i - 3))) {
                result.seconds = seconds;
                if (const int day = day_before(prefix, i - 2)) result.day = day;
                i += 5;
            }
        } else if (prefix[i + 1] == 'P' && (c == 'T' || c == 'D' || c == 'P' || c == 'E') && (i == 0 || !is_word(prefix[i - 1]) || prefix[i - 1] == '_')) {
            read_rank(prefix, i + 2, c, result.rank);
        } else if (c == 'r' && prefix.substr(i, 5) == "rank=") {
            read_rank(prefix, i + 5, 'T', result.rank);
        } else if (c == 'E' && prefix.substr(i, 7) == "Engine " && result.rank.dp < 0) {
            // vLLM's statistics: "Engine 001: Avg prompt throughput …".
            read_rank(prefix, i + 7, 'D', result.rank);
        }
    }
    return result;
}

}  // namespace kvplan::logs
