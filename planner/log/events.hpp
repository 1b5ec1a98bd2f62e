#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "planner/log/line_rules.hpp"
#include "planner/log/lines.hpp"

namespace kvplan::logs {

/// A line that said something. All views live as long as the line.
struct Event {
    const LineRule* rule = nullptr;
    std::string_view text;                 // from the phrase on, up to the next event of the same line
    std::string_view prefix;               // what stands before the phrase, from the line's beginning or the last event
    bool complete = true;                  // the line was not cut
    struct Found {
        Figure figure = Figure::none;
        double value = 0.0;
    };
    std::array<Found, 11> found{};
    std::size_t count = 0;

    [[nodiscard]] std::optional<double> get(Figure figure) const {
        for (std::size_t i = 0; i < count; ++i)
            if (found[i].figure == figure) return found[i].value;
        return std::nullopt;
    }
};

/// The known wordings in one unwrapped line, in order: processes that write to one terminal run into each other, so a line
/// can hold several. A phrase counts where a word begins, so any prefix may stand before it. Calls `sink(const Event&)`.
template <class Sink>
void read_line(std::string_view line, bool complete, Sink&& sink);

namespace detail {
struct Match {
    const LineRule* rule = nullptr;
    std::size_t at = 0;
};
/// The first phrase at or after `from`; none: rule is null.
[[nodiscard]] Match next_match(std::string_view line, std::size_t from);
[[nodiscard]] Event make_event(const LineRule& rule, std::string_view text, std::string_view prefix, bool complete);
}  // namespace detail

template <class Sink>
void read_line(std::string_view line, bool complete, Sink&& sink) {
    std::size_t begin = 0;
    detail::Match match = detail::next_match(line, 0);
    while (match.rule != nullptr) {
        const std::size_t after = match.at + match.rule->phrase.size();
        const detail::Match next = match.rule->whole_line ? detail::Match{} : detail::next_match(line, after);
        const std::size_t end = next.rule != nullptr ? next.at : line.size();
        // What follows the message up to the next phrase is that one's prefix too; a cut line only hurts its last event.
        sink(detail::make_event(*match.rule, line.substr(match.at, end - match.at), line.substr(begin, match.at - begin), complete || next.rule != nullptr));
        begin = after;
        match = next;
    }
}

}  // namespace kvplan::logs
