// One line of a request trace -> one request. Own scanner, because a trace is hundreds of megabytes of small integers:
// it looks at each byte once, keeps no tree and allocates only for the block ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvplan::trace {

/// What a line says; unset where it does not.
struct RawRequest {
    std::optional<double> time;          ///< in the unit of the format, see `LineFormat`
    std::optional<std::int64_t> time_us; ///< from a date
    std::optional<std::int64_t> input_tokens, output_tokens, cached_tokens, block_tokens;
    bool has_ids = false;
    bool bailian = false;                ///< carries chat ids: times in seconds, blocks of 16 tokens
    std::vector<std::uint64_t> ids;      ///< one a block; a text id is hashed to 64 bits

    void clear();
};

struct LineFault {
    std::size_t offset = 0;  ///< in the line
    std::string message;     ///< "expected a whole number"
};

/// Longest prompt or output that is believed, in tokens.
inline constexpr std::int64_t kLongestLength = std::int64_t{1} << 31;

/// JSON Lines: Mooncake (`timestamp` in ms, `input_length`, `output_length`, `hash_ids`, `block_size`), Qwen Bailian
/// (the same names, `timestamp` in s, `chat_id`), and engines' request dumps (`prompt_tokens`, `completion_tokens`,
/// `cached_tokens`, also inside `meta_info` or `usage`). Unknown members are skipped.
class JsonLineScanner {
public:
    /// Reads `line` into `request()`; nothing when it was well formed.
    std::optional<LineFault> scan(std::string_view line);
    const RawRequest& request() const { return request_; }

private:
    bool object(int depth);
    bool member(std::string_view key, int depth);
    bool ids();
    bool id_text();
    bool whole_number(std::optional<std::int64_t> RawRequest::*field);
    bool time();
    bool skip_value();
    bool skip_string();
    std::optional<std::string_view> text();
    void skip_space();
    bool fail(const char* message);

    const char* start_ = nullptr;
    const char* at_ = nullptr;
    const char* end_ = nullptr;
    std::string fault_;
    RawRequest request_;
};

/// Comma-separated values with a header: Azure LLM inference (`TIMESTAMP, ContextTokens, GeneratedTokens`), BurstGPT
/// (`Timestamp, …, Request tokens, Response tokens, …`), Vidur (`num_prefill_tokens, num_decode_tokens`).
class CsvScanner {
public:
    /// Takes the header; false when it names no lengths that are known.
    bool header(std::string_view line);
    std::optional<LineFault> scan(std::string_view line);
    const RawRequest& request() const { return request_; }

private:
    static constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);
    std::size_t time_column_ = kAbsent, input_column_ = kAbsent, output_column_ = kAbsent;
    RawRequest request_;
};

/// Lines of an SGLang server log (`--log-requests`): only "Finish:" lines hold a request, with Python's
/// `'prompt_tokens': 50` and the time in brackets.
class LogScanner {
public:
    /// Whether the line holds a finished request; others are not faults.
    static bool concerns(std::string_view line);
    std::optional<LineFault> scan(std::string_view line);
    const RawRequest& request() const { return request_; }

private:
    RawRequest request_;
};

/// Microseconds since 1970 of `2023-11-16 18:17:03.9799600`, also with `T`, `Z` or an offset; nothing if it is no date.
std::optional<std::int64_t> parse_date_us(std::string_view text);

}  // namespace kvplan::trace
