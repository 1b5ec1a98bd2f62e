#include "planner/trace/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#ifdef KVPLAN_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef KVPLAN_HAVE_LZMA
#include <lzma.h>
#endif
#ifdef KVPLAN_HAVE_ZSTD
#include <zstd.h>
#endif

namespace kvplan::trace {

namespace {

constexpr std::size_t kChunk = std::size_t{1} << 18;

/// Never a null pointer, whatever the C library says of an error.
std::string error_text(int error) { return std::strerror(error); }

class FileSource final : public ByteSource {
public:
    FileSource(int descriptor, bool owned) : descriptor_(descriptor), owned_(owned) {}
    ~FileSource() override {
        if (owned_) ::close(descriptor_);
    }
    FileSource(const FileSource&) = delete;
    FileSource& operator=(const FileSource&) = delete;

    /// The first bytes, which stay to be read.
    std::string_view peek(std::size_t count) {
        while (head_.size() < count) {
            char bytes[16];
            const std::size_t got = fill({bytes, std::min(sizeof bytes, count - head_.size())});
            if (got == 0) break;
            head_.append(bytes, got);
        }
        return head_;
    }

    std::size_t read(std::span<char> buffer) override {
        if (given_ < head_.size()) {
            const std::size_t count = std::min(buffer.size(), head_.size() - given_);
            std::memcpy(buffer.data(), head_.data() + given_, count);
            given_ += count;
            return count;
        }
        return fill(buffer);
    }

private:
    std::size_t fill(std::span<char> buffer) {
        for (;;) {
            const ssize_t got = ::read(descriptor_, buffer.data(), buffer.size());
            if (got >= 0) {
                consumed_ += static_cast<std::size_t>(got);
                return static_cast<std::size_t>(got);
            }
            if (errno == EINTR) continue;
            failure_ = error_text(errno);
            return 0;
        }
    }

    int descriptor_;
    bool owned_;
    std::string head_;
    std::size_t given_ = 0;
};

/// What the three decoders share: a buffer of compressed bytes, refilled when it is empty.
class DecodedSource : public ByteSource {
public:
    explicit DecodedSource(std::unique_ptr<FileSource> file) : file_(std::move(file)), input_(kChunk) {}

protected:
    /// Whether there is input; false at the end of the file.
    bool refill() {
        if (next_ < filled_) return true;
        filled_ = file_->read(input_);
        next_ = 0;
        consumed_ = file_->consumed();
        if (filled_ == 0 && !file_->failure().empty()) failure_ = file_->failure();
        return filled_ > 0;
    }
    std::size_t fail(std::string why) {
        failure_ = std::move(why);
        return 0;
    }

    std::unique_ptr<FileSource> file_;
    std::vector<char> input_;
    std::size_t next_ = 0, filled_ = 0;
};

#ifdef KVPLAN_HAVE_ZLIB
class GzipSource final : public DecodedSource {
public:
    explicit GzipSource(std::unique_ptr<FileSource> file) : DecodedSource(std::move(file)) {
        ready_ = inflateInit2(&stream_, 15 + 16) == Z_OK;  // 16: a gzip header
    }
    ~GzipSource() override { inflateEnd(&stream_); }

    std::size_t read(std::span<char> buffer) override {
        if (!ready_) return fail("zlib could not be started");
        while (failure_.empty()) {
            if (!refill()) return in_member_ && failure_.empty() ? fail("the gzip data ends in the middle") : 0;
            stream_.next_in = reinterpret_cast<Bytef*>(input_.data() + next_);
            stream_.avail_in = static_cast<uInt>(filled_ - next_);
            stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
            stream_.avail_out = static_cast<uInt>(std::min(buffer.size(), kChunk));
            const uInt room = stream_.avail_out;
            const int status = inflate(&stream_, Z_NO_FLUSH);
            next_ = filled_ - stream_.avail_in;
            in_member_ = status != Z_STREAM_END;
            if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
                return fail("the gzip data is damaged");
            if (status == Z_STREAM_END) inflateReset(&stream_);
            if (room != stream_.avail_out) return room - stream_.avail_out;
        }
        return 0;
    }

private:
    z_stream stream_{};
    bool ready_ = false;
    bool in_member_ = false;
};
#endif

#ifdef KVPLAN_HAVE_LZMA
class XzSource final : public DecodedSource {
public:
    static constexpr std::uint64_t kMemoryLimit = std::uint64_t{1} << 30;

    explicit XzSource(std::unique_ptr<FileSource> file) : DecodedSource(std::move(file)) {
        ready_ = lzma_stream_decoder(&stream_, kMemoryLimit, LZMA_CONCATENATED) == LZMA_OK;
    }
    ~XzSource() override { lzma_end(&stream_); }

    std::size_t read(std::span<char> buffer) override {
        if (!ready_) return fail("liblzma could not be started");
        while (failure_.empty() && !ended_) {
            const bool more = refill();
            if (!failure_.empty()) return 0;
            stream_.next_in = reinterpret_cast<const std::uint8_t*>(input_.data() + next_);
            stream_.avail_in = filled_ - next_;
            stream_.next_out = reinterpret_cast<std::uint8_t*>(buffer.data());
            stream_.avail_out = buffer.size();
            const lzma_ret status = lzma_code(&stream_, more ? LZMA_RUN : LZMA_FINISH);
            next_ = filled_ - stream_.avail_in;
            ended_ = status == LZMA_STREAM_END;
            if (status == LZMA_BUF_ERROR) return fail("the xz data ends in the middle");
            if (status != LZMA_OK && !ended_) return fail("the xz data is damaged");
            if (stream_.avail_out != buffer.size()) return buffer.size() - stream_.avail_out;
        }
        return 0;
    }

private:
    lzma_stream stream_ = LZMA_STREAM_INIT;
    bool ready_ = false;
    bool ended_ = false;
};
#endif

#ifdef KVPLAN_HAVE_ZSTD
class ZstdSource final : public DecodedSource {
public:
    explicit ZstdSource(std::unique_ptr<FileSource> file) : DecodedSource(std::move(file)), stream_(ZSTD_createDStream()) {}
    ~ZstdSource() override { ZSTD_freeDStream(stream_); }
    ZstdSource(const ZstdSource&) = delete;
    ZstdSource& operator=(const ZstdSource&) = delete;

    std::size_t read(std::span<char> buffer) override {
        while (failure_.empty()) {
            const bool more = refill();
            if (!failure_.empty()) return 0;
            // A frame's last output may still be inside the decoder when the input is used up.
            if (!more && pending_ == 0) return 0;
            ZSTD_inBuffer in{input_.data(), filled_, next_};
            ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
            pending_ = ZSTD_decompressStream(stream_, &out, &in);
            next_ = in.pos;
            if (ZSTD_isError(pending_) != 0) return fail("the zstd data is damaged");
            if (out.pos > 0) return out.pos;
            if (!more) return pending_ == 0 ? 0 : fail("the zstd data ends in the middle");
        }
        return 0;
    }

private:
    ZSTD_DStream* stream_;
    std::size_t pending_ = 0;
};
#endif

Diagnostic file_fault(const std::string& path, std::string code, std::string message, std::string hint) {
    Diagnostic fault;
    fault.code = std::move(code);
    fault.file = path;
    fault.message = std::move(message);
    fault.hint = std::move(hint);
    return fault;
}

[[maybe_unused]] Diagnostic cannot_decode(const std::string& path, const std::string& kind, const std::string& package) {
    return file_fault(path, "trace.compression", "this build cannot read " + kind + " files",
                      "build with " + package + " installed, or decompress the file first");
}

}  // namespace

std::uint64_t file_bytes(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::variant<std::unique_ptr<ByteSource>, Diagnostic> open_bytes(const std::string& path) {
    const bool standard_input = path == "-";
    const int descriptor = standard_input ? 0 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return file_fault(path, "file.open", "the file cannot be read: " + error_text(errno), "");
    auto file = std::make_unique<FileSource>(descriptor, !standard_input);
    const std::string_view head = file->peek(6);
    if (!file->failure().empty())
        return file_fault(path, "file.read", "the file cannot be read: " + file->failure(), "");
    if (head.substr(0, 2) == "\x1f\x8b") {
#ifdef KVPLAN_HAVE_ZLIB
        return std::make_unique<GzipSource>(std::move(file));
#else
        return cannot_decode(path, "gzip", "zlib1g-dev");
#endif
    }
    if (head == std::string_view("\xfd"
                                 "7zXZ\0",
                                 6)) {
#ifdef KVPLAN_HAVE_LZMA
        return std::make_unique<XzSource>(std::move(file));
#else
        return cannot_decode(path, "xz", "liblzma-dev");
#endif
    }
    if (head.substr(0, 4) == "\x28\xb5\x2f\xfd") {
#ifdef KVPLAN_HAVE_ZSTD
        return std::make_unique<ZstdSource>(std::move(file));
#else
        return cannot_decode(path, "zstd", "libzstd-dev");
#endif
    }
    return file;
}

// A tail of zero bytes lets a scanner of eight bytes at a time look past the end of a line.
constexpr std::size_t kPadding = 64;

LineReader::LineReader(ByteSource& source) : source_(&source), buffer_(kChunk * 4 + kPadding, '\0') {}

bool LineReader::refill() {
    if (begin_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    if (end_ + kPadding + kChunk > buffer_.size()) {
        if (buffer_.size() > kLongestLine) {
            too_long_ = true;
            return false;
        }
        buffer_.resize(buffer_.size() * 2);
    }
    const std::size_t got = source_->read({buffer_.data() + end_, buffer_.size() - kPadding - end_});
    end_ += got;
    std::memset(buffer_.data() + end_, 0, kPadding);
    return got > 0;
}

bool LineReader::next() {
    std::size_t searched = 0;
    for (;;) {
        const char* start = buffer_.data() + begin_;
        const void* found = std::memchr(start + searched, '\n', end_ - begin_ - searched);
        if (found != nullptr || at_end_) {
            const std::size_t length = found != nullptr ? static_cast<std::size_t>(static_cast<const char*>(found) - start)
                                                        : end_ - begin_;
            if (found == nullptr && length == 0) return false;
            line_ = {start, length};
            begin_ += length + (found != nullptr ? 1 : 0);
            text_bytes_ += length + 1;
            if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
            ++number_;
            return true;
        }
        searched = end_ - begin_;
        if (!refill()) {
            if (too_long_) return false;
            at_end_ = true;
        }
    }
}

}  // namespace kvplan::trace
