// A request trace in memory: lengths, times and prompts as paths in a forest of distinct prefix blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/trace/prefix_forest.hpp"
#include "units/diagnostic.hpp"

namespace kvplan::trace {

struct Request {
    std::int64_t time_us = 0;      ///< arrival; 0 when the trace has no times
    std::uint32_t input = 0;       ///< prompt tokens
    std::uint32_t output = 0;      ///< generated tokens
    std::uint32_t identified = 0;  ///< prompt tokens that the block ids cover
    Block leaf = kNoBlock;         ///< last block of the prompt; kNoBlock when it has none
    std::uint32_t blocks = 0;      ///< blocks of the prompt that have ids
    std::uint32_t group = 0;       ///< 0..kSampleGroups - 1, by prefix tree; for the error of a sample
};

inline constexpr std::uint32_t kSampleGroups = 16;

/// A sample of whole prefix trees: requests are kept or left out by a hash of the block in which their tree differs from
/// others, so whoever shares more than the common front is kept or left out together.
struct SampleFacts {
    double share = 1.0;               ///< of the trees
    std::uint32_t common_blocks = 0;  ///< leading blocks that are too common to tell trees apart
    std::int64_t requests = 0;        ///< of the whole trace
    std::int64_t input_tokens = 0;
};

/// What was met while reading; counts of lines.
struct ReadingFacts {
    std::int64_t lines = 0;
    std::int64_t faulty_lines = 0;      ///< left out
    std::int64_t ties = 0;              ///< same time as the line before
    std::int64_t disordered = 0;        ///< earlier than the line before
    bool sorted = false;                ///< put in order of time
    std::int64_t short_of_ids = 0;      ///< prompts with fewer ids than blocks: the rest never hits
    std::uint64_t text_bytes = 0;       ///< after decompression
    std::vector<std::string> formats;   ///< one a file: "mooncake", "bailian", "csv", "engine_dump", "engine_log"
};

struct Trace {
    PrefixForest forest;
    std::vector<Request> requests;
    std::int64_t block_tokens = 0;      ///< 0: no block ids, lengths only
    std::int64_t source_block_tokens = 0;  ///< as in the file, before `page_tokens` joined blocks
    bool has_times = false;
    std::optional<std::int64_t> cached_tokens;  ///< sum, where an engine logged it
    ReadingFacts reading;
    std::optional<SampleFacts> sample;  ///< unset: every request is here

    bool has_blocks() const { return block_tokens > 0; }
    /// Tokens of the block at `index` (0-based) of a request: the last one may be partial.
    std::int64_t block_weight(const Request& request, std::uint32_t index) const {
        const std::int64_t left = std::int64_t{request.identified} - std::int64_t{index} * block_tokens;
        return left < block_tokens ? left : block_tokens;
    }
};

struct ReadOptions {
    bool strict = false;                       ///< the first line at fault is an error
    std::optional<std::int64_t> block_tokens;  ///< instead of the file's own or the one its lengths tell
    std::optional<std::int64_t> page_tokens;   ///< join blocks into pages of this many tokens
    std::optional<double> sample_share;        ///< keep about this share of the prefix trees, in (0, 1)
    bool keep_file_order = false;              ///< else requests that are out of order are sorted by time
    /// Called now and then with bytes read and bytes in all (0: unknown).
    std::function<void(std::uint64_t, std::uint64_t)> progress;
};

/// Reads files one after the other as one trace. Nothing when a file cannot be read, when `strict` and a line is at
/// fault, or when there is no request at all; the reasons, and a warning for each faulty line, go to `diagnostics`.
/// A tie keeps the order of the lines.
std::optional<Trace> read_trace(const std::vector<std::string>& files, const ReadOptions& options,
                                Diagnostics& diagnostics);

/// The number of tokens in a block that fits prompts of (tokens, number of ids) best: a power of two, or the one number
/// that fits them all; 512 among equals. 0 for none.
std::int64_t infer_block_tokens(const std::vector<std::pair<std::int64_t, std::int64_t>>& prompts);

}  // namespace kvplan::trace
