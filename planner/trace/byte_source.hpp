// A trace file as a stream of bytes, decompressed on the way: plain, gzip, xz or zstd, told apart by their first bytes,
// not by the name. Concatenated compressed members are read one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>

#include "units/diagnostic.hpp"

namespace kvplan::trace {

class ByteSource {
public:
    virtual ~ByteSource() = default;

    /// Fills `buffer` as far as possible and returns how many bytes; 0 is the end or a fault (see `failure`).
    virtual std::size_t read(std::span<char> buffer) = 0;

    /// Why reading stopped before the end of the file; empty when it did not.
    const std::string& failure() const { return failure_; }
    /// Bytes taken from the file so far, before decompression.
    std::uint64_t consumed() const { return consumed_; }

protected:
    std::string failure_;
    std::uint64_t consumed_ = 0;
};

/// Bytes of the file on disk; 0 where that is unknown (a pipe).
std::uint64_t file_bytes(const std::string& path);

/// Opens `path` ("-" is the standard input). A file that cannot be opened, or is compressed in a way this build cannot
/// read, is a Diagnostic.
std::variant<std::unique_ptr<ByteSource>, Diagnostic> open_bytes(const std::string& path);

/// Lines of a source, without their line end (\n or \r\n). A view lives until the next call.
class LineReader {
public:
    /// A longer line is a fault of the source: no request of any known trace comes near it.
    static constexpr std::size_t kLongestLine = std::size_t{1} << 28;

    explicit LineReader(ByteSource& source);

    /// The next line in `line()`; false at the end.
    bool next();
    std::string_view line() const { return line_; }
    /// 1-based number of the line in `line()`.
    std::size_t number() const { return number_; }
    bool too_long() const { return too_long_; }
    /// Bytes of text given out so far.
    std::uint64_t text_bytes() const { return text_bytes_; }

private:
    bool refill();

    ByteSource* source_;
    std::string buffer_;
    std::size_t begin_ = 0, end_ = 0;
    std::string_view line_;
    std::size_t number_ = 0;
    std::uint64_t text_bytes_ = 0;
    bool at_end_ = false;
    bool too_long_ = false;
};

}  // namespace kvplan::trace
