#include "models/hardware/name_match.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "units/ascii.hpp"
#include "units/diagnostic.hpp"

namespace kvplan {
namespace {

constexpr std::array<std::string_view, 8> kMakers{"nvidia", "amd",    "intel",  "geforce",
                                                  "tesla",  "quadro", "radeon", "instinct"};
constexpr std::array<std::string_view, 16> kIdleWords{"edition", "gpu",   "card",  "generation", "hbm2",  "hbm2e",
                                                      "hbm3",    "hbm3e", "gddr6", "gddr6x",     "gddr7", "sxm",
                                                      "sxm4",    "sxm5",  "sxm6",  "ac"};

std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words;
    bool inside = false;
    for (const char c : name) {
        if (!is_alnum(c)) {
            inside = false;
            continue;
        }
        if (!inside) words.emplace_back();
        inside = true;
        words.back() += lower(c);
    }
    return words;
}

std::string joined(std::span<const std::string> words) {
    std::string text;
    for (const auto& word : words) text += word;
    return text;
}

template <class Range>
bool contains(const Range& range, std::string_view word) {
    return std::find(range.begin(), range.end(), word) != range.end();
}

bool is_exactly(const NameEntry& entry, std::string_view key) {
    if (squeezed(entry.name) == key) return true;
    return std::any_of(entry.aliases.begin(), entry.aliases.end(),
                       [&](const std::string& alias) { return squeezed(alias) == key; });
}

bool is_commonly(const NameEntry& entry, std::string_view key) {
    return std::any_of(entry.common_names.begin(), entry.common_names.end(),
                       [&](const std::string& name) { return squeezed(name) == key; });
}

bool any_name_begins_with(const NameEntry& entry, std::string_view key) {
    if (squeezed(entry.name).starts_with(key)) return true;
    return std::any_of(entry.aliases.begin(), entry.aliases.end(),
                       [&](const std::string& alias) { return squeezed(alias).starts_with(key); });
}

std::vector<std::size_t> entries_beginning_with(std::string_view key, std::span<const NameEntry> entries) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (any_name_begins_with(entries[i], key)) found.push_back(i);
    }
    return found;
}

std::vector<std::string> names_of(std::span<const std::size_t> indices, std::span<const NameEntry> entries,
                                  std::optional<std::size_t> except = std::nullopt) {
    std::vector<std::string> names;
    for (const std::size_t i : indices) {
        if (i != except) names.push_back(entries[i].name);
    }
    return names;
}

std::optional<NameMatch> match_key(std::string_view key, std::span<const NameEntry> entries) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (is_exactly(entries[i], key)) return NameMatch{MatchKind::exact, i, {}};
    }
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (!is_commonly(entries[i], key)) continue;
        return NameMatch{MatchKind::common_part, i, names_of(entries_beginning_with(key, entries), entries, i)};
    }
    return std::nullopt;
}

/// "H200 141GB HBM3e": the longest run of first words that is a name, when only idle words follow.
std::optional<NameMatch> match_with_idle_words(std::span<const std::string> words, std::span<const NameEntry> entries) {
    for (std::size_t count = words.size() - 1; count >= 1; --count) {
        auto match = match_key(joined(words.first(count)), entries);
        if (!match) continue;
        const auto rest = words.subspan(count);
        const auto& extra = entries[match->index].extra_words;
        const bool idle = std::all_of(rest.begin(), rest.end(), [&](const std::string& word) {
            return contains(kIdleWords, word) || contains(extra, word);
        });
        if (!idle) return std::nullopt;
        if (match->kind == MatchKind::exact) match->kind = MatchKind::partial;
        return match;
    }
    return std::nullopt;
}

NameMatch unknown_name(std::string_view asked, std::span<const NameEntry> entries) {
    std::vector<std::string> all;
    std::vector<std::size_t> owner;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        all.push_back(entries[i].name);
        all.insert(all.end(), entries[i].aliases.begin(), entries[i].aliases.end());
        all.insert(all.end(), entries[i].common_names.begin(), entries[i].common_names.end());
        owner.resize(all.size(), i);
    }
    NameMatch match;
    for (const auto& near : nearest_names(asked, all, 6)) {
        const auto at = static_cast<std::size_t>(std::find(all.begin(), all.end(), near) - all.begin());
        const std::string& name = entries[owner[at]].name;
        if (!contains(match.others, name) && match.others.size() < 3) match.others.push_back(name);
    }
    return match;
}

}  // namespace

std::string squeezed(std::string_view name) {
    std::string text;
    for (const char c : name) {
        if (is_alnum(c)) text += lower(c);
    }
    return text;
}

NameMatch match_name(std::string_view asked, std::span<const NameEntry> entries) {
    std::vector<std::string> words = words_of(asked);
    if (auto match = match_key(joined(words), entries)) return *match;
    while (words.size() > 1 && contains(kMakers, words.front())) words.erase(words.begin());
    const std::string key = joined(words);
    if (key.empty()) return unknown_name(asked, entries);
    if (auto match = match_key(key, entries)) return *match;
    if (auto match = match_with_idle_words(words, entries)) return *match;
    const auto fitting = entries_beginning_with(key, entries);
    if (fitting.size() == 1) return {MatchKind::partial, fitting.front(), {}};
    if (fitting.size() > 1) return {MatchKind::ambiguous, 0, names_of(fitting, entries)};
    return unknown_name(asked, entries);
}

}  // namespace kvplan
