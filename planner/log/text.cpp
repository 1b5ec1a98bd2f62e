#include "planner/log/text.hpp"

#include <charconv>
#include <cstring>
#include <system_error>

namespace kvplan::logs {

namespace {

std::size_t digits_at(std::string_view text, std::size_t at) {
    std::size_t n = 0;
    while (at + n < text.size() && is_digit(text[at + n])) ++n;
    return n;
}

}  // namespace

std::optional<FoundNumber> number_at_start(std::string_view text) {
    char buffer[48];
    std::size_t used = 0, i = 0;
    const auto put = [&](std::string_view part) {
        for (const char c : part)
            if (used < sizeof buffer) buffer[used++] = c;
    };
    if (!text.empty() && text[0] == '-') put(text.substr(i++, 1));
    const std::size_t whole = digits_at(text, i);
    if (whole == 0) return std::nullopt;
    put(text.substr(i, whole));
    i += whole;
    while (whole <= 3 && i < text.size() && text[i] == ',' && digits_at(text, i + 1) == 3) {
        put(text.substr(i + 1, 3));
        i += 4;
    }
    if (i < text.size() && text[i] == '.' && digits_at(text, i + 1) > 0) {
        const std::size_t part = 1 + digits_at(text, i + 1);
        put(text.substr(i, part));
        i += part;
    }
    if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
        const std::size_t sign = i + 1 < text.size() && (text[i + 1] == '-' || text[i + 1] == '+') ? 1 : 0;
        if (const std::size_t part = digits_at(text, i + 1 + sign); part > 0) {
            put(text.substr(i, 1 + sign + part));
            i += 1 + sign + part;
        }
    }
    if (used >= sizeof buffer) return std::nullopt;
    FoundNumber found;
    found.length = i;
    // from_chars takes no "+" in the exponent's place only; our copy has none elsewhere.
    if (std::from_chars(buffer, buffer + used, found.value).ec != std::errc{}) return std::nullopt;
    return found;
}

std::optional<double> number_after(std::string_view text, std::string_view key, std::string_view suffix, bool complete) {
    // memmem skips ahead; std::string_view::find stops at every first letter, which took half of the reader's time.
    const void* const at = memmem(text.data(), text.size(), key.data(), key.size());
    if (at == nullptr) return std::nullopt;
    const std::string_view rest = text.substr(static_cast<std::size_t>(static_cast<const char*>(at) - text.data()) + key.size());
    const auto found = number_at_start(rest);
    if (!found) return std::nullopt;
    const std::string_view after = rest.substr(found->length);
    if (!suffix.empty()) return after.substr(0, suffix.size()) == suffix ? std::optional(found->value) : std::nullopt;
    if (after.empty() && !complete) return std::nullopt;
    return found->value;
}

std::string_view text_after(std::string_view text, std::string_view key, std::string_view ends) {
    const std::size_t at = text.find(key);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = text.substr(at + key.size());
    return rest.substr(0, rest.find_first_of(ends));
}

}  // namespace kvplan::logs
