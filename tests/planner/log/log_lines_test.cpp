#include <string>
#include <vector>

#include "planner/log/events.hpp"
#include "planner/log/lines.hpp"
#include "planner/log/text.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;
using namespace kvplan::logs;

namespace {

std::vector<Event> events_of(std::string_view line, bool complete = true) {
    std::vector<Event> events;
    read_line(line, complete, [&](const Event& event) { events.push_back(event); });
    return events;
}

}  // namespace

TEST_CASE("a stream is cut into the same lines whatever the pieces", "[log][lines]") {
    const std::string text = "first\nsecond\r\n\nlast without end";
    for (std::size_t size = 1; size <= text.size(); ++size) {
        LineSplitter splitter;
        std::vector<std::string> lines;
        std::vector<bool> whole;
        const auto take = [&](std::string_view line, bool complete) {
            lines.emplace_back(line);
            whole.push_back(complete);
        };
        for (std::size_t at = 0; at < text.size(); at += size) splitter.feed(std::string_view(text).substr(at, size), take);
        splitter.finish(take);
        CHECK(lines == std::vector<std::string>{"first", "second", "", "last without end"});
        CHECK(whole == std::vector<bool>{true, true, true, false});
    }
}

TEST_CASE("a line without an end keeps its beginning and no more memory", "[log][lines]") {
    LineSplitter splitter;
    std::size_t longest = 0;
    int count = 0;
    const auto take = [&](std::string_view line, bool) {
        longest = std::max(longest, line.size());
        ++count;
    };
    const std::string piece(300000, 'x');
    for (int i = 0; i < 20; ++i) splitter.feed(piece, take);
    splitter.feed("\nnext\n", take);
    CHECK(longest == kMostLineBytes);
    CHECK(count == 2);
}

TEST_CASE("ranks and times are read from every form of prefix", "[log][lines]") {
    struct Case {
        const char* prefix;
        RankTag rank;
        int day;
        std::int64_t seconds;
    };
    const std::int64_t t = 3 * 3600 + 22 * 60 + 11;
    for (const Case& c : {
             Case{"[2025-10-16 03:22:11] ", {-1, -1, -1, -1}, 20251016, t},
             Case{"[2025-10-16 03:22:11 TP0] ", {-1, -1, 0, -1}, 20251016, t},
             Case{"[2025-10-16 03:22:11 DP1 TP3 EP3] ", {1, -1, 3, 3}, 20251016, t},
             Case{"[2025-10-16 03:22:11 PP1 TP12] INFO model_runner.py:88: ", {-1, 1, 12, -1}, 20251016, t},
             Case{"(Worker_DP0_TP1_EP1 pid=99) INFO 10-16 03:22:11 [gpu_worker.py:298] ", {0, -1, 1, 1}, 1016, t},
             Case{"(VllmWorker rank=3 pid=7) INFO 10-16 03:22:11 [gpu_worker.py:298] ", {-1, -1, 3, -1}, 1016, t},
             Case{"(EngineCore_DP0 pid=42) INFO 10/16 03:22:11 [core.py:77] ", {0, -1, -1, -1}, 1016, t},
             Case{"2025-10-16T03:22:11.123Z stderr F ", {-1, -1, -1, -1}, 20251016, t},
             Case{"Oct 16 01:00:00 gpu7 python3[42]: [2025-10-16 03:22:11 TP2] ", {-1, -1, 2, -1}, 20251016, t},
             Case{"INFO 10-16 03:22:11 [loggers.py:1] Engine 001: ", {1, -1, -1, -1}, 1016, t},
         }) {
        INFO(c.prefix);
        const LinePrefix prefix = read_prefix(c.prefix);
        CHECK(prefix.rank == c.rank);
        CHECK(prefix.day == c.day);
        REQUIRE(prefix.seconds.has_value());
        CHECK(*prefix.seconds == c.seconds);
    }
    CHECK(read_prefix("model STP3 and HTTP2 are no ranks ").rank == RankTag{});
}

TEST_CASE("colours and Docker's JSON come off a line", "[log][lines]") {
    std::string buffer;
    CHECK(unwrapped("plain [not ansi] text", buffer) == "plain [not ansi] text");
    CHECK(unwrapped("\x1b[1;32mLoad\x1b[0m weight", buffer) == "Load weight");
    CHECK(unwrapped(R"({"log":"say \"hi\"\tnow\u00e9\n","stream":"stdout"})", buffer) == "say \"hi\"\tnow\xc3\xa9");
    CHECK(unwrapped("{\"log\":\"\\u001b[36mLoad\\u001b[0m\\n\"}", buffer) == "Load");
    CHECK(unwrapped("ends in an escape \x1b", buffer) == "ends in an escape ");
}

TEST_CASE("numbers are read with thousands, signs and exponents", "[log][text]") {
    CHECK(number_at_start("178,880 tokens")->value == 178880);
    CHECK(number_at_start("1,234,567")->value == 1234567);
    CHECK(number_at_start("-561981.")->value == -561981);
    CHECK(number_at_start("137.29 GB")->value == 137.29);
    CHECK(number_at_start("1.5e-05,")->value == 1.5e-05);
    CHECK(number_at_start("12, 3")->value == 12);
    CHECK(number_at_start("2048,100,")->value == 2048);   // more than three digits before: no thousands
    CHECK_FALSE(number_at_start("None").has_value());
}

TEST_CASE("a figure that may be cut off is not read", "[log][lines]") {
    // "#tokens: 464768, KV size: …" cut after 4647.
    const auto cut = events_of("[t TP0] KV Cache is allocated. #tokens: 4647", false);
    REQUIRE(cut.size() == 1);
    CHECK_FALSE(cut[0].get(Figure::tokens).has_value());
    const auto unit = events_of("[t TP0] Load weight begin. avail mem=78.8", true);
    REQUIRE(unit.size() == 1);
    CHECK_FALSE(unit[0].get(Figure::avail_gib).has_value());
    const std::string limits = "max_total_num_tokens=46611, chunked_prefill_size=2048, max_prefill_tokens=16384, max_running_requests=2049, context_len=131072";
    CHECK(events_of(limits, true)[0].get(Figure::context_len) == 131072.0);
    CHECK_FALSE(events_of(limits, false)[0].get(Figure::context_len).has_value());
}

TEST_CASE("two processes on one line are both read", "[log][lines]") {
    const auto events = events_of("[2025-10-16 03:22:11 TP0] Load weight begin. avail mem=78.81 GB[2025-10-16 03:22:11 TP1] Load weight begin. avail mem=70.02 GB");
    REQUIRE(events.size() == 2);
    CHECK(read_prefix(events[0].prefix).rank.tp == 0);
    CHECK(events[0].get(Figure::avail_gib) == 78.81);
    CHECK(read_prefix(events[1].prefix).rank.tp == 1);
    CHECK(events[1].get(Figure::avail_gib) == 70.02);
}

TEST_CASE("words of other lines are no events", "[log][lines]") {
    CHECK(events_of("INFO: 10.0.0.1:5 - \"POST /v1/completions HTTP/1.1\" 200 OK").empty());
    CHECK(events_of("overKilled and unAllocating 3 things").empty());
    CHECK(events_of("Allocating 3 buffers").empty());
    CHECK(events_of("the cudaHostRegister path is enabled").empty());
    CHECK(events_of("Bus errors").empty());
}
