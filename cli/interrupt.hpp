#pragma once

#include <memory>

namespace kvplan::cli {

/// While it lives, the first SIGINT (Ctrl-C) or SIGTERM is noted instead of ending the program; one that comes more
/// than a second or two later ends it. One at a time.
class Interrupt {
public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    /// The signal's number; 0: none came.
    [[nodiscard]] int signal() const;

private:
    struct Old;
    std::unique_ptr<Old> old_;
};

}  // namespace kvplan::cli
