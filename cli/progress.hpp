#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "cli/context.hpp"

namespace kvplan::cli {

/// "12.3 %  1,230,000 of 10,000,000 points, 98,000/s, 1 min 30 s left".
[[nodiscard]] std::string progress_text(std::int64_t done, std::int64_t total, double per_second);

/// "what: 42 %" on stderr at each new per cent of done out of total; empty when stderr is no terminal or --quiet is given.
[[nodiscard]] std::function<void(std::int64_t, std::int64_t)> percent_line(const Context& context, const char* what);

/// One line on stderr that is kept up to date a few times a second; nothing when stderr is no terminal or --quiet is given.
class Progress {
public:
    /// `begun`: done by an earlier run, so not part of the rate.
    Progress(const Context& context, std::int64_t begun, std::int64_t total);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void update(std::int64_t done);

private:
    using Clock = std::chrono::steady_clock;
    const bool shown_;
    const std::int64_t begun_, total_;
    const Clock::time_point start_ = Clock::now();
    Clock::time_point last_ = start_;
    bool written_ = false;
};

}  // namespace kvplan::cli
