#include "cli/sweep_output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "models/write_file.hpp"
#include "models/json/document.hpp"

namespace kvplan::cli {

namespace {

struct State {
    std::string fingerprint;
    SweepMark mark;
    std::int64_t bytes = 0;
};

std::optional<State> read_state(const std::string& path) {
    Diagnostics ignored;
    auto text = json::read_file(path, ignored);
    const auto document = text ? json::parse(std::move(*text), path, ignored) : std::nullopt;
    if (!document) return std::nullopt;
    const json::Value root = document->root();
    const auto fingerprint = root["fingerprint"].string();
    const auto next = root["next_point"].integer(), rows = root["rows"].integer(), bytes = root["bytes"].integer();
    if (!fingerprint || !next || !rows || !bytes) return std::nullopt;
    return State{std::string(*fingerprint), {*next, *rows}, *bytes};
}

}  // namespace

StreamedOutput::StreamedOutput(Context& context, std::string fingerprint, bool resume) : context_(context), fingerprint_(std::move(fingerprint)) {
    if (context.output.empty() || context.output == "-") return;
    std::error_code ignored;
    const auto status = std::filesystem::status(context.output, ignored);
    const bool regular = !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
    if (regular) part_ = context.output + ".part";
    if (regular && resume && std::filesystem::exists(part_, ignored)) {
        this->resume();
        return;
    }
    file_ = std::fopen((regular ? part_ : context.output).c_str(), "w");
    if (file_ == nullptr) fail();
}

// What stands behind the last mark may be torn, or was not counted: it is cut off.
void StreamedOutput::resume() {
    const auto refuse = [&](const std::string& why) {
        good_ = false;
        failure_ = part_ + ": " + why;
    };
    const auto state = read_state(state_file());
    if (!state) return refuse("cannot be resumed: " + state_file() + " is missing or damaged");
    if (state->fingerprint != fingerprint_) return refuse("is of another sweep (" + state->fingerprint + ", this is " + fingerprint_ + "): flags, files or kvplan have changed. Without --resume it is begun anew");
    std::error_code error;
    const auto size = std::filesystem::file_size(part_, error);
    if (error || size < static_cast<std::uintmax_t>(state->bytes)) return refuse("is shorter than it was noted to be");
    std::filesystem::resize_file(part_, static_cast<std::uintmax_t>(state->bytes), error);
    file_ = error ? nullptr : std::fopen(part_.c_str(), "a");
    if (file_ == nullptr) return refuse("cannot be written");
    resumed_ = state->mark;
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

bool StreamedOutput::note(SweepMark mark) {
    if (!good_ || part_.empty()) return good_;
    if (std::fflush(file_) != 0) return fail();
    const nlohmann::ordered_json state{{"fingerprint", fingerprint_}, {"next_point", mark.next_point}, {"rows", mark.rows}, {"bytes", static_cast<std::int64_t>(std::ftell(file_))}};
    failure_ = write_file(state_file(), state.dump() + "\n");
    good_ = failure_.empty();
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
    if (std::rename(part_.c_str(), target.c_str()) != 0) return fail();
    std::filesystem::remove(state_file(), error);
    return true;
}

}  // namespace kvplan::cli
