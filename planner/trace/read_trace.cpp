#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "planner/trace/byte_source.hpp"
#include "planner/trace/request_scanner.hpp"
#include "planner/trace/trace.hpp"
#include "units/quantity.hpp"

namespace kvplan::trace {

namespace {

constexpr std::int64_t kMooncakeBlock = 512;
constexpr std::int64_t kBailianBlock = 16;
constexpr std::size_t kPromptsToInferFrom = 1000;
constexpr std::size_t kCommonShare = 50;  // an id in more than 1/50 of the prompts is too common to sample by

enum class Format { unknown, json, csv, log };

/// A request whose ids wait for the block size to be known.
struct Pending {
    Request request;
    std::vector<std::uint64_t> ids;
    std::size_t line = 0;
};

class TraceReader {
public:
    TraceReader(const ReadOptions& options, Diagnostics& diagnostics) : options_(options), diagnostics_(diagnostics) {}

    std::optional<Trace> read(const std::vector<std::string>& files) {
        for (const std::string& file : files) bytes_total_ += file_bytes(file);
        for (const std::string& file : files)
            if (!read_file(file)) return std::nullopt;
        if (trace_.requests.empty()) {
            report(0, "trace.empty", "no request was found", Severity::error);
            return std::nullopt;
        }
        if (trace_.reading.disordered > 0 && !options_.keep_file_order) {
            std::stable_sort(trace_.requests.begin(), trace_.requests.end(),
                             [](const Request& a, const Request& b) { return a.time_us < b.time_us; });
            trace_.reading.sorted = true;
        }
        return std::move(trace_);
    }

private:
    void report(std::size_t line, std::string code, std::string message, Severity severity) {
        Diagnostic fault;
        fault.severity = severity;
        fault.code = std::move(code);
        fault.file = file_;
        fault.line = line;
        fault.message = std::move(message);
        diagnostics_.add(std::move(fault));
    }

    /// Counts a line at fault; false when reading has to stop.
    bool line_fault(std::size_t line, std::string_view text, const LineFault& what) {
        ++trace_.reading.faulty_lines;
        Diagnostic fault;
        fault.severity = options_.strict ? Severity::error : Severity::warning;
        fault.code = "trace.line";
        fault.file = file_;
        fault.message = what.message;
        if (!options_.strict) fault.hint = "the line is left out; --strict stops here";
        fault = with_place(std::move(fault), text, what.offset);
        fault.line = line;
        diagnostics_.add(std::move(fault));
        return !options_.strict;
    }

    bool read_file(const std::string& file) {
        file_ = file;
        auto opened = open_bytes(file);
        if (std::holds_alternative<Diagnostic>(opened)) {
            diagnostics_.add(std::get<Diagnostic>(opened));
            return false;
        }
        ByteSource& source = *std::get<0>(opened);
        LineReader lines(source);
        format_ = Format::unknown;
        block_ = options_.block_tokens.value_or(0);
        bailian_ = false;
        while (lines.next()) {
            ++trace_.reading.lines;
            if (!line(lines.line(), lines.number())) return false;
            if (options_.progress && (lines.number() & 0x3ff) == 0)
                options_.progress(bytes_done_ + source.consumed(), bytes_total_);
        }
        if (!flush_pending()) return false;
        bytes_done_ += source.consumed();
        trace_.reading.text_bytes += lines.text_bytes();
        trace_.reading.formats.push_back(format_name());
        if (lines.too_long()) report(lines.number() + 1, "trace.line", "the line is too long", Severity::error);
        if (!source.failure().empty()) report(lines.number(), "file.read", source.failure(), Severity::error);
        return !lines.too_long() && source.failure().empty();
    }

    std::string format_name() const {
        switch (format_) {
            case Format::csv: return "csv";
            case Format::log: return "engine_log";
            case Format::json: return bailian_ ? "bailian" : trace_.has_blocks() ? "mooncake" : "engine_dump";
            case Format::unknown: break;
        }
        return "empty";
    }

    bool line(std::string_view text, std::size_t number) {
        if (text.find_first_not_of(" \t") == std::string_view::npos) return true;
        if (format_ == Format::unknown) {
            if (text.find_first_not_of(" \t") == text.find('{')) {
                format_ = Format::json;
            } else if (csv_.header(text)) {
                format_ = Format::csv;
                return true;
            } else {
                format_ = Format::log;  // which may begin with anything
            }
        }
        switch (format_) {
            case Format::json: {
                const auto fault = json_.scan(text);
                return fault ? line_fault(number, text, *fault) : request(json_.request(), text, number);
            }
            case Format::csv: {
                const auto fault = csv_.scan(text);
                return fault ? line_fault(number, text, *fault) : request(csv_.request(), text, number);
            }
            default: {
                if (!LogScanner::concerns(text)) return true;
                const auto fault = log_.scan(text);
                return fault ? line_fault(number, text, *fault) : request(log_.request(), text, number);
            }
        }
    }

    /// Leading blocks that tell no trees apart: as long as one id is in more than a fiftieth of the prompts that wait.
    std::uint32_t common_blocks() const {
        for (std::size_t depth = 0;; ++depth) {
            std::unordered_map<std::uint64_t, std::size_t> uses;
            std::size_t most = 0;
            for (const Pending& one : pending_)
                if (one.ids.size() > depth) most = std::max(most, ++uses[one.ids[depth]]);
            if (most * kCommonShare <= pending_.size() || most <= 1) return static_cast<std::uint32_t>(depth);
        }
    }

    /// Whether the request belongs to the sample; gives it its group.
    bool sampled(Request& made, const std::vector<std::uint64_t>& ids) {
        if (!trace_.sample || ids.empty()) return true;
        ++trace_.sample->requests;
        trace_.sample->input_tokens += made.input;
        std::uint64_t x = ids[std::min<std::size_t>(trace_.sample->common_blocks, ids.size() - 1)] + 0x9e3779b97f4a7c15U;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
        x ^= x >> 31;
        made.group = static_cast<std::uint32_t>(x % kSampleGroups);
        return static_cast<double>(x >> 11) * 0x1p-53 < trace_.sample->share;
    }

    bool request(const RawRequest& raw, std::string_view text, std::size_t number) {
        if (!raw.input_tokens) return line_fault(number, text, {0, "the line names no input_length or prompt_tokens"});
        Request made;
        made.input = static_cast<std::uint32_t>(std::min(*raw.input_tokens, kLongestLength));
        made.output = static_cast<std::uint32_t>(raw.output_tokens.value_or(0));
        const bool has_time = raw.time_us || raw.time;
        if (raw.bailian) bailian_ = true;
        if (raw.time_us) made.time_us = *raw.time_us;
        // Mooncake counts milliseconds; Bailian and tables count seconds.
        else if (raw.time) made.time_us = std::llround(*raw.time * (format_ == Format::json && !raw.bailian ? 1e3 : 1e6));
        if (raw.cached_tokens) trace_.cached_tokens = trace_.cached_tokens.value_or(0) + *raw.cached_tokens;
        if (has_time) note_time(made.time_us);
        if (!raw.has_ids) {
            trace_.requests.push_back(made);
            return true;
        }
        if (raw.block_tokens && !options_.block_tokens) {
            if (*raw.block_tokens == 0) return line_fault(number, text, {0, "block_size is 0"});
            if (block_ == 0 && !flush_pending(*raw.block_tokens)) return false;
            if (*raw.block_tokens != block_)
                return line_fault(number, text, {0, "block_size differs from the lines before"});
        }
        if (block_ == 0 && raw.bailian && !flush_pending(kBailianBlock)) return false;
        if (block_ != 0 && !(options_.sample_share && !trace_.sample)) return place(made, raw.ids, number, text);
        pending_.push_back({made, raw.ids, number});
        return pending_.size() < kPromptsToInferFrom || flush_pending();
    }

    void note_time(std::int64_t time_us) {
        if (trace_.has_times) {
            trace_.reading.ties += time_us == last_time_ ? 1 : 0;
            trace_.reading.disordered += time_us < last_time_ ? 1 : 0;
        }
        trace_.has_times = true;
        last_time_ = time_us;
    }

    /// Fixes the file's block size, by `known` or from the prompts that wait, and places those.
    bool flush_pending(std::int64_t known = 0) {
        if (known != 0) block_ = known;
        if (block_ == 0 && !pending_.empty()) {
            std::vector<std::pair<std::int64_t, std::int64_t>> prompts;
            for (const Pending& one : pending_)
                prompts.emplace_back(one.request.input, static_cast<std::int64_t>(one.ids.size()));
            block_ = infer_block_tokens(prompts);
            if (block_ == 0) block_ = kMooncakeBlock;
        }
        if (options_.sample_share && !trace_.sample && !pending_.empty()) trace_.sample = SampleFacts{*options_.sample_share, common_blocks(), 0, 0};
        const std::vector<Pending> waiting = std::move(pending_);
        pending_.clear();
        for (const Pending& one : waiting)
            if (!place(one.request, one.ids, one.line, {})) return false;
        return true;
    }

    /// Fixes the block size of the trace at the first request with ids.
    bool settle_block_size(std::size_t number) {
        if (trace_.source_block_tokens == block_) return true;
        if (trace_.source_block_tokens != 0) {
            report(number, "trace.block_size",
                   "blocks of " + std::to_string(block_) + " tokens here, of " +
                       std::to_string(trace_.source_block_tokens) + " in the files before",
                   Severity::error);
            return false;
        }
        trace_.source_block_tokens = trace_.block_tokens = block_;
        if (!options_.page_tokens || *options_.page_tokens == block_) return true;
        if (*options_.page_tokens % block_ == 0) {
            join_ = static_cast<std::size_t>(*options_.page_tokens / block_);
            trace_.block_tokens = *options_.page_tokens;
        } else if (block_ % *options_.page_tokens == 0) {
            report(0, "trace.page_size",
                   "ids of " + std::to_string(block_) + "-token blocks cannot tell smaller pages apart; blocks are kept",
                   Severity::warning);
        } else {
            report(0, "trace.page_size", "the page size is no multiple of the trace's blocks of " + std::to_string(block_),
                   Severity::error);
            return false;
        }
        return true;
    }

    bool place(Request made, const std::vector<std::uint64_t>& ids, std::size_t number, std::string_view text) {
        if (!settle_block_size(number)) return false;
        const auto most = static_cast<std::size_t>(ceil_div(made.input, block_));
        if (ids.size() > most)
            return line_fault(number, text, {0, std::to_string(ids.size()) + " block ids for " + std::to_string(made.input) +
                                                    " tokens, at most " + std::to_string(most) + " blocks of " +
                                                    std::to_string(block_)});
        if (!sampled(made, ids)) return true;
        if (ids.size() < most) ++trace_.reading.short_of_ids;
        std::span<const std::uint64_t> pages = ids;
        if (join_ > 1) {
            // Ids are chained, so a page is told by its last block.
            joined_.clear();
            for (std::size_t first = 0; first < ids.size(); first += join_)
                joined_.push_back(ids[std::min(first + join_, ids.size()) - 1]);
            pages = joined_;
        }
        made.identified = static_cast<std::uint32_t>(std::min<std::int64_t>(made.input, static_cast<std::int64_t>(ids.size()) * block_));
        made.leaf = trace_.forest.add(pages);
        made.blocks = static_cast<std::uint32_t>(pages.size());
        trace_.requests.push_back(made);
        return true;
    }

    const ReadOptions& options_;
    Diagnostics& diagnostics_;
    Trace trace_;
    std::string file_;
    Format format_ = Format::unknown;
    bool bailian_ = false;
    std::int64_t block_ = 0;  // of this file; 0: not yet known
    std::size_t join_ = 1;
    std::int64_t last_time_ = 0;
    std::uint64_t bytes_done_ = 0, bytes_total_ = 0;
    std::vector<Pending> pending_;
    std::vector<std::uint64_t> joined_;
    JsonLineScanner json_;
    CsvScanner csv_;
    LogScanner log_;
};

}  // namespace

std::int64_t infer_block_tokens(const std::vector<std::pair<std::int64_t, std::int64_t>>& prompts) {
    // ceil(tokens / block) = ids holds for block from ceil(tokens / ids) to (tokens - 1) / (ids - 1).
    std::int64_t low = 1, high = std::int64_t{1} << 20;
    for (const auto& [tokens, ids] : prompts) {
        if (ids < 1 || tokens < 1) continue;
        low = std::max(low, ceil_div(tokens, ids));
        if (ids > 1) high = std::min(high, (tokens - 1) / (ids - 1));
    }
    std::vector<std::int64_t> candidates{512};
    for (std::int64_t block = 1; block <= 16384; block *= 2) candidates.push_back(block);
    if (low <= high) candidates.push_back(low);
    std::int64_t best = 0, best_votes = 0;
    for (const bool whole_blocks_only : {false, true}) {
        for (const std::int64_t block : candidates) {
            std::int64_t votes = 0;
            for (const auto& [tokens, ids] : prompts)
                votes += ids == (whole_blocks_only ? tokens / block : ceil_div(tokens, block)) ? 1 : 0;
            if (votes > best_votes) {
                best = block;
                best_votes = votes;
            }
        }
        // Some traces give ids to whole blocks only; asked second, because short prompts fit both.
        if (best_votes * 10 >= static_cast<std::int64_t>(prompts.size()) * 9) break;
    }
    return best;
}

std::optional<Trace> read_trace(const std::vector<std::string>& files, const ReadOptions& options,
                                Diagnostics& diagnostics) {
    return TraceReader(options, diagnostics).read(files);
}

}  // namespace kvplan::trace
