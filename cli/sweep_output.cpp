#include "cli/sweep_output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <ostream>

namespace kvplan::cli {

StreamedOutput::StreamedOutput(Context& context) : context_(context) {
    if (context.output.empty() || context.output == "-") return;
    std::error_code ignored;
    const auto status = std::filesystem::status(context.output, ignored);
    const bool regular = !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
    if (regular) part_ = context.output + ".part";
    file_ = std::fopen((regular ? part_ : context.output).c_str(), "w");
    if (file_ == nullptr) fail();
}

StreamedOutput::~StreamedOutput() {
    if (file_ != nullptr) std::fclose(file_);
}

bool StreamedOutput::fail() {
    good_ = false;
    failure_ = context_.output + ": " + std::strerror(errno);
    return false;
}

bool StreamedOutput::write(const std::string& text) {
    if (!good_) return false;
    if (file_ != nullptr) return std::fwrite(text.data(), 1, text.size(), file_) == text.size() || fail();
    errno = 0;
    *context_.out << text << std::flush;
    good_ = context_.out->good();
    // A closed pipe (`| head`) is the reader's choice; a full disk is not.
    if (!good_ && errno != EPIPE) failure_ = "the output could not be written";
    return good_;
}

bool StreamedOutput::finish() {
    if (!good_ || file_ == nullptr) return good_;
    const bool flushed = std::fflush(file_) == 0 && (part_.empty() || fsync(fileno(file_)) == 0);
    const bool closed = std::fclose(file_) == 0;
    file_ = nullptr;
    if (!flushed || !closed) return fail();
    if (part_.empty()) return true;
    // A link keeps pointing where it points.
    std::error_code error;
    const std::filesystem::path target = std::filesystem::is_symlink(context_.output, error) ? std::filesystem::canonical(context_.output, error) : std::filesystem::path(context_.output);
    return std::rename(part_.c_str(), target.c_str()) == 0 || fail();
}

}  // namespace kvplan::cli
