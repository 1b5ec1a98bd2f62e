// Finding a thing by what people call it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvplan {

/// Lower-case letters and digits only: "RTX PRO 6000" -> "rtxpro6000".
[[nodiscard]] std::string squeezed(std::string_view name);

/// What one thing is called. `extra_words` may follow a name without changing what is meant ("80gb" for an 80 GB card).
struct NameEntry {
    std::string name;
    std::vector<std::string> aliases;
    std::vector<std::string> common_names;
    std::vector<std::string> extra_words;
};

enum class MatchKind {
    exact,        ///< the name or an alias
    common_part,  ///< a short name that several share, and this is what is usually meant
    partial,      ///< only one name begins with the text, or the text is a name with idle words after it
    ambiguous,    ///< several fit
    unknown
};

struct NameMatch {
    MatchKind kind = MatchKind::unknown;
    std::size_t index = 0;            ///< of the entry; only for exact, common_part, partial
    std::vector<std::string> others;  ///< common_part: variants not taken; ambiguous: what fits; unknown: nearest names

    [[nodiscard]] bool found() const { return kind <= MatchKind::partial; }
};

/// Case and punctuation do not matter; a maker's name in front is passed over.
[[nodiscard]] NameMatch match_name(std::string_view asked, std::span<const NameEntry> entries);

}  // namespace kvplan
