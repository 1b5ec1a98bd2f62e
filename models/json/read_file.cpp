// read_file and parse_file of models/json/document.hpp. POSIX calls: a size cap that holds while reading, and FIFOs.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>

#include "models/json/document.hpp"

namespace kvplan::json {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;

class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return number_; }

private:
    int number_;
};

Diagnostic fault(const std::string& path, std::string code, std::string message) {
    Diagnostic out;
    out.code = std::move(code);
    out.file = path;
    out.message = std::move(message);
    return out;
}

Diagnostic system_fault(const std::string& path, int error) {
    const std::string why = std::generic_category().message(error);
    if (error == ENOENT || error == ENOTDIR) {
        Diagnostic out = fault(path, "file.missing", "there is no such file");
        out.expected = "a JSON file";
        return out;
    }
    return fault(path, "file.unreadable", "cannot be read: " + why);
}

std::optional<Diagnostic> refuse_kind(const std::string& path, mode_t mode) {
    if (S_ISREG(mode) || S_ISFIFO(mode)) return std::nullopt;
    Diagnostic out = fault(path, "file.kind", "is neither a regular file nor a pipe");
    if (S_ISDIR(mode)) {
        out = fault(path, "file.directory", "is a directory");
        out.hint = "name the file in it, such as config.json";
    }
    out.found = S_ISDIR(mode) ? "a directory" : S_ISSOCK(mode) ? "a socket" : "a device";
    out.expected = "a JSON file";
    return out;
}

Diagnostic too_large(const std::string& path, std::string found, const Limits& limits) {
    Diagnostic out = fault(path, "json.too-large", "is too large");
    out.found = std::move(found);
    out.expected = "at most " + std::to_string(limits.max_bytes) + " bytes";
    return out;
}

}  // namespace

std::optional<std::string> read_file(const std::string& path, Diagnostics& diagnostics, const Limits& limits) {
    const std::size_t most = std::min(limits.max_bytes, std::numeric_limits<std::size_t>::max() / 2);
    const auto refuse = [&](Diagnostic diagnostic) {
        diagnostics.add(std::move(diagnostic));
        return std::nullopt;
    };
    if (path.find('\0') != std::string::npos) return refuse(system_fault(path, ENOENT));
    // Looked at before opening, since opening a device can have effects.
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return refuse(system_fault(path, errno));
    if (auto wrong = refuse_kind(path, status.st_mode)) return refuse(std::move(*wrong));
    if (S_ISREG(status.st_mode) && static_cast<std::uintmax_t>(status.st_size) > most) {
        return refuse(too_large(path, std::to_string(status.st_size) + " bytes", limits));
    }
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.number() < 0) return refuse(system_fault(path, errno));

    std::string text;
    if (S_ISREG(status.st_mode)) text.reserve(static_cast<std::size_t>(status.st_size) + 1);
    for (;;) {
        // One byte more than allowed tells a file that is too large from one that just fits.
        const std::size_t filled = text.size();
        const std::size_t room =
            std::min({kChunk, most + 1 - filled, std::max(text.capacity() - filled, std::size_t{4096})});
        text.resize(filled + room);
        const ssize_t got = ::read(file.number(), text.data() + filled, room);
        text.resize(filled + (got > 0 ? static_cast<std::size_t>(got) : 0));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return refuse(system_fault(path, errno));
        if (got == 0) return text;
        if (text.size() > most) {
            return refuse(too_large(path, "more than " + std::to_string(limits.max_bytes) + " bytes", limits));
        }
    }
}

std::optional<Document> parse_file(const std::string& path, Diagnostics& diagnostics, const Limits& limits) {
    std::optional<std::string> text = read_file(path, diagnostics, limits);
    if (!text) return std::nullopt;
    return parse(std::move(*text), path, diagnostics, limits);
}

}  // namespace kvplan::json
