#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "cli/context.hpp"

namespace kvplan::cli {

/// How far the rows of a part go.
struct SweepMark {
    std::int64_t next_point = 0;
    std::int64_t rows = 0;
};

/// Where the rows of a sweep go while they are made: FILE.part until `finish` gives it its name; what is no regular file,
/// and stdout, directly. FILE.part.state says which sweep the part is of (its fingerprint) and how many of its bytes are
/// whole, so that a part outlives a process that is killed.
class StreamedOutput {
public:
    /// With `resume` a part of the same sweep is gone on with: `mark` is where.
    StreamedOutput(Context& context, std::string fingerprint, bool resume);
    ~StreamedOutput();
    StreamedOutput(const StreamedOutput&) = delete;
    StreamedOutput& operator=(const StreamedOutput&) = delete;

    /// False when it cannot be opened, written or resumed; `failure` says why (empty when a reader has gone away).
    [[nodiscard]] bool good() const { return good_; }
    [[nodiscard]] const std::string& failure() const { return failure_; }
    /// Where a resumed part ends; all rows before it are in the part. Unset: it is begun.
    [[nodiscard]] const std::optional<SweepMark>& resumed() const { return resumed_; }
    bool write(const std::string& text);
    /// Notes that all rows before `mark` are written.
    bool note(SweepMark mark);
    bool finish();
    [[nodiscard]] const std::string& part() const { return part_; }   // empty: there is no part

private:
    bool fail();
    void resume();
    [[nodiscard]] std::string state_file() const { return part_ + ".state"; }
    Context& context_;
    std::FILE* file_ = nullptr;
    std::string fingerprint_, part_, failure_;
    std::optional<SweepMark> resumed_;
    bool good_ = true;
};

}  // namespace kvplan::cli
