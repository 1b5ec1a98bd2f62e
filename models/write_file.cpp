#include "models/write_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <cstdlib>
#include <filesystem>

namespace kvplan {

namespace {

std::string problem(const std::string& path, int error) { return path + ": " + std::strerror(error); }

// Returns errno of the first failure, 0 when all is written.
int write_all(int file, const std::string& text) {
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t n = write(file, text.data() + done, text.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return errno != 0 ? errno : EIO;
        done += static_cast<std::size_t>(n);
    }
    return 0;
}

std::string write_directly(const std::string& path, const std::string& text) {
    const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return problem(path, errno);
    const int error = write_all(file, text);
    close(file);
    return error == 0 ? std::string{} : problem(path, error);
}

std::string write_and_rename(const std::string& path, const std::string& text, mode_t mode) {
    std::string temporary = path + ".XXXXXX";
    const int file = mkstemp(temporary.data());
    if (file < 0) return problem(path, errno);
    int error = write_all(file, text);
    if (error == 0 && fchmod(file, mode) != 0) error = errno;
    if (error == 0 && fsync(file) != 0) error = errno;
    if (close(file) != 0 && error == 0) error = errno;
    if (error == 0) {
        std::error_code failure;
        std::filesystem::rename(temporary, path, failure);
        error = failure.value();
    }
    if (error == 0) return {};
    unlink(temporary.c_str());
    return problem(path, error);
}

}  // namespace

std::string write_file(const std::string& path, const std::string& text) {
    // A link keeps pointing where it points: its target is replaced, not the link.
    std::error_code ignored;
    const std::filesystem::path target = std::filesystem::exists(path, ignored) ? std::filesystem::canonical(path, ignored) : std::filesystem::path(path);
    if (ignored) return problem(path, ignored.value());
    struct stat status {};
    if (stat(target.c_str(), &status) != 0) {
        const mode_t mask = umask(0);
        umask(mask);
        return write_and_rename(target.string(), text, 0666 & ~mask);
    }
    if (S_ISDIR(status.st_mode)) return problem(path, EISDIR);
    if (!S_ISREG(status.st_mode)) return write_directly(target.string(), text);
    return write_and_rename(target.string(), text, status.st_mode & 07777);
}

}  // namespace kvplan
