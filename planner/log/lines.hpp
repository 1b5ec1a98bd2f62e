#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kvplan::logs {

/// Longer lines keep their beginning; the rest is dropped, so that memory stays bounded whatever the input holds.
inline constexpr std::size_t kMostLineBytes = std::size_t{1} << 20;

/// Cuts a stream of bytes into lines. Feed it pieces of any size; each line is handed on as soon as it is complete.
class LineSplitter {
public:
    /// Calls `sink(line, complete)` for every line that ends in `piece`; a "\r" before the end is taken away. A view lives
    /// for the call only. `complete` is false for a line that was cut at kMostLineBytes.
    template <class Sink>
    void feed(std::string_view piece, Sink&& sink) {
        while (!piece.empty()) {
            const std::size_t end = piece.find('\n');
            if (end == std::string_view::npos) {
                keep(piece);
                return;
            }
            if (tail_.empty() && !cut_ && end <= kMostLineBytes) {
                sink(without_return(piece.substr(0, end)), true);
            } else {
                keep(piece.substr(0, end));
                sink(without_return(tail_), !cut_);
                tail_.clear();
                cut_ = false;
            }
            piece.remove_prefix(end + 1);
        }
    }

    /// The rest of a stream that does not end with a newline: a line that may have been cut anywhere.
    template <class Sink>
    void finish(Sink&& sink) {
        if (!tail_.empty()) sink(without_return(tail_), false);
        tail_.clear();
        cut_ = false;
    }

private:
    static std::string_view without_return(std::string_view line) {
        while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        return line;
    }
    void keep(std::string_view piece);

    std::string tail_;
    bool cut_ = false;
};

/// Takes the wrapping of container runtimes and terminals off a line: colour codes, and the JSON object that Docker's
/// json-file driver writes ({"log":"…\n","stream":"stderr",…}). Returns `line` itself when there is nothing to take off,
/// else a view of `buffer`.
[[nodiscard]] std::string_view unwrapped(std::string_view line, std::string& buffer);

/// Which process of a deployment wrote a line; -1: the line does not say.
struct RankTag {
    int dp = -1, pp = -1, tp = -1, ep = -1;
    friend auto operator<=>(const RankTag&, const RankTag&) = default;
};

/// What stands before a message. `day` as yyyymmdd, or only mmdd (vLLM prints no year); 0: none.
struct LinePrefix {
    RankTag rank;
    int day = 0;
    std::optional<std::int64_t> seconds;   // of the day
};

/// Reads times and rank tags of every form: "[2025-10-16 03:22:11 DP1 TP3]", "INFO 10-16 03:22:11 [core.py:77]",
/// "(Worker_DP0_TP1_EP1 pid=7)", "(VllmWorker rank=3 pid=9)", "2025-10-16T03:22:11.5Z stderr F ". What it does not know is
/// skipped, so journald's, docker's and kubectl's prefixes do no harm. The last time in the prefix wins.
[[nodiscard]] LinePrefix read_prefix(std::string_view prefix);

}  // namespace kvplan::logs
