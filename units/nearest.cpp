// nearest_names and did_you_mean of units/diagnostic.hpp.
#include <algorithm>
#include <optional>
#include <utility>

#include "units/ascii.hpp"
#include "units/diagnostic.hpp"

namespace kvplan {
namespace {

// Nobody types a name of that length by hand; the bound keeps the quadratic distance cheap.
constexpr std::size_t kLongestName = 96;

bool is_letter_or_digit(char c) {
    return is_alnum(c) || static_cast<unsigned char>(c) >= 0x80;
}

std::string normalised(std::string_view name) {
    std::string out;
    for (char c : name) {
        if (is_letter_or_digit(c)) out += lower(c);
    }
    return out;
}

std::vector<std::string> words(std::string_view name) {
    std::vector<std::string> out;
    bool inside = false;
    for (char c : name) {
        if (!is_letter_or_digit(c)) {
            inside = false;
            continue;
        }
        if (!inside) out.emplace_back();
        out.back() += lower(c);
        inside = true;
    }
    std::sort(out.begin(), out.end());
    return out;
}

// Edits to get from a to b: insertion, deletion, substitution, and exchange of neighbours (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> previous(b.size() + 1);
    std::vector<std::size_t> current(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        current[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substituted = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            current[j] = std::min({previous[j] + 1, current[j - 1] + 1, substituted});
            const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (exchanged) current[j] = std::min(current[j], before[j - 2] + 1);
        }
        std::swap(before, previous);
        std::swap(previous, current);
    }
    return previous[b.size()];
}

struct Wanted {
    std::string plain;
    std::vector<std::string> words;
    std::size_t most_edits;
};

bool is_part_of(std::string_view part, std::string_view whole, std::size_t shortest) {
    return part.size() >= shortest && whole.find(part) != std::string_view::npos;
}

bool words_within(const std::vector<std::string>& few, const std::vector<std::string>& many) {
    return few.size() >= 2 && std::includes(many.begin(), many.end(), few.begin(), few.end());
}

// Lower is nearer; nothing = not near at all. First come typing faults, then what was shortened or lengthened.
std::optional<std::size_t> rank_of(const Wanted& wanted, std::string_view name) {
    if (name.size() > kLongestName) return std::nullopt;
    const std::string plain = normalised(name);
    if (plain.empty()) return std::nullopt;
    const std::size_t gap =
        plain.size() > wanted.plain.size() ? plain.size() - wanted.plain.size() : wanted.plain.size() - plain.size();
    if (gap <= wanted.most_edits) {
        const std::size_t edits = edit_distance(wanted.plain, plain);
        if (edits <= wanted.most_edits) return edits;
    }
    const std::size_t after_edits = wanted.most_edits + 1;
    if (wanted.plain.size() >= 3 && plain.compare(0, wanted.plain.size(), wanted.plain) == 0) return after_edits;
    if (is_part_of(wanted.plain, plain, 3) || is_part_of(plain, wanted.plain, 4)) return after_edits + 1;
    const std::vector<std::string> its_words = words(name);
    if (words_within(wanted.words, its_words) || words_within(its_words, wanted.words)) return after_edits + 2;
    return std::nullopt;
}

template <class Name>
std::vector<std::string> nearest(std::string_view wrong, std::span<const Name> names, std::size_t max) {
    if (wrong.size() > kLongestName) return {};
    Wanted wanted{normalised(wrong), words(wrong), 0};
    if (wanted.plain.empty()) return {};
    wanted.most_edits = std::max<std::size_t>(1, wanted.plain.size() / 3);

    std::vector<std::pair<std::size_t, std::string_view>> ranked;
    for (const Name& name : names) {
        const std::string_view view(name);
        if (const auto rank = rank_of(wanted, view)) ranked.emplace_back(*rank, view);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> out;
    for (const auto& entry : ranked) {
        if (out.size() == max) break;
        if (std::find(out.begin(), out.end(), entry.second) == out.end()) out.emplace_back(entry.second);
    }
    return out;
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view wrong, std::span<const std::string_view> names,
                                       std::size_t max) {
    return nearest(wrong, names, max);
}

std::vector<std::string> nearest_names(std::string_view wrong, std::span<const std::string> names, std::size_t max) {
    return nearest(wrong, names, max);
}

std::string did_you_mean(std::span<const std::string> names) {
    if (names.empty()) return {};
    std::string out = "did you mean ";
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) out += i + 1 == names.size() ? " or " : ", ";
        out += names[i];
    }
    return out += '?';
}

}  // namespace kvplan
