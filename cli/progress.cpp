#include "cli/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "units/format.hpp"

namespace kvplan::cli {

namespace {

bool on_terminal(const Context& context) { return !context.quiet && context.err == &std::cerr && isatty(STDERR_FILENO) == 1; }

}  // namespace

std::string progress_text(std::int64_t done, std::int64_t total, double per_second) {
    std::string text = percent(static_cast<double>(done) / static_cast<double>(total)) + "  " + with_commas(done) + " of " + with_commas(total) + " points";
    if (per_second <= 0.0) return text;
    return text + ", " + shortest(per_second, per_second < 10.0 ? 2 : 0) + "/s, " + duration(static_cast<double>(total - done) / per_second) + " left";
}

std::function<void(std::int64_t, std::int64_t)> percent_line(const Context& context, const char* what) {
    if (!on_terminal(context)) return {};
    return [what, shown = std::int64_t{-1}](std::int64_t done, std::int64_t total) mutable {
        const std::int64_t percent = total > 0 ? std::min<std::int64_t>(100, done * 100 / total) : 0;
        if (percent == shown) return;
        shown = percent;
        std::cerr << "\r" << what << ": " << percent << " %" << (percent >= 100 ? "\n" : "") << std::flush;
    };
}

Progress::Progress(const Context& context, std::int64_t begun, std::int64_t total)
    : shown_(on_terminal(context) && total > 0), begun_(begun), total_(total) {}

Progress::~Progress() {
    if (written_) std::cerr << "\r\x1b[K" << std::flush;
}

void Progress::update(std::int64_t done) {
    if (!shown_) return;
    const auto now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(250)) return;
    last_ = now;
    const std::chrono::duration<double> spent = now - start_;
    std::cerr << "\r" << progress_text(done, total_, static_cast<double>(done - begun_) / spent.count()) << "\x1b[K" << std::flush;
    written_ = true;
}

}  // namespace kvplan::cli
