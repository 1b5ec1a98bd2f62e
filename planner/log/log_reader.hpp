#pragma once

#include <string>
#include <string_view>

#include "planner/log/events.hpp"
#include "planner/log/lines.hpp"
#include "planner/log/record.hpp"

namespace kvplan::logs {

/// Reads a log of any size piece by piece, in bounded memory.
class LogReader {
public:
    void feed(std::string_view piece);
    /// To be called once, at the end.
    [[nodiscard]] LogRecord finish();

private:
    void take_line(std::string_view line, bool complete);
    void take(const Event& event);
    void take_configuration(const Event& event);
    bool take_sglang_start(const Event& event, RankRecord& rank);
    bool take_vllm_start(const Event& event, RankRecord& rank);
    void take_serving(const Event& event, int dp);
    void take_fault(const Event& event, const RankTag& tag);
    void take_python_error(std::string_view line);
    void note_time(const LinePrefix& prefix, LineKind kind);
    void note_wording(const LineRule& rule);
    void reach(Phase phase);
    StartRecord& current();
    void begin_start();
    RankRecord& rank_record(const RankTag& tag);

    LineSplitter splitter_;
    std::string buffer_;
    LogRecord log_;
    bool in_traceback_ = false;
};

/// The whole of a text that is at hand.
[[nodiscard]] LogRecord read_log(std::string_view text);

}  // namespace kvplan::logs
