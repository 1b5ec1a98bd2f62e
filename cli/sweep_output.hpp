#pragma once

#include <cstdio>
#include <string>

#include "cli/context.hpp"

namespace kvplan::cli {

/// Where a long result goes while it is made: FILE.part until `finish` gives it its name; what is no regular file, and
/// stdout, directly.
class StreamedOutput {
public:
    explicit StreamedOutput(Context& context);
    ~StreamedOutput();
    StreamedOutput(const StreamedOutput&) = delete;
    StreamedOutput& operator=(const StreamedOutput&) = delete;

    /// False when it cannot be opened or written; `failure` says why (empty when a reader has gone away).
    [[nodiscard]] bool good() const { return good_; }
    [[nodiscard]] const std::string& failure() const { return failure_; }
    bool write(const std::string& text);
    bool finish();
    [[nodiscard]] const std::string& part() const { return part_; }   // empty: there is no part

private:
    bool fail();
    Context& context_;
    std::FILE* file_ = nullptr;
    std::string part_, failure_;
    bool good_ = true;
};

}  // namespace kvplan::cli
