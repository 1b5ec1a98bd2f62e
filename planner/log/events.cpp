#include "planner/log/events.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "planner/log/text.hpp"

namespace kvplan::logs::detail {

namespace {

// Phrases begin within this many characters; a prompt that an access log quotes may hold anything further on.
constexpr std::size_t kSearched = 4096;

/// Rules by their phrase's first two letters, in the tables' order.
struct Index {
    std::array<std::uint8_t, 65536> list_of{};                // 0: no phrase begins so
    std::vector<std::vector<const LineRule*>> lists{1};

    static std::size_t pair(const char* at) { return static_cast<unsigned char>(at[0]) * std::size_t{256} + static_cast<unsigned char>(at[1]); }

    Index() {
        for (const auto& table : {sglang_rules(), vllm_rules(), failure_rules()})
            for (const LineRule& rule : table) {
                std::uint8_t& list = list_of[pair(rule.phrase.data())];
                if (list == 0) {
                    list = static_cast<std::uint8_t>(lists.size());
                    lists.emplace_back();
                }
                lists[list].push_back(&rule);
            }
    }
};

const Index& index() {
    static const Index made;
    return made;
}

// A line that is all of one word ("Killed", a shell's "12345 Killed  python3 …") or the phrase as such: inside words and
// identifiers ("OOMKilledFlag") it does not count.
bool ends_as_word(std::string_view line, std::size_t end, std::string_view phrase) {
    return !is_word(phrase.back()) || end >= line.size() || !is_word(line[end]);
}

}  // namespace

Match next_match(std::string_view line, std::size_t from) {
    const Index& rules = index();
    const std::size_t limit = std::min(line.size(), kSearched);
    for (std::size_t i = from; i + 1 < limit; ++i) {
        const std::uint8_t list = rules.list_of[Index::pair(line.data() + i)];
        if (list == 0 || (i > 0 && is_word(line[i - 1]))) continue;
        for (const LineRule* rule : rules.lists[list]) {
            const std::size_t size = rule->phrase.size();
            if (line.size() - i < size || std::memcmp(line.data() + i, rule->phrase.data(), size) != 0) continue;
            if (!rule->needs.empty() && line.substr(i + size).find(rule->needs) == std::string_view::npos) continue;
            if (rule->kind == LineKind::failure && !ends_as_word(line, i + size, rule->phrase)) continue;
            return {rule, i};
        }
    }
    return {};
}

Event make_event(const LineRule& rule, std::string_view text, std::string_view prefix, bool complete) {
    Event event{&rule, text, prefix, complete, {}, 0};
    for (const FieldRule& field : rule.fields) {
        if (field.figure == Figure::none) break;
        if (const auto value = number_after(text, field.key, field.suffix, complete)) event.found[event.count++] = {field.figure, *value};
    }
    return event;
}

}  // namespace kvplan::logs::detail
